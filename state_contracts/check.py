"""Whether a change of the state keeps the contracts: pure, so that every gate can ask the same question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .keys import StateFamily, StateKey

Contract = StateKey[Any] | StateFamily[Any]


@dataclass(frozen=True)
class Violation:
    """One key of a change that breaks its contract; `reason` is a sentence for a person."""

    key: str
    writer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.writer} wrote {self.key!r}: {self.reason}"


def check_delta(
    delta: Mapping[str, Any], writer: str | None, contracts: Iterable[Contract], *, foreign: tuple[str, ...] = ()
) -> list[Violation]:
    """The violations of a state change.

    Args:
        delta: the keys that change, with their new stored values.
        writer: the node or tool that wrote them; None where it cannot be told, and then is not checked.
        contracts: the declarations in force.
        foreign: prefixes of keys that belong to somebody else (ADK's own) and are let through.
    """
    declared = tuple(contracts)
    violations = (
        _violation(key, value, writer, declared)
        for key, value in delta.items()
        if not key.startswith(foreign or ("\0",))
    )
    return [violation for violation in violations if violation is not None]


def _violation(key: str, value: Any, writer: str | None, contracts: tuple[Contract, ...]) -> Violation | None:
    contract = next((contract for contract in contracts if contract.matches(key)), None)
    name = writer or "somebody"
    if contract is None:
        return Violation(key, name, "the key is not declared.")
    if writer is not None and writer not in contract.writers:
        return Violation(key, name, f"only {' and '.join(contract.writers)} may write it.")
    problem = contract.problem(key, value)
    return Violation(key, name, problem) if problem else None
