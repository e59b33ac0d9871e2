"""Expressions of GoogleSQL, one node at a time; a node that is not known here is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from sqlglot import exp

from ..errors import InvalidQueryError, UnsupportedError
from . import datetimes, windows
from .aggregates import AGGREGATES, REFUSED, WINDOW_ONLY
from .calls import SPECIAL
from .casts import as_bool
from .casts import cast as cast_value
from .functions import call, signatures, unknown_function, unsupported
from .kinds import (
    BOOL,
    BYTES,
    DATE,
    DATETIME,
    FLOAT64,
    INT64,
    INTERVAL,
    NULL,
    NUMBERS,
    NUMERIC,
    STRING,
    TIMESTAMP,
    Kind,
    Value,
    array_of,
    as_kind,
    cast_to,
    common_kind,
    duckdb_type,
    fits,
    no_signature,
    quoted,
    text,
    together,
)
from .scope import Result, Scope, shorten, struct_field

_COMPARISONS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
_ARITHMETIC: Mapping[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_BITS: Mapping[type[exp.Expr], str] = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|"}
_TYPES = {
    "BIGINT": INT64,
    "DOUBLE": FLOAT64,
    "TEXT": STRING,
    "BOOLEAN": BOOL,
    "DECIMAL": NUMERIC,
    "DATE": DATE,
    "TIMESTAMP": DATETIME,
    "DATETIME": DATETIME,
    "TIMESTAMPTZ": TIMESTAMP,
    "TIME": Kind("TIME"),
    "BINARY": BYTES,
    "BIGDECIMAL": Kind("BIGNUMERIC"),
    "JSON": Kind("JSON"),
}


class Expressions:
    """Compiles the expressions of one scope. `query` compiles a subquery inside it."""

    def __init__(self, scope: Scope, query: Callable[[exp.Expr, Scope], Result]) -> None:
        self.scope = scope
        self._query = query

    def value(self, node: exp.Expr) -> Value:
        """The value of an expression. Raises InvalidQueryError or UnsupportedError."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise UnsupportedError(f"{shorten(node)} is not supported here.", "Write it another way.")
        return handler(self, node)

    def values(self, nodes: Sequence[exp.Expr]) -> list[Value]:
        """The values of several expressions."""
        return [self.value(node) for node in nodes]

    def condition(self, clause: str, node: exp.Expr) -> str:
        """DuckDB's SQL of a condition."""
        return as_bool(clause, self.value(node)).sql

    # Literals and names

    def _literal(self, node: exp.Literal) -> Value:
        written = str(node.this)
        if node.is_string:
            return Value(text(written), STRING, written)
        if written.isdigit():
            if int(written) > 2**63 - 1:
                raise InvalidQueryError(f"Invalid integer literal: {written}.", "Use NUMERIC.")
            return Value(f"CAST({written} AS BIGINT)", INT64, int(written))
        return Value(f"CAST({text(written)} AS DOUBLE)", FLOAT64, written)

    def _raw(self, node: exp.RawString) -> Value:
        return Value(text(str(node.this)), STRING, str(node.this))

    def _adjacent(self, node: exp.Concat) -> Value:
        raise InvalidQueryError(f"Syntax error: concatenated string literals {shorten(node)}.", "Use ||.")

    def _bytes(self, node: exp.ByteString) -> Value:
        raw = str(node.this).encode("latin-1", "replace")
        return Value(f"unhex('{raw.hex()}')", BYTES)

    def _hex(self, node: exp.HexString) -> Value:
        number = int(str(node.this), 16)
        return Value(f"CAST({number} AS BIGINT)", INT64, number)

    def _column(self, node: exp.Column) -> Value:
        if isinstance(node.this, exp.Star):
            raise InvalidQueryError("A star stands for columns only in a SELECT list.", "Name the columns.")
        name = node.name.upper()
        if len(node.parts) == 1 and name in ("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_DATETIME", "CURRENT_TIME"):
            return SPECIAL[name](self, name, [])
        return self.scope.column(node)

    def _dot(self, node: exp.Dot) -> Value:
        return struct_field(self.value(node.this), node.expression.name)

    # Operators

    def _paren(self, node: exp.Paren) -> Value:
        inner = self.value(node.this)
        return Value(f"({inner.sql})", inner.kind, inner.literal)

    def _compare(self, node: exp.Binary) -> Value:
        operator = _COMPARISONS[type(node)]
        kind, (a, b) = together(f"operator {operator}", self.values([node.left, node.right]))
        if kind.element is not None or kind.name in ("GEOGRAPHY", "JSON"):
            raise no_signature(f"operator {operator}", [a, b])
        return Value(f"({a.sql} {operator} {b.sql})", BOOL)

    def _connect(self, node: exp.And | exp.Or) -> Value:
        word = "AND" if isinstance(node, exp.And) else "OR"
        parts = [as_bool(f"Operand of {word}", self.value(part)).sql for part in node.flatten()]
        return Value(f"({f' {word} '.join(parts)})", BOOL)

    def _not(self, node: exp.Not) -> Value:
        return Value(f"(NOT {self.condition('Operand of NOT', node.this)})", BOOL)

    def _arithmetic(self, node: exp.Binary) -> Value:
        operator = _ARITHMETIC[type(node)]
        if isinstance(node.right, exp.Interval) and operator != "*":
            return self._shifted(node, operator)
        a, b = self.values([node.left, node.right])
        kind = common_kind([a, b])
        if a.kind == DATE and fits(b, INT64) and operator != "*":
            return Value(f"({a.sql} {operator} CAST({b.sql} AS INTEGER))", DATE)
        if kind is None or (kind.name not in NUMBERS and kind != NULL):
            raise no_signature(f"operator {operator}", [a, b])
        kind = INT64 if kind == NULL else kind
        a, b = cast_to(a, kind), cast_to(b, kind)
        if kind == NUMERIC:
            return Value(f"CAST({a.sql} {operator} {b.sql} AS {duckdb_type(NUMERIC)})", kind)
        return Value(f"({a.sql} {operator} {b.sql})", kind)

    def _shifted(self, node: exp.Binary, operator: str) -> Value:
        value, (amount, part) = self.value(node.left), self.interval(node.right)
        name = f"{value.kind.name}_{'ADD' if operator == '+' else 'SUB'}"
        if value.kind == DATE:
            value, name = cast_value(value, DATETIME), name.replace("DATE", "DATETIME", 1)
        if value.kind not in (DATETIME, TIMESTAMP):
            raise no_signature(f"operator {operator}", [value, Value("", INTERVAL)])
        return datetimes.shift(name, value, amount, part)

    def _divide(self, node: exp.Div) -> Value:
        a, b = self.values([node.left, node.right])
        kind = common_kind([a, b])
        if kind is None or (kind.name not in NUMBERS and kind != NULL):
            raise no_signature("operator /", [a, b])
        if kind == NUMERIC:
            return Value(f"bq_numeric_divide({cast_to(a, kind).sql}, {cast_to(b, kind).sql})", NUMERIC)
        return Value(f"bq_divide({a.sql}, {b.sql})", FLOAT64)

    def _negative(self, node: exp.Neg) -> Value:
        inner = self.value(node.this)
        if inner.kind.name not in NUMBERS and inner.kind != NULL:
            raise no_signature("operator -", [inner])
        literal = -inner.literal if isinstance(inner.literal, int) else f"-{inner.literal}" if inner.literal else None
        return Value(f"(-{inner.sql})", inner.kind, literal)

    def _bits(self, node: exp.Binary) -> Value:
        a, b = (as_kind("bitwise operator", value, INT64) for value in self.values([node.left, node.right]))
        return Value(f"({a.sql} {_BITS[type(node)]} {b.sql})", INT64)

    def _join_text(self, node: exp.DPipe) -> Value:
        kind, (a, b) = together("operator ||", self.values([node.left, node.right]))
        if kind not in (STRING, BYTES, NULL) and kind.element is None:
            raise no_signature("operator ||", [a, b])
        return Value(f"({a.sql} || {b.sql})", STRING if kind == NULL else kind)

    def _like(self, node: exp.Like) -> Value:
        a, b = (as_kind("operator LIKE", value, STRING) for value in self.values([node.this, node.expression]))
        escape = "" if isinstance(b.literal, str) and "\\" not in b.literal else " ESCAPE '\\'"
        return Value(f"({a.sql} LIKE {b.sql}{escape})", BOOL)

    def _between(self, node: exp.Between) -> Value:
        _, (a, low, high) = together("operator BETWEEN", self.values([node.this, node.args["low"], node.args["high"]]))
        return Value(f"({a.sql} BETWEEN {low.sql} AND {high.sql})", BOOL)

    def _in(self, node: exp.In) -> Value:
        value = self.value(node.this)
        if unnest := node.args.get("unnest"):
            array = self.value(unnest.expressions[0])
            if array.kind.element is None:
                raise no_signature("operator IN UNNEST", [value, array])
            kind, (a, _) = together("operator IN", [value, Value("", array.kind.element)])
            return Value(f"({a.sql} IN (SELECT unnest(CAST({array.sql} AS {duckdb_type(kind)}[]))))", BOOL)
        if subquery := node.args.get("query"):
            result = self._inner(subquery)
            column = self._only_column(result)
            if common_kind([value, column]) is None:
                raise no_signature("operator IN", [value, column])
            return Value(f"({value.sql} IN ({result.sql}))", BOOL)
        kind, (a, *rest) = together("operator IN", [value, *self.values(node.expressions)])
        return Value(f"({a.sql} IN ({', '.join(item.sql for item in rest)}))", BOOL)

    def _is(self, node: exp.Is) -> Value:
        value = self.value(node.this)
        if isinstance(node.expression, exp.Null):
            return Value(f"({value.sql} IS NULL)", BOOL)
        if isinstance(node.expression, exp.Boolean):
            wanted = "TRUE" if node.expression.this else "FALSE"
            return Value(f"({as_bool('Operand of IS', value).sql} IS NOT DISTINCT FROM {wanted})", BOOL)
        raise UnsupportedError(f"{shorten(node)} is not supported here.", "Use IS NULL, IS TRUE or IS FALSE.")

    def _case(self, node: exp.Case) -> Value:
        branches = [part.args["true"] for part in node.args["ifs"]]
        default = node.args.get("default")
        kind, results = together("CASE", self.values([*branches, *([default] if default else [])]))
        if node.this is not None:
            wanted = self.values([part.this for part in node.args["ifs"]])
            _, (subject, *wanted) = together("CASE", [self.value(node.this), *wanted])
            tests = [f"{subject.sql} = {value.sql}" for value in wanted]
        else:
            tests = [self.condition("CASE WHEN", part.this) for part in node.args["ifs"]]
        whens = " ".join(f"WHEN {test} THEN {r.sql}" for test, r in zip(tests, results, strict=False))
        last = f" ELSE {results[-1].sql}" if default else ""
        return Value(f"CASE {whens}{last} END", kind)

    def _if(self, node: exp.If) -> Value:
        if "true" not in node.args or "false" not in node.args:
            raise InvalidQueryError("Number of arguments does not match for function IF: it takes 3.")
        test = self.condition("IF condition", node.this)
        kind, (yes, no) = together("function IF", self.values([node.args["true"], node.args["false"]]))
        return Value(f"CASE WHEN {test} THEN {yes.sql} ELSE {no.sql} END", kind)

    def _cast(self, node: exp.Cast) -> Value:
        if node.args.get("format"):
            raise UnsupportedError("CAST with FORMAT is not supported here.", "Use FORMAT_DATE or FORMAT.")
        return cast_value(self.value(node.this), kind_of_type(node.to), safe=isinstance(node, exp.TryCast))

    def _extract(self, node: exp.Extract) -> Value:
        inner, zone = node.expression, None
        if isinstance(inner, exp.AtTimeZone):
            zone = as_kind("AT TIME ZONE", self.value(inner.args["zone"]), STRING)
            inner = inner.this
        return datetimes.extract(self.value(inner), self.part(node.this), zone)

    def part(self, node: exp.Expr) -> str:
        """A date part: MONTH, or WEEK(MONDAY)."""
        if isinstance(node, exp.Anonymous) and node.name.upper() == "WEEK" and len(node.expressions) == 1:
            return f"WEEK({node.expressions[0].name.upper()})"
        if isinstance(node, exp.Var) or (isinstance(node, exp.Column) and len(node.parts) == 1):
            return node.name.upper()
        raise InvalidQueryError(f"A valid date part name is required but found {shorten(node)}.", "Write DAY or MONTH.")

    def interval(self, node: exp.Expr) -> tuple[Value, str]:
        """The amount and the part of an INTERVAL."""
        if not isinstance(node, exp.Interval) or node.this is None or not isinstance(node.unit, exp.Var):
            raise InvalidQueryError(f"Expected INTERVAL but found {shorten(node)}.", "Write INTERVAL 1 DAY.")
        amount = self.value(node.this)
        if isinstance(amount.literal, str) and amount.kind == STRING:
            amount = Value(f"CAST({int(amount.literal)} AS BIGINT)", INT64)
        return amount, node.unit.name.upper()

    # Arrays, structs, subqueries

    def _array(self, node: exp.Array) -> Value:
        if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Query):
            result = self._inner(node.expressions[0])
            return Value(f"ARRAY({result.sql})", array_of(self._only_column(result).kind))
        kind, items = together("array", self._alike(node.expressions))
        kind = INT64 if kind == NULL else kind
        return Value(f"CAST([{', '.join(item.sql for item in items)}] AS {duckdb_type(kind)}[])", array_of(kind))

    def _alike(self, nodes: Sequence[exp.Expr]) -> list[Value]:
        """The elements of an array; those written (1, 'x') take the field names of the first STRUCT."""
        first = self.value(nodes[0]) if nodes else None
        if first is None or first.kind.name != "STRUCT":
            return self.values(nodes)
        rest = [self._like_first(node, first.kind) for node in nodes[1:]]
        return [first, *rest]

    def _like_first(self, node: exp.Expr, kind: Kind) -> Value:
        parts = node.expressions if isinstance(node, exp.Tuple) else []
        if not parts and isinstance(node, exp.Anonymous) and node.name.upper() == "STRUCT":
            parts = [part.unalias() for part in node.expressions]
        if len(parts) != len(kind.fields):
            return self.value(node)
        named = zip(kind.fields, self.values(parts), strict=True)
        fields = [f"{quoted(name)} := {as_kind('array', value, inner).sql}" for (name, inner), value in named]
        return Value(f"struct_pack({', '.join(fields)})", kind)

    def _bracket(self, node: exp.Bracket) -> Value:
        array = self.value(node.this)
        if array.kind.element is None or len(node.expressions) != 1:
            raise UnsupportedError(f"{shorten(node)} is not supported here.", "Use array[OFFSET(n)].")
        index = as_kind("array index", self.value(node.expressions[0]), INT64)
        shifted = f"({index.sql} - 1)" if node.args.get("offset") == 1 else index.sql
        function = "bq_safe_item" if node.args.get("safe") else "bq_item"
        return Value(f"{function}({array.sql}, {shifted})", array.kind.element)

    def struct(self, nodes: Sequence[exp.Expr]) -> Value:
        """STRUCT(value AS name, …)."""
        values = [self.value(node.this if isinstance(node, exp.Alias) else node) for node in nodes]
        names = [node.alias_or_name or f"_field_{i}" for i, node in enumerate(nodes, 1)]
        kinds = tuple((name, INT64 if v.kind == NULL else v.kind) for name, v in zip(names, values, strict=True))
        packed = ", ".join(f"{quoted(name)} := {value.sql}" for name, value in zip(names, values, strict=True))
        return Value(f"struct_pack({packed})", Kind("STRUCT", fields=kinds))

    def _scalar(self, node: exp.Subquery | exp.Select) -> Value:
        result = self._inner(node)
        return Value(f"({result.sql})", self._only_column(result).kind)

    def _exists(self, node: exp.Exists) -> Value:
        return Value(f"EXISTS ({self._inner(node.this).sql})", BOOL)

    def _inner(self, node: exp.Expr) -> Result:
        inside = Scope(self.scope.run, self.scope.ctes, self.scope)
        result = self._query(node.unnest() if isinstance(node, exp.Subquery) else node, inside)
        self.scope.run.reads |= result.reads
        for column in result.columns:
            self.scope.run.reads |= column.reads
        return result

    @staticmethod
    def _only_column(result: Result) -> Value:
        if len(result.columns) != 1:
            raise InvalidQueryError("A subquery used as a value must have exactly one column.", "Select one column.")
        return result.columns[0]

    # Calls

    def _call(self, node: exp.Anonymous) -> Value:
        name = node.name.upper()
        if name in AGGREGATES:
            return windows.aggregate(self, name, node).value()
        if name in WINDOW_ONLY:
            raise InvalidQueryError(
                f"Analytic function {name} cannot be called without an OVER clause.", "Add OVER ()."
            )
        if name in SPECIAL:
            return SPECIAL[name](self, name, node.expressions)
        if name in signatures():
            return call(name, self.values(node.expressions))
        if name in REFUSED:
            raise UnsupportedError(f"{name} is not supported here.", REFUSED[name])
        if name in unsupported():
            raise UnsupportedError(f"The function {name} is not supported here.", "Write it another way.")
        raise unknown_function(node.name, [*AGGREGATES, *WINDOW_ONLY, *SPECIAL, *signatures()])


_HANDLERS: Mapping[type[exp.Expr], Callable[[Expressions, Any], Value]] = {
    exp.Literal: Expressions._literal,
    exp.RawString: Expressions._raw,
    exp.ByteString: Expressions._bytes,
    exp.HexString: Expressions._hex,
    exp.Concat: Expressions._adjacent,
    exp.Boolean: lambda self, node: Value("TRUE" if node.this else "FALSE", BOOL),
    exp.Null: lambda self, node: Value("NULL", NULL),
    exp.Column: Expressions._column,
    exp.Dot: Expressions._dot,
    exp.Paren: Expressions._paren,
    **dict.fromkeys(_COMPARISONS, Expressions._compare),
    **dict.fromkeys(_ARITHMETIC, Expressions._arithmetic),
    **dict.fromkeys(_BITS, Expressions._bits),
    exp.And: Expressions._connect,
    exp.Or: Expressions._connect,
    exp.Not: Expressions._not,
    exp.Div: Expressions._divide,
    exp.Neg: Expressions._negative,
    exp.DPipe: Expressions._join_text,
    exp.Like: Expressions._like,
    exp.Between: Expressions._between,
    exp.In: Expressions._in,
    exp.Is: Expressions._is,
    exp.Case: Expressions._case,
    exp.If: Expressions._if,
    exp.Cast: Expressions._cast,
    exp.TryCast: Expressions._cast,
    exp.Extract: Expressions._extract,
    exp.Array: Expressions._array,
    exp.Bracket: Expressions._bracket,
    exp.Subquery: Expressions._scalar,
    exp.Select: Expressions._scalar,
    exp.Exists: Expressions._exists,
    exp.Anonymous: Expressions._call,
    exp.Window: windows.window,
}


def kind_of_type(node: exp.DataType) -> Kind:
    """The type that a type expression names. Raises UnsupportedError for one that is not known here."""
    name = node.this.value if hasattr(node.this, "value") else str(node.this)
    if name == "ARRAY" and node.expressions:
        return array_of(kind_of_type(cast(exp.DataType, node.expressions[0])))
    if name == "STRUCT":
        return Kind("STRUCT", fields=tuple(_field(part) for part in node.expressions))
    if name not in _TYPES or node.expressions:
        raise UnsupportedError(f"The type {node.sql('bigquery')} is not supported here.", "Use a plain type.")
    return _TYPES[name]


def _field(node: exp.Expr) -> tuple[str, Kind]:
    if not isinstance(node, exp.ColumnDef) or node.kind is None:
        raise UnsupportedError("A STRUCT type without field names is not supported here.", "Name its fields.")
    return node.name, kind_of_type(node.kind)
