"""Aggregate and window functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import InvalidQueryError, UnsupportedError
from .casts import as_bool
from .kinds import (
    BOOL,
    FLOAT64,
    INT64,
    NULL,
    NUMBERS,
    NUMERIC,
    STRING,
    Kind,
    Value,
    array_of,
    as_kind,
    no_signature,
    together,
)


@dataclass(frozen=True)
class Arguments:
    """What stands between the parentheses of an aggregate function."""

    values: Sequence[Value] = ()
    star: bool = False
    distinct: bool = False
    nulls: str = ""
    """IGNORE or RESPECT, where written."""
    order: str = ""
    """DuckDB's ORDER BY clause, or nothing."""
    limit: int | None = None
    having_max: bool | None = None
    """Of ANY_VALUE(x HAVING MAX y): True for MAX, False for MIN; y is the second value."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate call, and what is done with its result."""

    sql: str
    kind: Kind
    wrap: str = "{}"
    window: bool = True
    """Whether it may have an OVER clause."""

    def value(self, over: str = "") -> Value:
        """The call with its OVER clause, if any."""
        if over and not self.window:
            raise UnsupportedError("This function with OVER is not supported here.", "Aggregate in a subquery.")
        return Value(self.wrap.format(self.sql + over), self.kind)


def _one(name: str, arguments: Arguments) -> Value:
    if len(arguments.values) != 1 or arguments.star:
        raise InvalidQueryError(f"Number of arguments does not match for aggregate function {name}: it takes 1.")
    return arguments.values[0]


def _plain(function: str, result: Kind | None = None, wanted: Kind | None = None) -> Callable[..., Aggregate]:
    """An aggregate of one argument that DuckDB computes alike."""

    def build(name: str, arguments: Arguments) -> Aggregate:
        value = _one(name, arguments)
        if wanted is not None:
            value = as_kind(f"aggregate function {name}", value, wanted)
        distinct = "DISTINCT " if arguments.distinct else ""
        return Aggregate(f"{function}({distinct}{value.sql})", result or value.kind)

    return build


def _count(name: str, arguments: Arguments) -> Aggregate:
    return Aggregate("COUNT(*)", INT64) if arguments.star else _plain("COUNT", INT64)(name, arguments)


def _countif(name: str, arguments: Arguments) -> Aggregate:
    value = as_bool(name, _one(name, arguments))
    return Aggregate(f"COUNT(CASE WHEN {value.sql} THEN 1 END)", INT64)


def _sum(name: str, arguments: Arguments) -> Aggregate:
    value = _one(name, arguments)
    if value.kind.name not in NUMBERS and value.kind != NULL:
        raise no_signature(f"aggregate function {name}", [value])
    distinct = "DISTINCT " if arguments.distinct else ""
    kind = INT64 if value.kind == NULL else value.kind
    wrap = {"INT64": "CAST({} AS BIGINT)", "NUMERIC": "CAST({} AS DECIMAL(38, 9))"}.get(kind.name, "{}")
    return Aggregate(f"SUM({distinct}{value.sql})", kind, wrap)


def _avg(name: str, arguments: Arguments) -> Aggregate:
    value = _one(name, arguments)
    if value.kind.name not in NUMBERS and value.kind != NULL:
        raise no_signature(f"aggregate function {name}", [value])
    distinct = "DISTINCT " if arguments.distinct else ""
    if value.kind == NUMERIC:
        inner = f"{distinct}{value.sql}"
        return Aggregate(f"bq_numeric_mean(SUM({inner}), COUNT({inner}))", NUMERIC, window=False)
    return Aggregate(f"AVG({distinct}{value.sql})", FLOAT64)


def _any_value(name: str, arguments: Arguments) -> Aggregate:
    if arguments.having_max is None:
        return _plain("any_value")(name, arguments)
    value, by = arguments.values
    return Aggregate(f"{'arg_max' if arguments.having_max else 'arg_min'}({value.sql}, {by.sql})", value.kind)


def _by(function: str) -> Callable[..., Aggregate]:
    def build(name: str, arguments: Arguments) -> Aggregate:
        if len(arguments.values) != 2:
            raise InvalidQueryError(f"Number of arguments does not match for aggregate function {name}: it takes 2.")
        value, by = arguments.values
        return Aggregate(f"{function}({value.sql}, {by.sql})", value.kind)

    return build


def _pair(function: str) -> Callable[..., Aggregate]:
    def build(name: str, arguments: Arguments) -> Aggregate:
        if len(arguments.values) != 2:
            raise InvalidQueryError(f"Number of arguments does not match for aggregate function {name}: it takes 2.")
        a, b = (as_kind(f"aggregate function {name}", value, FLOAT64) for value in arguments.values)
        return Aggregate(f"{function}({a.sql}, {b.sql})", FLOAT64)

    return build


def _corr(name: str, arguments: Arguments) -> Aggregate:
    """Of fewer than two pairs there is no correlation; DuckDB would say NaN."""
    pair = _pair("corr")(name, arguments).sql
    return Aggregate(f"CASE WHEN {pair.replace('corr', 'regr_count', 1)} > 1 THEN {pair} END", FLOAT64, window=False)


def _array_agg(name: str, arguments: Arguments) -> Aggregate:
    value = _one(name, arguments)
    if value.kind.element is not None:
        raise InvalidQueryError("The argument to ARRAY_AGG must not be an array type.", "Aggregate its elements.")
    distinct = "DISTINCT " if arguments.distinct else ""
    order = arguments.order and f" {arguments.order}"
    keep = f" FILTER (WHERE {value.sql} IS NOT NULL)" if arguments.nulls == "IGNORE" else ""
    wrap = "{}" if arguments.limit is None else f"({{}})[1:{arguments.limit}]"
    return Aggregate(f"list({distinct}{value.sql}{order}){keep}", array_of(value.kind), wrap)


def _string_agg(name: str, arguments: Arguments) -> Aggregate:
    if len(arguments.values) not in (1, 2) or arguments.limit is not None:
        raise UnsupportedError(f"This form of {name} is not supported here.", "Write STRING_AGG(value, delimiter).")
    value = as_kind(f"aggregate function {name}", arguments.values[0], STRING)
    delimiter = arguments.values[1].sql if len(arguments.values) == 2 else "','"
    distinct = "DISTINCT " if arguments.distinct else ""
    order = arguments.order and f" {arguments.order}"
    return Aggregate(f"string_agg({distinct}{value.sql}, {delimiter}{order})", STRING)


def _quantiles(name: str, arguments: Arguments) -> Aggregate:
    if len(arguments.values) != 2 or not isinstance(arguments.values[1].literal, int):
        raise UnsupportedError(f"{name} needs the number of quantiles as a literal here.", "Write it in the query.")
    value, number = arguments.values[0], int(arguments.values[1].literal)
    if not 1 <= number <= 1000:
        raise InvalidQueryError(f"{name} takes 1 to 1000 quantiles.", "Ask for fewer.")
    shares = ", ".join(repr(i / number) for i in range(number + 1))
    return Aggregate(f"quantile_disc({value.sql}, [{shares}])", array_of(value.kind), window=False)


AGGREGATES: dict[str, Callable[[str, Arguments], Aggregate]] = {
    "COUNT": _count,
    "COUNTIF": _countif,
    "SUM": _sum,
    "AVG": _avg,
    "MIN": _plain("MIN"),
    "MAX": _plain("MAX"),
    "ANY_VALUE": _any_value,
    "MAX_BY": _by("arg_max"),
    "MIN_BY": _by("arg_min"),
    "LOGICAL_AND": _plain("bool_and", BOOL, BOOL),
    "LOGICAL_OR": _plain("bool_or", BOOL, BOOL),
    "STDDEV": _plain("stddev_samp", FLOAT64, FLOAT64),
    "STDDEV_SAMP": _plain("stddev_samp", FLOAT64, FLOAT64),
    "STDDEV_POP": _plain("stddev_pop", FLOAT64, FLOAT64),
    "VARIANCE": _plain("var_samp", FLOAT64, FLOAT64),
    "VAR_SAMP": _plain("var_samp", FLOAT64, FLOAT64),
    "VAR_POP": _plain("var_pop", FLOAT64, FLOAT64),
    "CORR": _corr,
    "COVAR_POP": _pair("covar_pop"),
    "COVAR_SAMP": _pair("covar_samp"),
    "ARRAY_AGG": _array_agg,
    "STRING_AGG": _string_agg,
    # Counted exactly: an approximation may be right.
    "APPROX_COUNT_DISTINCT": lambda name, arguments: Aggregate(f"COUNT(DISTINCT {_one(name, arguments).sql})", INT64),
    "APPROX_QUANTILES": _quantiles,
}


def _rank(function: str, kind: Kind) -> Callable[..., Aggregate]:
    def build(name: str, arguments: Arguments) -> Aggregate:
        if arguments.values or arguments.star:
            raise InvalidQueryError(f"Number of arguments does not match for function {name}: it takes none.")
        return Aggregate(f"{function}()", kind)

    return build


def _ntile(name: str, arguments: Arguments) -> Aggregate:
    return Aggregate(f"NTILE({as_kind(name, _one(name, arguments), INT64).sql})", INT64)


def _neighbour(name: str, arguments: Arguments) -> Aggregate:
    values = arguments.values
    if not 1 <= len(values) <= 3:
        raise InvalidQueryError(f"Number of arguments does not match for function {name}: it takes 1 to 3.")
    kind, value, default = values[0].kind, values[0], ""
    if len(values) == 3:
        kind, (value, other) = together(f"function {name}", [values[0], values[2]])
        default = f", {other.sql}"
    offset = as_kind(name, values[1], INT64).sql if len(values) > 1 else "1"
    return Aggregate(f"{name}({value.sql}, {offset}{default})", kind)


def _edge(name: str, arguments: Arguments) -> Aggregate:
    value = _one(name, arguments)
    return Aggregate(f"{name}({value.sql}{_nulls(arguments)})", value.kind)


def _nth(name: str, arguments: Arguments) -> Aggregate:
    value, number = arguments.values
    return Aggregate(f"NTH_VALUE({value.sql}, {number.sql}{_nulls(arguments)})", value.kind)


def _nulls(arguments: Arguments) -> str:
    return " IGNORE NULLS" if arguments.nulls == "IGNORE" else ""


def _percentile(name: str, arguments: Arguments) -> Aggregate:
    if len(arguments.values) != 2 or arguments.nulls == "RESPECT":
        raise UnsupportedError(f"This form of {name} is not supported here.", f"Write {name}(value, percentile).")
    value, share = arguments.values
    if share.literal is None:
        raise InvalidQueryError(f"{name} takes its percentile as a literal.", "Write a number from 0 to 1.")
    if name == "PERCENTILE_DISC":
        return Aggregate(f"quantile_disc({value.sql}, {share.literal})", value.kind)
    value = as_kind(f"function {name}", value, FLOAT64)
    return Aggregate(f"quantile_cont({value.sql}, {share.literal})", FLOAT64)


WINDOW_ONLY: dict[str, Callable[[str, Arguments], Aggregate]] = {
    "ROW_NUMBER": _rank("ROW_NUMBER", INT64),
    "RANK": _rank("RANK", INT64),
    "DENSE_RANK": _rank("DENSE_RANK", INT64),
    "PERCENT_RANK": _rank("PERCENT_RANK", FLOAT64),
    "CUME_DIST": _rank("CUME_DIST", FLOAT64),
    "NTILE": _ntile,
    "LAG": _neighbour,
    "LEAD": _neighbour,
    "FIRST_VALUE": _edge,
    "LAST_VALUE": _edge,
    "NTH_VALUE": _nth,
    "PERCENTILE_CONT": _percentile,
    "PERCENTILE_DISC": _percentile,
}

REFUSED = {
    "APPROX_TOP_COUNT": "Its result is approximate in BigQuery. Use COUNT with GROUP BY, ORDER BY and LIMIT.",
    "APPROX_TOP_SUM": "Its result is approximate in BigQuery. Use SUM with GROUP BY, ORDER BY and LIMIT.",
}
"""Functions of BigQuery that have no equal here, and what to write instead."""
