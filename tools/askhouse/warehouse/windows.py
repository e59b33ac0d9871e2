"""Calls of aggregate and window functions: what stands inside the parentheses, and the OVER clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..errors import InvalidQueryError, UnsupportedError
from .aggregates import AGGREGATES, WINDOW_ONLY, Aggregate, Arguments
from .kinds import Value
from .scope import shorten

if TYPE_CHECKING:
    from .expressions import Expressions

Found = dict[str, Any]


def aggregate(self: Expressions, name: str, node: exp.Anonymous) -> Aggregate:
    """The call of an aggregate or window function."""
    return (AGGREGATES.get(name) or WINDOW_ONLY[name])(name, _arguments(self, node.expressions))


def _arguments(self: Expressions, nodes: Sequence[exp.Expr]) -> Arguments:
    """Unwrap DISTINCT, IGNORE NULLS, ORDER BY and LIMIT from the arguments, in whichever order they nest."""
    found: Found = {}
    values: list[Value] = []
    for written in nodes:
        node: Any = written
        while step := _MODIFIERS.get(type(node)):
            node = step(self, node, found, values)
        if isinstance(node, exp.Star):
            found["star"] = True
        else:
            values.append(self.value(node))
    values += found.pop("by", [])
    return Arguments(values, **found)


def _strip_distinct(self: Expressions, node: Any, found: Found, values: list[Value]) -> Any:
    found["distinct"] = True
    values += self.values(node.expressions[:-1])
    return node.expressions[-1]


def _strip_nulls(self: Expressions, node: Any, found: Found, values: list[Value]) -> Any:
    found["nulls"] = "IGNORE" if isinstance(node, exp.IgnoreNulls) else "RESPECT"
    return node.this


def _strip_order(self: Expressions, node: Any, found: Found, values: list[Value]) -> Any:
    found["order"] = _order(self, node.expressions)
    return node.this


def _strip_limit(self: Expressions, node: Any, found: Found, values: list[Value]) -> Any:
    found["limit"] = int(node.expression.name)
    return node.this


def _strip_having(self: Expressions, node: Any, found: Found, values: list[Value]) -> Any:
    found["having_max"] = bool(node.args.get("max"))
    found["by"] = [self.value(node.expression)]
    return node.this


_MODIFIERS: Mapping[type[exp.Expr], Callable[..., Any]] = {
    exp.Distinct: _strip_distinct,
    exp.IgnoreNulls: _strip_nulls,
    exp.RespectNulls: _strip_nulls,
    exp.Order: _strip_order,
    exp.Limit: _strip_limit,
    exp.HavingMax: _strip_having,
}


def _order(self: Expressions, nodes: Sequence[exp.Expr]) -> str:
    return "ORDER BY " + ", ".join(f"{self.value(node.this).sql} {direction(node)}" for node in nodes)


def direction(node: exp.Expr) -> str:
    """ASC or DESC; NULL comes first when ascending and last when descending, unless written otherwise."""
    nulls = "FIRST" if node.args.get("nulls_first") else "LAST"
    return f"{'DESC' if node.args.get('desc') else 'ASC'} NULLS {nulls}"


def window(self: Expressions, node: exp.Window) -> Value:
    """A function with its OVER clause."""
    function = node.this
    if not isinstance(function, exp.Anonymous) or function.name.upper() not in {**AGGREGATES, **WINDOW_ONLY}:
        raise UnsupportedError(f"{shorten(node)} is not supported here.", "Use an aggregate or ranking function.")
    over = _named(self, node)
    parts = []
    if partition := over.args.get("partition_by"):
        parts.append("PARTITION BY " + ", ".join(value.sql for value in self.values(partition)))
    if order := over.args.get("order"):
        parts.append(_order(self, order.expressions))
    if spec := over.args.get("spec"):
        parts.append(_frame(self, spec))
    return aggregate(self, function.name.upper(), function).value(f" OVER ({' '.join(parts)})")


def _named(self: Expressions, node: exp.Window) -> exp.Window:
    name = node.args.get("alias")
    if name is None:
        return node
    if name.name.casefold() not in self.scope.windows:
        raise InvalidQueryError(f"Unrecognized window alias {name.name}.", "Define it in the WINDOW clause.")
    return _named(self, self.scope.windows[name.name.casefold()])


def _frame(self: Expressions, spec: exp.WindowSpec) -> str:
    if spec.args.get("exclude"):
        raise UnsupportedError("EXCLUDE in a window frame is not supported here.", "Leave it out.")
    ends = []
    for side in ("start", "end"):
        at = spec.args.get(side)
        written = at if isinstance(at, str) or at is None else self.value(at).sql
        if written:
            ends.append(f"{written} {spec.args.get(f'{side}_side') or ''}".strip())
    return f"{spec.args['kind']} BETWEEN {ends[0]} AND {ends[1] if len(ends) > 1 else 'CURRENT ROW'}"
