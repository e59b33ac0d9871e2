"""A query read back in plain words, whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadBack:
    """`text` is one sentence, empty where the query is beyond this reader; `assumptions` hold only what is certain."""

    text: str
    assumptions: tuple[str, ...] = ()


def read_back(sql: str) -> ReadBack:
    """Say what a SELECT does."""
    return ReadBack("")
