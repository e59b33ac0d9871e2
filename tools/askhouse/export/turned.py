"""What an export needs of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from state_contracts import Answer, Chart, Message, Summary


class Turned(Protocol):
    """One question and all that it brought."""

    @property
    def answer(self) -> Answer:
        """The answer."""

    @property
    def summary(self) -> Summary | None:
        """The summary, or None where there was nothing to sum up or it failed."""

    @property
    def chart(self) -> Chart | None:
        """The chart, or None where there was nothing to draw or it failed."""

    @property
    def message(self) -> Message:
        """The message that the person read."""

    @property
    def session_id(self) -> str:
        """The conversation, to be continued."""

    @property
    def timings_ms(self) -> Mapping[str, float]:
        """Milliseconds since the start, by step."""
