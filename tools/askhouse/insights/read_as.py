"""A query read back in plain words, whoever wrote it: what it counts, of what, for whom, in which order.

The words come from the query's tree alone. Where a part has no plain words it is shown as SQL, and where the whole is
beyond this reader nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from .read_words import Names, condition, day, moment, say

_LONGEST = 1_200


class _BeyondError(Exception):
    """The query is beyond this reader."""


@dataclass(frozen=True)
class ReadBack:
    """`text` is one sentence, empty where the query is beyond this reader; `assumptions` hold only what is certain."""

    text: str
    assumptions: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def read_back(sql: str) -> ReadBack:
    """Say what a SELECT in GoogleSQL does.

    >>> read_back("SELECT origin, COUNT(*) FROM `p.d.flights` WHERE dest = 'LAX' GROUP BY origin").text
    'Number of rows of flights by origin, where dest is LAX.'
    """
    try:
        statements = sqlglot.parse(sql, dialect="bigquery")
        tree = statements[0] if len(statements) == 1 else None
        text = _Reader(_common_tables(tree)).whole(tree) if tree is not None else ""
        assumptions = tuple(dict.fromkeys(_assumptions(tree))) if text and isinstance(tree, exp.Select) else ()
    except (SqlglotError, RecursionError, _BeyondError):
        return ReadBack("")
    return ReadBack(f"{text[:1].upper()}{text[1:]}." if 0 < len(text) <= _LONGEST else "", assumptions)


_CLAUSES = frozenset([
    "kind", "with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify", "order",
    "limit", "offset",
])  # fmt: skip


_PLAIN = Names({}, lambda _: "")


def _common_tables(tree: exp.Expr | None) -> dict[str, exp.Expr]:
    with_ = tree.args.get("with_") if tree is not None else None
    if with_ is None:
        return {}
    if with_.args.get("recursive"):
        raise _BeyondError
    return {table.alias: table.this for table in with_.expressions}


class _Reader:
    """Reads one statement; `common` holds its WITH tables by name."""

    def __init__(self, common: dict[str, exp.Expr]) -> None:
        self._common = common

    def whole(self, tree: exp.Expr) -> str:
        """The statement in words, without a full stop; empty where it is beyond this reader."""
        text = self._read(tree, nested=False)
        return f"shows {text}" if text and isinstance(tree, exp.Select) and not _counts(tree) else text

    def _read(self, tree: exp.Expr, *, nested: bool) -> str:
        if isinstance(tree, exp.SetOperation):
            return self._combined(tree)
        if not isinstance(tree, exp.Select) or not _CLAUSES.issuperset(name for name, arg in tree.args.items() if arg):
            return ""
        source = self._source(tree) if tree.args.get("from_") is not None else ""
        return self._sentence(tree, source, nested) if source else ""

    def _sentence(self, select: exp.Select, source: str, nested: bool) -> str:
        names = _names(select, lambda query: self._read(query, nested=True))
        if nested and _reaches_out(select, names):
            return ""
        groups = _groups(select)
        by = _listed([say(group, names) for group in groups])
        clauses = [
            f"{_shown(select, groups, names, nested)} of {source}{f' by {by}' if by else ''}",
            _where(select, names),
            _having(select, names),
            _qualified(select, names),
            _order(select, names),
            _limit(select),
        ]
        return ", ".join(filter(None, clauses))

    def _source(self, select: exp.Select) -> str:
        """The tables in words; empty where one of them is beyond this reader."""
        first = self._table(select.args["from_"].this)
        joined = [self._joined(join) for join in select.args.get("joins") or []]
        return "".join([first, *joined]) if first and all(joined) else ""

    def _joined(self, join: exp.Join) -> str:
        table = self._table(join.this)
        side = join.side.upper()
        if not table or join.kind.upper() not in ("", "INNER", "OUTER") or side not in ("", "LEFT"):
            return ""
        on = join.args.get("on")
        if not (join.args.get("using") or (on is not None and all(map(_links, _conjuncts(on))))):
            return ""
        return f" with {table} (if any)" if side == "LEFT" else f" with {table}"

    def _table(self, table: exp.Expr) -> str:
        if isinstance(table, exp.Subquery):
            return self._nested(table.this)
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return ""
        if any(table.args.get(clause) for clause in ("when", "version", "sample", "pivots", "joins", "system_time")):
            return ""
        if not table.db and table.name in self._common:
            return self._nested(self._common[table.name])
        return table.name.rsplit(".", 1)[-1]

    def _nested(self, query: exp.Expr) -> str:
        inner = self._read(query, nested=True)
        return f"({inner})" if inner else ""

    def _combined(self, tree: exp.SetOperation) -> str:
        left, right = self._read(tree.left, nested=True), self._read(tree.right, nested=True)
        words = {exp.Union: "together with", exp.Except: "without", exp.Intersect: "that are also in"}
        word = words.get(type(tree))
        clauses = [_order(tree, _PLAIN), _limit(tree)]
        whole = f"({left}) {word} ({right})" if left and right and word else ""
        return ", ".join(filter(None, [whole, *clauses])) if whole else ""


def _reaches_out(select: exp.Select, names: Names) -> bool:
    """Whether an inner query speaks of a row of the outer one."""
    columns = (column for column in select.find_all(exp.Column) if column.parent_select is select)
    return any(column.table and column.parts[0].name not in names.tables for column in columns)


def _counts(select: exp.Select) -> bool:
    """Whether it sums rows up rather than showing them."""
    return any(select.args.get(clause) for clause in ("group", "distinct")) or bool(
        select.expressions and all(part.find(exp.AggFunc) for part in select.expressions)
    )


def _shown(select: exp.Select, groups: list[exp.Expr], names: Names, nested: bool) -> str:
    keys = {group.sql() for group in groups}
    shown = [part for part in select.expressions if part.unalias().sql() not in keys]
    words = _listed([_named(part, names, nested) for part in shown])
    if select.args.get("distinct"):
        return f"distinct {words}"
    return words or "the groups"


def _named(part: exp.Expr, names: Names, nested: bool) -> str:
    """A column of the select list; an inner one with the name by which the outer query calls it."""
    words = say(part.unalias(), names)
    return f"{words} as {part.alias}" if nested and part.alias and part.alias != words else words


def _names(select: exp.Select, inner: Callable[[exp.Expr], str]) -> Names:
    """What each alias of a table stands for, where there are several tables."""
    tables = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or [])]
    if len(tables) == 1:
        return Names({tables[0].alias_or_name: ""}, inner)
    return Names({table.alias_or_name: table.name or table.alias for table in tables}, inner)


def _groups(select: exp.Select) -> list[exp.Expr]:
    """What the rows are grouped by, with ordinals and aliases replaced by what they stand for."""
    group = select.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        return [part.unalias() for part in select.expressions if not part.find(exp.AggFunc)]
    return [_resolved(part, select) for part in group.expressions]


def _resolved(node: exp.Expr, select: exp.Expr) -> exp.Expr:
    """What an ordinal or an alias of the select list stands for."""
    parts = select.args.get("expressions") or []
    if isinstance(node, exp.Literal) and not node.is_string and 0 < int(node.name) <= len(parts):
        return parts[int(node.name) - 1].unalias()  # type: ignore[no-any-return]
    if isinstance(node, exp.Column) and not node.table:
        alias = next((part for part in parts if isinstance(part, exp.Alias) and part.alias == node.name), None)
        return alias.this if alias is not None else node
    return node


def _where(select: exp.Select, names: Names) -> str:
    where = select.args.get("where")
    if where is None:
        return ""
    conjuncts = _conjuncts(where.this)
    words = []
    while conjuncts:
        first = conjuncts.pop(0)
        partner = next((other for other in conjuncts if _period(first, other, names)), None)
        if partner is not None:
            conjuncts.remove(partner)
            words.append(_period(first, partner, names) or "")
        else:
            words.append(condition(first, names))
    return f"where {' and '.join(words)}"


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        return [part for side in (node.left, node.right) for part in _conjuncts(side)]
    return [node]


def _links(node: exp.Expr) -> bool:
    """Whether it only says which rows belong together."""
    return isinstance(node, exp.EQ) and isinstance(node.left, exp.Column) and isinstance(node.right, exp.Column)


def _period(first: exp.Expr, second: exp.Expr, names: Names) -> str | None:
    """Two bounds of the same thing as a period, from the first moment up to but without the last."""
    low, high = (first, second) if isinstance(first, exp.GTE) else (second, first)
    if not isinstance(low, exp.GTE) or not isinstance(high, exp.LT) or low.left.sql() != high.left.sql():
        return None
    start, end = moment(low.right), moment(high.right)
    if start is None or end is None or start >= end or start.time() != end.time() or start.hour or start.minute:
        return None
    thing = low.left.this if isinstance(low.left, exp.Date) and not low.left.args.get("zone") else low.left
    return f"{say(thing, names)} is {period(start, end)}"


def period(start: datetime, end: datetime) -> str:
    """The days from `start` up to but without `end`, as people call them."""
    last = end - timedelta(days=1)
    if start.day == 1 and end.day == 1:
        months = (end.year - start.year) * 12 + end.month - start.month
        if months == 12 and start.month == 1:
            return f"in {start.year}"
        if months == 3 and start.month % 3 == 1:
            ordinal = ("first", "second", "third", "fourth")[start.month // 3]
            return f"in the {ordinal} quarter of {start.year}"
        if months == 1:
            return f"in {start:%B %Y}"
    return f"on {day(start)}" if start == last else f"from {day(start)} to {day(last)}"


def _having(select: exp.Select, names: Names) -> str:
    having = select.args.get("having")
    if having is None:
        return ""
    resolved = exp.Paren(this=having.this.copy())
    for column in list(resolved.find_all(exp.Column)):
        if column.find_ancestor(exp.AggFunc) is None:
            column.replace(_resolved(column, select).copy())
    return f"for groups whose {' and '.join(condition(part, names) for part in _conjuncts(resolved))}"


def _qualified(select: exp.Select, names: Names) -> str:
    qualify = select.args.get("qualify")
    if qualify is not None and re.fullmatch(r"RANK\(\) OVER \(ORDER BY .*\) = 1", qualify.this.sql("bigquery")):
        return "keeping the first and all that share its place"
    return f"keeping rows whose {condition(qualify.this, names)}" if qualify is not None else ""


def _order(select: exp.Expr, names: Names) -> str:
    order = select.args.get("order")
    if order is None:
        return ""
    return f"sorted by {', then '.join(_ordered(part, select, names) for part in order.expressions)}"


def _ordered(part: exp.Expr, select: exp.Expr, names: Names) -> str:
    words = say(_resolved(part.this, select), names)
    return f"{words}, highest first" if part.args.get("desc") else words


def _limit(select: exp.Expr) -> str:
    limit, offset = select.args.get("limit"), select.args.get("offset")
    if limit is None:
        return ""
    number = say(limit.expression, _PLAIN)
    rows = "row" if number == "1" else f"{number} rows"
    if offset is not None:
        return f"only {'one row' if number == '1' else rows} after the first {say(offset.expression, _PLAIN)}"
    return f"only the first {rows}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def _assumptions(select: exp.Select) -> Iterator[str]:
    """What follows from how GoogleSQL treats missing values: certain, and easily overlooked."""
    names = _names(select, lambda _: "")
    for average in select.find_all(exp.Avg):
        if isinstance(average.this, exp.Column) and average.find_ancestor(exp.Select) is select:
            column = say(average.this, names)
            yield f"Rows without {column} do not count in the average of {column}."
    where = select.args.get("where")
    for part in _conjuncts(where.this) if where is not None else []:
        excluded = _unequal(part)
        if excluded is not None:
            words = say(excluded, names)
            yield f"Rows without {words} are left out, too: a missing value is not taken as different."


def _unequal(node: exp.Expr) -> exp.Column | None:
    """The column that a conjunct excludes values of."""
    if isinstance(node, exp.Not):
        node = node.this
        while isinstance(node, exp.Paren):
            node = node.this
        excludes = isinstance(node, exp.In | exp.EQ) and not node.args.get("query")
    else:
        excludes = isinstance(node, exp.NEQ)
    column = node.this if excludes else None
    return column if isinstance(column, exp.Column) else None
