"""A chart before it is drawn: which columns it shows, which rows, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from state_contracts import ChartKind, Result

from ..facts.compute import Reach, exact_sum, number, reach_of
from ..facts.moments import order_of
from ..facts.phrases import NO_VALUE, cut, one_line
from ..facts.roles import Role, Roles, roles_of
from .asked import asked_for

LONGEST_LABEL = 40
RELATION = re.compile(r"\b(relation(?:ship)?s?|correlat\w+|versus|vs\.?|against|depend\w*)\b", re.I)
TREND = re.compile(r"\b(trends?|over time|evol\w+|development|change of|changed?)\b", re.I)


@dataclass(frozen=True)
class Rest:
    """The groups that are not drawn one by one, added up."""

    label: str
    value: Any
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Draft:
    """What to draw. `rows` are the positions of the rows that are drawn, in drawing order."""

    kind: ChartKind
    reason: str
    rows: tuple[int, ...] = ()
    x: tuple[Role, ...] = ()
    """Columns that name a mark; several are joined."""
    y: tuple[Role, ...] = ()
    """Columns that are measured; several become a series each."""
    series: Role | None = None
    horizontal: bool = False
    notes: tuple[str, ...] = ()
    rest: Rest | None = None


class Scene:
    """A result seen as something to draw."""

    def __init__(self, question: str, result: Result) -> None:
        self.question = question
        self.result = result
        self._columns = list(zip(*result.rows, strict=True)) or [() for _ in result.columns]
        self.roles: Roles = roles_of(result, question)
        self.reach: Reach = reach_of(result, self.roles)
        self.count = len(result.rows)
        self.numbers_asked = self._numbers_asked()
        self.keys = self._keys()
        self.measures = self._measures()

    @property
    def is_list(self) -> bool:
        """Whether the rows are records as they are stored, many columns wide and in no order of a number."""
        shape = self.roles.shape
        ranked = any(role.name == self.reach.sorted_by for role in self.measures)
        return shape.known and not shape.grouped and len(self.roles.all) > 3 and not ranked

    def cells(self, role: Role) -> tuple[Any, ...]:
        """One column, top to bottom."""
        return self._columns[role.position]

    def numbers(self, role: Role) -> list[Any]:
        """The column's finite numbers."""
        return [found for cell in self.cells(role) if (found := number(cell)) is not None]

    def distinct(self, role: Role) -> int:
        """How many different values the column has; NULL counts as one."""
        return len({repr(cell) for cell in self.cells(role)})

    def unique(self, *roles: Role) -> bool:
        """Whether no two rows have the same values in these columns."""
        return len({repr([row[role.position] for role in roles]) for row in self.result.rows}) == self.count

    def _numbers_asked(self) -> list[Role]:
        """Whole numbers that name things, where the person wants them drawn all the same: "team id against score"."""
        needed = 2 if RELATION.search(self.question) or asked_for(self.question) == "scatter" else 1
        drawable = asked_for(self.question) or RELATION.search(self.question) or TREND.search(self.question)
        missing = needed - len(self.roles.of("measure"))
        if not drawable or missing <= 0 or self.roles.shape.grouped:
            return []
        codes = [role for role in self.roles.of("category") if role.whole]
        return [replace(role, kind="measure") for role in codes[-missing:]] if len(self.roles.all) > 1 else []

    def _keys(self) -> list[Role]:
        """The columns that tell the rows apart: constants and second names of the same thing are left out."""
        drawn = {role.position for role in self.numbers_asked}
        keys = [role for role in self.roles.keys if role.position not in drawn]
        varying = [role for role in keys if self.count < 2 or self.distinct(role) > 1]
        if len(varying) > 1 and all(role.kind == "category" for role in varying):
            alone = [role for role in varying if self.unique(role)]
            named = [role for role in alone if "name" in role.label.split()]
            return (named or alone)[:1] or varying
        return varying

    def _measures(self) -> list[Role]:
        """The numbers, the one that the answer is sorted by first; ranks only where there is nothing else."""
        found = sorted([*self.roles.of("measure"), *self.numbers_asked], key=lambda role: role.position)
        found = [role for role in found if role.aggregate != "window"] or found
        return sorted(found, key=lambda role: role.name != self.reach.sorted_by)

    def by_calendar(self, role: Role) -> list[int]:
        """Row positions in the order of a time column."""
        return sorted(range(self.count), key=lambda i: order_of(self.result.rows[i][role.position], role.grain))

    def by_value(self, role: Role) -> list[int]:
        """Row positions from the largest value to the smallest; rows without one come last."""

        def key(i: int) -> tuple[bool, Any]:
            found = number(self.result.rows[i][role.position])
            return (found is None, 0 if found is None else -found)

        return sorted(range(self.count), key=key)

    def rest_of(self, role: Role, rows: Sequence[int]) -> Any:
        """The sum of a measure over some rows."""
        cells = self.cells(role)
        return exact_sum(found for i in rows if (found := number(cells[i])) is not None)


def label_of(cells: Sequence[Any]) -> str:
    """The text under a mark; NULL and the empty text are told apart."""
    return ", ".join(_label(cell) for cell in cells)


def _label(cell: Any) -> str:
    if cell is None:
        return NO_VALUE
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cut(one_line(cell), LONGEST_LABEL) or '""'
