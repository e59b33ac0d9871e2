"""What a session remembers of its questions: small, durable, and enough for a stateless service to follow up."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from .answer import Column, Job
from .keys import json_size

MAX_BYTES = 2_304
"""Of the JSON that every turn stores anew: with it a turn costs the session store less than 10 KB, however long the
conversation."""


class Turn(BaseModel):
    """One question and what came of it."""

    model_config = ConfigDict(extra="forbid")

    question: str
    sql: str = ""
    text: str = ""


class Conversation(BaseModel):
    """The turns that stateless modes resend, oldest first."""

    model_config = ConfigDict(extra="forbid")

    turns: list[Turn] = Field(default_factory=list)

    def with_turn(self, turn: Turn, *, max_bytes: int = MAX_BYTES) -> Conversation:
        """This conversation and one turn more, within `max_bytes` of JSON.

        Questions are kept longest, since a later one may lean on the first: the words of the oldest answers go first,
        then their SQL, then whole turns from the oldest on. SQL is left out whole; half of it would mislead.
        """
        turns = [*self.turns, turn]
        for lost in ("text", "sql"):
            for at in range(len(turns) - 1):
                if _size(turns) > max_bytes:
                    turns[at] = turns[at].model_copy(update={lost: ""})
        while len(turns) > 1 and _size(turns) > max_bytes:
            turns.pop(0)
        shorter: tuple[list[Turn], ...] = (turns, [_without(turn, "text")], [_without(turn, "text", "sql")], [])
        return Conversation(turns=next(kept for kept in shorter if _size(kept) <= max_bytes))


class ServiceConversation(BaseModel):
    """The conversation that a service remembers for a session."""

    model_config = ConfigDict(extra="forbid")

    conversation: str
    """Its resource name."""
    agent: str
    """Resource name of the data agent that it belongs to."""
    rewinds: int = 0
    """How often the session had been rewound when it was last continued: the service cannot follow a rewind."""


class LastResult(BaseModel):
    """Where the last answer's rows can be read again."""

    model_config = ConfigDict(extra="forbid")

    sql: str
    job: Job | None = None
    columns: list[Column] = Field(default_factory=list)
    row_count: int = 0


class Offered(BaseModel):
    """The numbered questions that were last shown; "2" asks the second."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str] = Field(default_factory=list)

    def chosen_by(self, words: str) -> str | None:
        """The question that `words` chose by its number, or None."""
        number = words.strip().rstrip(".)").strip()
        if number.isascii() and number.isdigit() and 1 <= int(number) <= len(self.questions):
            return self.questions[int(number) - 1]
        return None


class Message(BaseModel):
    """The one message that the person reads, in Markdown."""

    model_config = ConfigDict(extra="forbid")

    text: str


def _size(turns: list[Turn]) -> int:
    return json_size(Conversation(turns=turns).model_dump(mode="json"))


def _without(turn: Turn, *fields: str) -> Turn:
    return turn.model_copy(update=dict.fromkeys(fields, ""))
