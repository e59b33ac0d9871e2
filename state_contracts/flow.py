"""Whether what a step reads was written before it: proven from the graph of steps, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .check import Contract

Edge = tuple[str, str]
"""A step and one that comes after it in the same invocation."""


@dataclass(frozen=True)
class Unfed:
    """A reader of a key without a writer before it."""

    key: str
    reader: str
    writers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.reader} reads {self.key!r}, but none of its writers ({', '.join(self.writers)}) comes before it."


def unfed_readers(edges: Iterable[Edge], contracts: Iterable[Contract]) -> list[Unfed]:
    """The readers of `temp:` keys that no writer precedes in the graph.

    Keys of longer scopes may have been written by an earlier turn, and so need no writer in this one. A reader or
    writer that is no step of the graph is left out: it belongs to another application of the same contracts.
    """
    graph = list(edges)
    return [
        Unfed(contract.key, reader, contract.writers)
        for contract in contracts
        if contract.scope == "temp"
        for reader in contract.readers
        if _is_step(reader, graph) and not upstream_of(reader, graph) & set(contract.writers)
    ]


def upstream_of(step: str, edges: Iterable[Edge]) -> set[str]:
    """Every step from which `step` can be reached."""
    graph = list(edges)
    found: set[str] = set()
    ahead = [step]
    while ahead:
        later = ahead.pop()
        new = {before for before, after in graph if after == later} - found
        found |= new
        ahead += new
    return found


def _is_step(name: str, edges: list[Edge]) -> bool:
    return any(name in edge for edge in edges)
