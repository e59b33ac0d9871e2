"""What the summarizer leaves: a few sentences, each number traced to rows."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ClaimKind = Literal["value", "count", "total", "share", "extreme", "change", "trend", "range"]


class Claim(BaseModel):
    """A statement of the summary and where its number comes from."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    text: str
    kind: ClaimKind
    value: Any = None
    """The number, exactly as computed."""
    result: str
    """Name of the result."""
    rows: list[int] = Field(default_factory=list)
    """Positions of the rows that it follows from, from 0; empty where it follows from all."""
    verified: bool = True


class Summary(BaseModel):
    """A summary with its claims; `removed` counts the sentences that no fact supported."""

    model_config = ConfigDict(extra="forbid")

    text: str
    claims: list[Claim] = Field(default_factory=list)
    removed: int = 0
