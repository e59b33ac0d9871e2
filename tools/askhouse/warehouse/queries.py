"""Whole queries of GoogleSQL: WITH, FROM, SELECT, GROUP BY, set operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from ..errors import InvalidQueryError, UnsupportedError
from .base import TableRef
from .expressions import Expressions
from .guard import nearest_table_error
from .kinds import INT64, Value, duckdb_type, kind_of, quoted, together
from .scope import Result, Run, Scope, Source, shorten, source_of, struct_field
from .windows import direction

_SELECT_PARTS = {
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "order", "limit", "offset",
    "distinct", "with_", "kind", "hint", "operation_modifiers",
}  # fmt: skip
_DEFAULT_PROJECT = "local"


def compile_tree(node: exp.Expr, run: Run) -> Result:
    """Compile a whole statement."""
    return _query(node, Scope(run, {}), top=True)


def _query(node: exp.Expr, outer: Scope, *, top: bool = False) -> Result:
    ctes = dict(outer.ctes)
    _with(node, outer, ctes)
    scope = replace(outer, ctes=ctes)
    if isinstance(node, exp.Subquery):
        _only(node, {"this", "with_"})
        return _query(node.this, scope, top=top)
    if isinstance(node, exp.SetOperation):
        return _set_operation(node, scope, top)
    if isinstance(node, exp.Select):
        return _Select(node, scope, top).result()
    raise UnsupportedError(f"{shorten(node)} is not supported here.", "Write a SELECT.")


def _only(node: exp.Expr, known: set[str]) -> None:
    for key, part in node.args.items():
        if part and key not in known:
            name = key.strip("_").replace("_", " ").upper()
            raise UnsupportedError(f"{name} in this place is not supported here.", "Write the query without it.")


def _with(node: exp.Expr, outer: Scope, ctes: dict[str, Result]) -> None:
    clause = node.args.get("with_")
    if clause is None:
        return
    if clause.args.get("recursive"):
        raise UnsupportedError("WITH RECURSIVE is not supported here.", "Write the steps as separate queries.")
    for part in clause.expressions:
        with outer.run.collecting():
            result = _query(part.this, Scope(outer.run, dict(ctes), outer.parent))
        ctes[part.alias.casefold()] = result


def _set_operation(node: exp.SetOperation, scope: Scope, top: bool) -> Result:
    _only(node, {"this", "expression", "distinct", "order", "limit", "offset", "with_"})
    sides = [_query(side, scope, top=top) for side in (node.left, node.right)]
    left, right = sides
    name = type(node).__name__.upper()
    if len(left.columns) != len(right.columns):
        counts = f"{len(left.columns)} and {len(right.columns)}"
        raise InvalidQueryError(f"Queries in {name} have mismatched column count: {counts}.", "Select as many in both.")
    pairs = [together(name, pair) for pair in zip(left.columns, right.columns, strict=True)]
    wanted = [kind for kind, _ in pairs]
    texts = [_recast(side, wanted) for side in sides]
    word = name if node.args.get("distinct") else f"{name} ALL"
    columns = tuple(
        replace(a, kind=kind, reads=a.reads | b.reads)
        for a, b, kind in zip(left.columns, right.columns, wanted, strict=True)
    )
    reads = left.reads | right.reads
    if node.args.get("distinct") or name != "UNION":
        reads = reads.union(*(column.reads for column in columns))
    sql = f"({texts[0]}) {word} ({texts[1]})"
    if node.args.get("order"):
        inner = Scope(scope.run, scope.ctes, scope.parent)
        inner.aliases = {column.name.casefold(): replace(column, sql=quoted(column.sql)) for column in columns}
        orders = [_output_order(item, columns, inner) for item in node.args["order"].expressions]
        sql += f" ORDER BY {', '.join(orders)}"
    return Result(sql + _limit(node), columns, reads)


def _recast(side: Result, wanted: Sequence[Any]) -> str:
    if all(column.kind == kind for column, kind in zip(side.columns, wanted, strict=True)):
        return side.sql
    casts = ", ".join(
        f"CAST({quoted(column.sql)} AS {duckdb_type(kind)}) AS {quoted(column.sql)}"
        for column, kind in zip(side.columns, wanted, strict=True)
    )
    return f"SELECT {casts} FROM ({side.sql})"


def _output_order(node: exp.Expr, columns: Sequence[Value], scope: Scope) -> str:
    position = _ordinal(node.this, columns)
    if position is None:
        value = Expressions(scope, _query).value(node.this)
        position = next((i for i, column in enumerate(columns, 1) if quoted(column.sql) == value.sql), None)
    if position is None:
        raise UnsupportedError("ORDER BY an expression after a set operation is not supported here.", "Name a column.")
    return f"{position} {direction(node)}"


def _ordinal(node: exp.Expr, columns: Sequence[Value]) -> int | None:
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    if not node.name.isdigit() or not 1 <= int(node.name) <= len(columns):
        message = f"ORDER BY or GROUP BY column number {node.name} is out of range."
        raise InvalidQueryError(message, f"There are {len(columns)} columns.")
    return int(node.name)


def _limit(node: exp.Expr) -> str:
    written = ""
    for key, word in (("limit", "LIMIT"), ("offset", "OFFSET")):
        if part := node.args.get(key):
            count = part.expression
            if not isinstance(part, (exp.Limit, exp.Offset)) or not isinstance(count, exp.Literal) or count.is_string:
                raise InvalidQueryError(f"{word} expects an integer literal.", "Write a number.")
            written += f" {word} {int(count.name)}"
    return written


class _Select:
    """One SELECT, clause by clause in the order in which names become known."""

    def __init__(self, node: exp.Select, outer: Scope, top: bool) -> None:
        _only(node, _SELECT_PARTS)
        if node.args.get("kind") or node.args.get("hint") or node.args.get("operation_modifiers"):
            raise UnsupportedError("SELECT AS STRUCT, AS VALUE and hints are not supported here.", "Select columns.")
        self.node, self.top = node, top
        self.scope = Scope(outer.run, outer.ctes, outer.parent)
        self.scope.windows = {part.name.casefold(): part for part in node.args.get("windows") or ()}
        self.expressions = Expressions(self.scope, _query)
        self.items: list[Value] = []
        self.outputs: list[Value] = []

    def result(self) -> Result:
        """The compiled SELECT."""
        with self.scope.run.collecting() as reads:
            from_ = self._from()
            where = self._clause("where", "WHERE")
            self._select_list()
            self.scope.aliases = self._aliases()
            group = self._group()
            having = self._clause("having", "HAVING")
            qualify = self._clause("qualify", "QUALIFY")
            order = self._order()
            distinct = self.node.args.get("distinct")
            if distinct:
                _only(distinct, set())
                reads.update(*(item.reads for item in self.items))
            columns = ", ".join(
                f"{item.sql} AS {quoted(output.sql)}" for item, output in zip(self.items, self.outputs, strict=True)
            )
            sql = f"SELECT {'DISTINCT ' if distinct else ''}{columns}{from_}{where}{group}{having}{qualify}{order}"
            return Result(sql + _limit(self.node), tuple(self.outputs), frozenset(reads))

    def _clause(self, key: str, word: str) -> str:
        part = self.node.args.get(key)
        return f" {word} {self.expressions.condition(f'{word} clause', part.this)}" if part else ""

    # FROM

    def _from(self) -> str:
        part = self.node.args.get("from_")
        if part is None:
            return ""
        written = f" FROM {self._item(part.this, first=True)}"
        for join in self.node.args.get("joins") or ():
            written += self._join(join)
        return written

    def _join(self, join: exp.Join) -> str:
        _only(join, {"this", "side", "kind", "on", "using"})
        side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
        if kind not in ("", "INNER", "CROSS", "OUTER") or side not in ("", "LEFT", "RIGHT", "FULL"):
            raise UnsupportedError(f"{side} {kind} JOIN is not supported here.", "Use INNER, LEFT, RIGHT or FULL JOIN.")
        before = list(self.scope.sources)
        item = self._item(join.this)
        lateral = item.startswith("LATERAL ")
        on, using = join.args.get("on"), join.args.get("using") or ()
        if on is None and not using:
            if side and not lateral:
                raise InvalidQueryError(f"{side} JOIN must have an ON or USING clause.", "Add one.")
            if not lateral and kind != "CROSS":
                raise InvalidQueryError("INNER JOIN must have an ON or USING clause.", "Add one, or write CROSS JOIN.")
            return f" LEFT JOIN {item} ON TRUE" if side == "LEFT" else f" CROSS JOIN {item}"
        test = self.expressions.condition("ON clause", on) if on is not None else self._using(using, before, side)
        return f" {side or 'INNER'} JOIN {item} ON {test}"

    def _using(self, names: Iterable[exp.Expr], before: Sequence[Source], side: str) -> str:
        tests = []
        for name in names:
            folded = name.name.casefold()
            lefts = [value for source in before for value in source.columns if value.name.casefold() == folded]
            rights = [value for value in self.scope.sources[-1].columns if value.name.casefold() == folded]
            left = self.scope.merged.get(folded) or (lefts[0] if lefts else None)
            if left is None or len(rights) != 1:
                raise InvalidQueryError(f"Column {name.name} in USING clause not found on both sides.", "Use ON.")
            kind, (a, b) = together("USING", [left, rights[0]])
            tests.append(f"{a.sql} = {b.sql}")
            both = f"coalesce({a.sql}, {b.sql})" if side == "FULL" else b.sql if side == "RIGHT" else a.sql
            reads = left.reads | rights[0].reads
            self.scope.run.reads |= reads
            self.scope.merged[folded] = Value(both, kind, None, reads, left.name)
        return " AND ".join(tests)

    def _item(self, node: exp.Expr, *, first: bool = False) -> str:
        if isinstance(node, exp.Table):
            return self._table(node)
        if isinstance(node, exp.Subquery):
            _only(node, {"this", "alias", "with_"})
            if not isinstance(node.this, exp.Query):
                raise UnsupportedError(f"{shorten(node)} is not supported here.", "Read a table or a SELECT.")
            inner = replace(self.scope, sources=[], merged={}, aliases={}, windows={})
            return self._derived(node.alias, _query(node.this, inner))
        if isinstance(node, exp.Unnest):
            return self._unnest(node, first)
        raise UnsupportedError(f"{shorten(node)} in FROM is not supported here.", "Read a table or a SELECT.")

    def _derived(self, alias: str, result: Result) -> str:
        name = alias or f"bq_{len(self.scope.sources)}"
        self.scope.run.reads |= result.reads
        source = source_of(name, result)
        self.scope.add(source if alias else Source("", source.columns))
        return f"({result.sql}) AS {quoted(name)}"

    def _table(self, node: exp.Table) -> str:
        if not isinstance(node.this, exp.Identifier):
            called = node.this.name if isinstance(node.this, exp.Anonymous) else shorten(node.this)
            raise InvalidQueryError(f"Table-valued function not found: {called}.", "Read a table of the catalogue.")
        if node.args.get("pivots"):
            raise UnsupportedError("PIVOT and UNPIVOT are not supported here.", "Use SUM(IF(…)) or UNION ALL.")
        _only(node, {"this", "db", "catalog", "alias"})
        parts = [part.name for part in node.parts]
        if len(parts) == 1 and parts[0].casefold() in self.scope.ctes:
            return self._derived(node.alias or parts[0], self.scope.ctes[parts[0].casefold()])
        if len(parts) > 1 and self.scope.source(parts[0]) is not None:
            path = exp.column(*reversed([exp.to_identifier(part, quoted=True) for part in parts]))
            return self._unnested(self.expressions.value(path), node.alias or parts[-1], "")
        return self._stored(parts, node.alias)

    def _stored(self, parts: Sequence[str], alias: str) -> str:
        if "*" in parts[-1]:
            raise UnsupportedError("Wildcard tables are not supported here.", "Name each table, with UNION ALL.")
        if len(parts) == 1:
            message = f'Table "{parts[0]}" must be qualified with a dataset (e.g. dataset.table).'
            raise InvalidQueryError(message, "Write project.dataset.table.")
        ref = TableRef(*([_DEFAULT_PROJECT, *parts] if len(parts) == 2 else (*parts[:2], ".".join(parts[2:]))))
        stored = self.scope.run.stored.get(ref)
        if stored is None:
            raise nearest_table_error(ref, self.scope.run.stored)
        self.scope.run.tables[ref] = None
        name = alias or ref.table
        columns = tuple(
            Value(f"{quoted(name)}.{quoted(c.name)}", kind_of(c), None, frozenset({(ref, c.name)}), c.name)
            for c in stored.table.columns
        )
        self.scope.add(Source(name, columns))
        return f"{stored.source} AS {quoted(name)}"

    def _unnest(self, node: exp.Unnest, first: bool) -> str:
        _only(node, {"expressions", "alias", "offset"})
        if len(node.expressions) != 1:
            raise UnsupportedError("UNNEST of several arrays is not supported here.", "Unnest one array.")
        alias = node.args.get("alias")
        name = alias.columns[0].name if alias is not None and alias.columns else node.alias
        offset = node.args.get("offset")
        written = self._unnested(self.expressions.value(node.expressions[0]), name, offset.name if offset else "")
        return written.removeprefix("LATERAL ") if first else written

    def _unnested(self, array: Value, alias: str, offset: str) -> str:
        """The elements of an array as rows; a NULL array has none. OFFSET counts from 0."""
        if array.kind.element is None:
            raise InvalidQueryError(
                f"Values referenced in UNNEST must be arrays, not {array.kind}.", "Unnest an array."
            )
        name = alias or f"bq_{len(self.scope.sources)}"
        whole = Value(f"{quoted(name)}.{quoted(name)}", array.kind.element, None, array.reads, alias)
        fields = tuple(struct_field(whole, part) for part, _ in array.kind.element.fields)
        columns = fields or (whole,)
        rows = f"unnest({array.sql}) AS {quoted(name)}"
        if offset:
            rows += f", unnest(range(len({array.sql}))) AS {quoted(offset)}"
            columns += (Value(f"{quoted(name)}.{quoted(offset)}", INT64, name=offset),)
        self.scope.add(Source(alias, columns, whole if fields else None))
        return f"LATERAL (SELECT {rows}) AS {quoted(name)}"

    # SELECT

    def _select_list(self) -> None:
        if not self.node.expressions:
            raise InvalidQueryError("Syntax error: SELECT list is empty.", "Name a column, or write *.")
        for node in self.node.expressions:
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
                self.items += self._star(node)
            else:
                self.items.append(self._read(node.unalias(), self._name_of(node)))
        self.outputs = self._named_outputs()

    @staticmethod
    def _name_of(node: exp.Expr) -> str:
        if isinstance(node, exp.Alias):
            return node.alias
        return node.name if isinstance(node, (exp.Column, exp.Dot)) else ""

    def _read(self, node: exp.Expr, name: str) -> Value:
        with self.scope.run.collecting() as reads:
            value = self.expressions.value(node)
            return replace(value, name=name, reads=frozenset(reads))

    def _star(self, node: exp.Expr) -> list[Value]:
        star = node if isinstance(node, exp.Star) else node.this
        columns = self._all_columns() if node is star else self._columns_of(node.args["table"].name)
        dropped = {part.name.casefold() for part in star.args.get("except_") or ()}
        known = {column.name.casefold() for column in columns}
        for name in dropped - known:
            raise InvalidQueryError(f"Column {name} in SELECT * EXCEPT list does not exist.", "Remove it.")
        replaced = {part.alias.casefold(): part for part in star.args.get("replace") or ()}
        if star.args.get("rename"):
            raise UnsupportedError("SELECT * RENAME is not supported here.", "Name the columns.")
        kept = [column for column in columns if column.name.casefold() not in dropped]
        return [
            self._read(replaced[column.name.casefold()].this, column.name)
            if column.name.casefold() in replaced
            else replace(column, literal=None)
            for column in kept
        ]

    def _all_columns(self) -> list[Value]:
        if not self.scope.sources:
            raise InvalidQueryError("SELECT * must have a FROM clause.", "Name a table.")
        merged = list(self.scope.merged.values())
        rest = [value for source in self.scope.sources for value in source.columns]
        return merged + [value for value in rest if value.name.casefold() not in self.scope.merged]

    def _columns_of(self, name: str) -> list[Value]:
        source = self.scope.source(name)
        if source is None:
            raise InvalidQueryError(f"Unrecognized name: {name}.", "Write an alias of the FROM clause.")
        return list(source.columns)

    def _named_outputs(self) -> list[Value]:
        """Give each column the name that it has outside: BigQuery's f0_, f1_ … for those without one."""
        outputs: list[Value] = []
        anonymous = 0
        taken: set[str] = set()
        for item in self.items:
            name = item.name
            if not name:
                name, anonymous = f"f{anonymous}_", anonymous + 1
            if self.top and name.casefold() in taken:
                message = f"Duplicate column names in the result are not supported. Found duplicate(s): {name}."
                raise InvalidQueryError(message, "Give one of them another name with AS.")
            inner = name
            while inner.casefold() in taken:
                inner += "_"
            taken.add(inner.casefold())
            outputs.append(Value(inner, item.kind, None, item.reads, name if self.top else item.name))
        return outputs

    def _aliases(self) -> dict[str, Value]:
        named = zip(self.node.expressions, self.items, strict=False)
        if len(self.items) != len(self.node.expressions):
            named = zip((None for _ in self.items), self.items, strict=False)
        return {item.name.casefold(): item for node, item in named if item.name and isinstance(node, exp.Alias)}

    # GROUP BY, ORDER BY

    def _group(self) -> str:
        group = self.node.args.get("group")
        if group is None:
            return ""
        _only(group, {"expressions", "all"})
        if group.args.get("all"):
            return " GROUP BY ALL"
        return f" GROUP BY {', '.join(self._group_item(node) for node in group.expressions)}"

    def _group_item(self, node: exp.Expr) -> str:
        if isinstance(node, (exp.Rollup, exp.Cube)):
            inner = ", ".join(self._group_item(part) for part in node.expressions)
            return f"{type(node).__name__.upper()}({inner})"
        position = _ordinal(node, self.items)
        if position is not None:
            return self.items[position - 1].sql
        if isinstance(node, exp.Column) and len(node.parts) == 1 and node.name.casefold() in self.scope.aliases:
            return self.scope.aliases[node.name.casefold()].sql
        aliases, self.scope.aliases = self.scope.aliases, {}
        value = self.expressions.value(node)
        self.scope.aliases = aliases
        if value.kind.element is not None or value.kind.name in ("JSON", "GEOGRAPHY"):
            raise InvalidQueryError(
                f"Grouping by expressions of type {value.kind} is not allowed.", "Group by another."
            )
        return value.sql

    def _order(self) -> str:
        order = self.node.args.get("order")
        if order is None:
            return ""
        return f" ORDER BY {', '.join(self._order_item(node) for node in order.expressions)}"

    def _order_item(self, node: exp.Expr) -> str:
        inner = node.this
        position = _ordinal(inner, self.items)
        if position is None and isinstance(inner, exp.Column) and len(inner.parts) == 1:
            folded = inner.name.casefold()
            named = [i for i, output in enumerate(self.outputs, 1) if output.name.casefold() == folded]
            position = named[0] if named else None
        if position is not None:
            return f"{position} {direction(node)}"
        return f"{self.expressions.value(inner).sql} {direction(node)}"
