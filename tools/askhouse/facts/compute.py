"""Facts: numbers that follow from a result, each with the rows that it follows from.

Nothing is summed that must not be, and nothing is claimed about rows that are missing: a total needs every row, a
highest value needs every row or a query that sorted them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from state_contracts import Result

from .moments import PARTS, order_of
from .roles import Role, Roles, roles_of
from .units import PLAIN, Unit

FactKind = Literal[
    "rows", "value", "total", "subtotal", "highest", "lowest", "share", "difference", "first", "last", "change", "rise",
    "fall", "dates", "nulls", "endless",
]  # fmt: skip
_LARGEST_CHANGE = 1_000
Number = int | float | Decimal


@dataclass(frozen=True)
class Fact:
    """One thing that the rows say.

    `rows` are positions in the result, from 0; a fact with no rows follows from all of them. `value` is exact, in the
    column's own unit; a share and a relative change are parts of one, None where they have no meaning.
    """

    kind: FactKind
    value: Any
    rows: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    unit: Unit = PLAIN
    label: str = ""
    relative: float | None = None


@dataclass(frozen=True)
class Reach:
    """What may be claimed of a result, given which of its rows are here."""

    complete: bool
    """Every row of the query is here."""
    whole: bool
    """And the query left none out by a limit."""
    sorted_by: str = ""
    descending: bool = False


def reach_of(result: Result, roles: Roles) -> Reach:
    """Whether rows are missing, by truncation or by the query's own limit."""
    complete = not result.truncated and len(result.rows) >= result.row_count
    limit = roles.shape.limit
    sorted_by, descending = roles.shape.order[0] if roles.shape.order else ("", False)
    cut = roles.shape.first_place or (limit is not None and len(result.rows) >= limit)
    return Reach(complete, complete and not cut, sorted_by, descending)


def facts_of(result: Result) -> list[Fact]:
    """Every fact of a result, the most general first; of no rows, that there are none."""
    roles = roles_of(result)
    facts = [Fact("rows", result.row_count)]
    reach = reach_of(result, roles)
    for role in roles.all:
        cells = [row[role.position] for row in result.rows]
        if role.kind == "time" and role.grain not in PARTS:
            facts.extend(_dates(role, cells))
        if role.kind == "measure":
            facts.extend([*_nulls(role, cells), *_endless(role, cells)])
            facts.extend(_of_measure(role, cells, result, roles, reach))
        elif role.kind in ("moment", "category", "time") and len(result.rows) == 1:
            facts.append(Fact("value", cells[0], (0,), (role.name,), role.unit, role.label))
    return facts


def number(value: Any) -> Number | None:
    """The value as a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value if math.isfinite(value) else None


def exact_sum(values: Iterable[Number]) -> Number:
    """The sum without rounding on the way: exact for whole numbers and decimals, correctly rounded for floats."""
    numbers = list(values)
    if any(isinstance(value, float) for value in numbers):
        return math.fsum(numbers)
    return sum(numbers)


def _of_measure(role: Role, cells: Sequence[Any], result: Result, roles: Roles, reach: Reach) -> list[Fact]:
    present = [(i, found) for i, cell in enumerate(cells) if (found := number(cell)) is not None]
    if len(cells) == 1:
        return [Fact("value", cells[0], (0,), (role.name,), role.unit, role.label)]
    if not present or _endless(role, cells):
        return []
    facts = _extremes(role, present, reach)
    axis = trend_axis(result, roles)
    if axis is not None and reach.complete:
        facts += _trend(role, axis, cells, result)
    if may_total(role, roles, reach):
        facts += [*_total(role, present), *_subtotals(role, present, result, roles)]
    if len(cells) == len(present) == 2 and reach.complete:
        facts.append(_difference(role, present))
    return facts


def may_total(role: Role, roles: Roles, reach: Reach) -> bool:
    """Whether the rows' values may be added up: a sum or count by group, of which no row is missing."""
    over_time = any(key.kind == "time" for key in roles.keys)
    return role.additive and reach.whole and bool(roles.keys) and not (role.stock and over_time)


def trend_axis(result: Result, roles: Roles) -> Role | None:
    """The column along which the rows are one series in time, each moment once."""
    keys = roles.keys
    if len(keys) != 1 or keys[0].kind != "time":
        return None
    moments = [row[keys[0].position] for row in result.rows]
    return keys[0] if None not in moments and len(set(moments)) == len(moments) else None


def _extremes(role: Role, present: list[tuple[int, Number]], reach: Reach) -> list[Fact]:
    facts = []
    sorted_here = reach.sorted_by == role.name
    values = [value for _, value in present]
    if reach.whole or (sorted_here and reach.descending):
        facts.append(_extreme("highest", max(values), present, role))
    if reach.whole or (sorted_here and not reach.descending):
        facts.append(_extreme("lowest", min(values), present, role))
    return facts


def _extreme(kind: FactKind, value: Number, present: list[tuple[int, Number]], role: Role) -> Fact:
    rows = tuple(i for i, other in present if other == value)
    return Fact(kind, value, rows, (role.name,), role.unit, role.label)


def _total(role: Role, present: list[tuple[int, Number]]) -> list[Fact]:
    total = exact_sum(value for _, value in present)
    facts = [Fact("total", total, (), (role.name,), role.unit, role.label)]
    top = max(value for _, value in present)
    if total > 0 and min(value for _, value in present) >= 0:
        rows = tuple(i for i, value in present if value == top)
        share = float(Fraction(top) / Fraction(total))
        facts.append(Fact("share", share, rows, (role.name,), Unit("fraction"), role.label))
    return facts


def _subtotals(role: Role, present: list[tuple[int, Number]], result: Result, roles: Roles) -> list[Fact]:
    """The total of each group over the whole time, the largest first, where the rows are groups in time."""
    things, times = ([key for key in roles.keys if key.kind == kind] for kind in ("category", "time"))
    if len(things) != 1 or len(times) != 1:
        return []
    groups: dict[Any, list[tuple[int, Number]]] = {}
    for i, value in present:
        groups.setdefault(result.rows[i][things[0].position], []).append((i, value))
    facts = [
        Fact("subtotal", exact_sum(v for _, v in of), tuple(i for i, _ in of), (role.name,), role.unit, role.label)
        for of in groups.values()
    ]
    return sorted(facts, key=lambda fact: fact.value, reverse=True)


def _difference(role: Role, present: list[tuple[int, Number]]) -> Fact:
    (_, a), (_, b) = present
    low, high = sorted((a, b))
    return Fact("difference", _minus(high, low), (0, 1), (role.name,), role.unit, role.label, _relative(high, low))


def _trend(role: Role, axis: Role, cells: Sequence[Any], result: Result) -> list[Fact]:
    along = sorted(range(len(cells)), key=lambda i: order_of(result.rows[i][axis.position], axis.grain))
    steps = [(i, found) for i in along if (found := number(cells[i])) is not None]
    if len(steps) < 2:
        return []
    (first, start), (last, end) = steps[0], steps[-1]
    columns = (axis.name, role.name)
    facts = [
        Fact("first", start, (first,), columns, role.unit, role.label),
        Fact("last", end, (last,), columns, role.unit, role.label),
        Fact("change", _minus(end, start), (first, last), columns, role.unit, role.label, _relative(end, start)),
    ]
    values = [value for _, value in steps]
    if len(values) > 2 and len(values) == len(cells):
        facts += _direction(values, columns, role)
    return facts


def _direction(values: list[Number], columns: tuple[str, ...], role: Role) -> list[Fact]:
    pairs = list(pairwise(values))
    if all(a < b for a, b in pairs):
        return [Fact("rise", len(values), (), columns, label=role.label)]
    if all(a > b for a, b in pairs):
        return [Fact("fall", len(values), (), columns, label=role.label)]
    return []


def _dates(role: Role, cells: Sequence[Any]) -> list[Fact]:
    known = [(order_of(cell, role.grain), i, cell) for i, cell in enumerate(cells) if cell is not None]
    if len(known) < 2:
        return []
    first, last = min(known), max(known)
    return [Fact("dates", (first[2], last[2]), (first[1], last[1]), (role.name,), label=role.label)]


def _nulls(role: Role, cells: Sequence[Any]) -> list[Fact]:
    rows = tuple(i for i, cell in enumerate(cells) if cell is None)
    return [Fact("nulls", len(rows), rows, (role.name,), label=role.label)] if rows and len(cells) > 1 else []


def _endless(role: Role, cells: Sequence[Any]) -> list[Fact]:
    """Rows with NaN or infinity: beside them no finite number is the highest, and nothing can be added up."""
    rows = tuple(i for i, cell in enumerate(cells) if cell is not None and number(cell) is None)
    return [Fact("endless", len(rows), rows, (role.name,), label=role.label)] if rows and len(cells) > 1 else []


def _minus(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return float(Decimal(str(a)) - Decimal(str(b)))
    return a - b


def _relative(new: Number, old: Number) -> float | None:
    """The change as a part of the old value; None where that misleads: from zero or below, or from next to nothing."""
    if old <= 0 or new < 0:
        return None
    part = (Fraction(new) - Fraction(old)) / Fraction(old)
    return float(part) if part <= _LARGEST_CHANGE else None
