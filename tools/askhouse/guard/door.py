"""What the chat page's server lets in: nothing that rewrites the agents, and no request without bounds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1_000_000
"""Bytes of a request. Artifacts may be larger: they are files."""

_READING = ("GET", "HEAD", "OPTIONS")
_WORKSHOP = re.compile(r"/dev/.*")
_BUILDING = re.compile(r"/dev/apps/[^/]*/(builder|deploy)(/.*)?")
_ARTIFACTS = re.compile(r"/apps/[^/]*/users/[^/]*/sessions/[^/]*/artifacts(/.*)?")


class Door:
    """An ASGI application in front of ADK's. Its developer routes write into the folder of agents, run their tests and
    deploy them; whoever may chat may not do that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _is_shut(scope["method"], scope["path"]):
            await JSONResponse({"detail": "Not Found"}, 404)(scope, receive, send)
        elif _ARTIFACTS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        elif (body := await _body(scope, receive)) is None:
            detail = f"A request may have {MAX_BODY:,} bytes."
            await JSONResponse({"detail": detail}, 413, {"Connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, _again(body, receive), send)


def _is_shut(method: str, path: str) -> bool:
    return bool(_BUILDING.fullmatch(path) or (method not in _READING and _WORKSHOP.fullmatch(path)))


async def _body(scope: Scope, receive: Receive) -> list[Message] | None:
    """The messages of a request's body, or None when it is too large; no more is read then."""
    told = dict(scope["headers"]).get(b"content-length", b"0")
    if not told.isdigit() or int(told) > MAX_BODY:
        return None
    messages, size = [], 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > MAX_BODY:
            return None
        if not message.get("more_body"):
            return messages


def _again(messages: list[Message], receive: Receive) -> Receive:
    """Give the messages that were read, then what comes after."""
    left = iter(messages)

    async def next_message() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return next_message
