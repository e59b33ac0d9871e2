"""Earlier turns as the service wants them resent: the questions, the queries and the final words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from state_contracts import Turn

MAX_BYTES = 16_000


def to_messages(turns: Sequence[Turn], *, max_bytes: int = MAX_BYTES) -> list[dict[str, Any]]:
    """The messages of the turns, oldest first, in the API's JSON form; whole turns are dropped from the start until
    they fit. Errors, thoughts and rows are not among them: the service refuses the first and needs none of the rest.
    """
    kept: list[list[dict[str, Any]]] = []
    size = 0
    for turn in reversed(turns):
        messages = _messages(turn)
        size += len(json.dumps(messages, ensure_ascii=False).encode())
        if size > max_bytes:
            break
        kept.append(messages)
    return [message for messages in reversed(kept) for message in messages]


def _messages(turn: Turn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"userMessage": {"text": turn.question}}]
    if turn.sql:
        messages.append({"systemMessage": {"data": {"generatedSql": turn.sql}}})
    if turn.text:
        messages.append({"systemMessage": {"text": {"parts": [turn.text], "textType": "FINAL_RESPONSE"}}})
    return messages
