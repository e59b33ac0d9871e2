"""Parts of a query in plain words. What has no plain words is shown as the SQL it is, so that it is never wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp


@dataclass(frozen=True)
class Names:
    """What the query around an expression knows.

    `tables`: what each alias of a table stands for; nothing where there is one table only and its name need not be
    said. `inner`: puts a query inside the expression in words, or gives nothing.
    """

    tables: Mapping[str, str]
    inner: Callable[[exp.Expr], str]


_COMPARED: Mapping[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.GT: ("is more than", "is not more than"),
    exp.GTE: ("is at least", "is not at least"),
    exp.LT: ("is less than", "is not less than"),
    exp.LTE: ("is at most", "is not at most"),
}
_COMPARED_TIMES: Mapping[type[exp.Expr], str] = {
    exp.GT: "after",
    exp.GTE: "from",
    exp.LT: "before",
    exp.LTE: "up to",
}
_AGGREGATES: Mapping[type[exp.Expr], str] = {
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Min: "lowest",
    exp.Max: "highest",
    exp.Stddev: "standard deviation of",
    exp.StddevSamp: "standard deviation of",
    exp.Variance: "variance of",
    exp.ApproxDistinct: "approximate number of distinct",
    exp.AnyValue: "any",
}
_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
}
_PLAIN = frozenset(" &-'/().,:")


def say(node: exp.Expr | None, names: Names) -> str:
    """An expression in plain words."""
    if node is None:
        return ""
    speak = _SPEAKERS.get(type(node))
    spoken = speak(node, names) if speak else None
    return spoken if spoken is not None else code(node)


def code(node: exp.Expr) -> str:
    """An expression as the SQL that it is."""
    sql = node.sql(dialect="bigquery", comments=False)
    return f"`` {sql} ``" if "`" in sql else f"`{sql}`"


def condition(node: exp.Expr, names: Names, *, negated: bool = False) -> str:
    """A condition in plain words."""
    if isinstance(node, exp.Paren):
        return condition(node.this, names, negated=negated)
    if isinstance(node, exp.Not):
        return condition(node.this, names, negated=not negated)
    if node.args.get("negate"):
        negated = not negated
    if isinstance(node, exp.And | exp.Or):
        return _connected(node, names, negated)
    speak = _CONDITIONS.get(type(node))
    spoken = speak(node, names, negated) if speak else None
    return spoken if spoken is not None else f"{'not ' if negated else ''}{say(node, names)}"


def moment(node: exp.Expr | None) -> datetime | None:
    """The moment that a literal of a date or time names."""
    if isinstance(node, exp.Cast | exp.TsOrDsToDate | exp.Date | exp.Timestamp | exp.Datetime):
        text = node.this
        if isinstance(text, exp.Literal) and text.is_string and not node.args.get("zone"):
            return parse_moment(text.name)
    if isinstance(node, exp.DateFromParts):
        parts = [node.args.get(part) for part in ("year", "month", "day")]
        if all(isinstance(part, exp.Literal) and part.is_int for part in parts):
            return parse_moment("{:04}-{:02}-{:02}".format(*(int(part.name) for part in parts if part)))
    return None


def parse_moment(text: str) -> datetime | None:
    """Read an ISO date or time. Zones are left out: they are shown as they are written."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return None
    return value if value.tzinfo is None or value.utcoffset() == timedelta(0) else None


def day(value: date) -> str:
    """A day as people write it."""
    return f"{value.day} {value:%B %Y}"


def _moment_words(value: datetime) -> str:
    return day(value) if (value.hour, value.minute, value.second) == (0, 0, 0) else f"{day(value)}, {value:%H:%M:%S}"


def _column(node: Any, names: Names) -> str:
    path = [part.name for part in node.parts]
    if len(path) > 1 and path[0] in names.tables:
        path = [names.tables[path[0]], *path[1:]]
    return ".".join(filter(None, path))


def _literal(node: Any, _: Names) -> str:
    if not node.is_string:
        return str(node.this)
    text = str(node.this)
    plain = text and text == text.strip() and all(c.isalnum() or c in _PLAIN for c in text)
    return text if plain and not _looks_like_number(text) else f'"{text}"'


def _looks_like_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _count(node: Any, names: Names) -> str:
    inner = node.this
    if isinstance(inner, exp.Star) or inner is None or isinstance(inner, exp.Literal):
        return "number of rows"
    if isinstance(inner, exp.Distinct):
        return f"number of distinct {' and '.join(say(part, names) for part in inner.expressions)}"
    return f"number of rows with {say(inner, names)}"


def _count_if(node: Any, names: Names) -> str:
    return f"number of rows where {condition(node.this, names)}"


def _aggregate(node: Any, names: Names) -> str | None:
    inner = node.this
    if isinstance(inner, exp.Distinct):
        return f"{_AGGREGATES[type(node)]} of the distinct {say(inner.expressions[0], names)}"
    if isinstance(inner, exp.Order | exp.HavingMax | exp.Limit | exp.IgnoreNulls):
        return None
    return f"{_AGGREGATES[type(node)]} {_grouped(inner, names)}"


def _grouped(node: exp.Expr, names: Names) -> str:
    """In brackets where the words alone would leave open what belongs together."""
    while isinstance(node, exp.Paren):
        node = node.this
    words = say(node, names)
    return f"({words})" if isinstance(node, exp.Binary | exp.CountIf) and not words.startswith("`") else words


def _arithmetic(node: Any, names: Names) -> str:
    return f"{_grouped(node.left, names)} {_SIGNS[type(node)]} {_grouped(node.right, names)}"


def _safe_divide(node: Any, names: Names) -> str:
    return f"{_grouped(node.this, names)} divided by {_grouped(node.expression, names)}"


def _truncated(node: Any, names: Names) -> str | None:
    unit = node.args.get("unit")
    name = unit.name.lower() if isinstance(unit, exp.Var | exp.Literal) else ""
    if name not in ("second", "minute", "hour", "day", "week", "isoweek", "month", "quarter", "year", "isoyear"):
        return None
    return None if node.args.get("zone") else f"{name} of {_subject(node.this, names)}"


def _extracted(node: Any, names: Names) -> str | None:
    part = node.this
    if not isinstance(part, exp.Var) or isinstance(node.expression, exp.AtTimeZone):
        return None
    word = {"dayofweek": "day of the week", "dayofyear": "day of the year"}.get(part.name.lower(), part.name.lower())
    return f"{word} of {say(node.expression, names)}"


def _cast(node: Any, names: Names) -> str | None:
    value = moment(node)
    if value is not None:
        return _moment_words(value)
    return f"day of {say(node.this, names)}" if node.to.is_type("date") else None


def _day_of(node: Any, names: Names) -> str | None:
    value = moment(node)
    if value is not None:
        return _moment_words(value)
    if node.args.get("zone") or node.args.get("expressions") or node.args.get("month"):
        return None
    return f"day of {say(node.this, names)}"


def _from_parts(node: Any, names: Names) -> str:
    value = moment(node)
    if value is not None:
        return _moment_words(value)
    year, month, day_ = (say(node.args.get(part), names) for part in ("year", "month", "day"))
    return f"the date ({year}, {month}, {day_})"


def _timestamp(node: Any, _: Names) -> str | None:
    value = moment(node)
    return _moment_words(value) if value else None


def _shifted(direction: str) -> Callable[[Any, Names], str | None]:
    def words(node: Any, names: Names) -> str | None:
        unit, amount = node.args.get("unit"), node.expression
        if isinstance(amount, exp.Interval):
            unit, amount = amount.args.get("unit"), amount.this
        if not isinstance(amount, exp.Literal) or not isinstance(unit, exp.Var):
            return None
        plural = "" if amount.name == "1" else "s"
        return f"{amount.name} {unit.name.lower()}{plural} {direction} {say(node.this, names)}"

    return words


def _subquery(node: Any, names: Names) -> str | None:
    inner = names.inner(node.this)
    return f"({inner})" if inner else None


def _coalesce(node: Any, names: Names) -> str | None:
    if len(node.expressions) != 1 or not isinstance(node.expressions[0], exp.Literal):
        return None
    return f"{_grouped(node.this, names)} ({say(node.expressions[0], names)} where it is missing)"


def _comparison(node: Any, names: Names, negated: bool) -> str:
    value = moment(node.right)
    if value is not None and type(node) in _COMPARED_TIMES and not negated:
        return f"{_subject(node.left, names)} is {_COMPARED_TIMES[type(node)]} {_moment_words(value)}"
    verb = _COMPARED[type(node)][negated]
    return f"{say(node.left, names)} {verb} {_empty_or(node.right, names)}"


def _empty_or(node: exp.Expr, names: Names) -> str:
    return "empty text" if isinstance(node, exp.Literal) and node.is_string and not node.name else say(node, names)


def _subject(node: exp.Expr, names: Names) -> str:
    return say(
        node.this if isinstance(node, exp.Date | exp.TsOrDsToDate) and not node.args.get("zone") else node, names
    )


def _is(node: Any, names: Names, negated: bool) -> str | None:
    if isinstance(node.right, exp.Null):
        return f"{say(node.left, names)} is {'known' if negated else 'missing'}"
    if isinstance(node.right, exp.Boolean):
        return f"{say(node.left, names)} is {'not ' if negated else ''}{'true' if node.right.this else 'false'}"
    return None


def _in(node: Any, names: Names, negated: bool) -> str | None:
    if node.args.get("query") is not None:
        inner = names.inner(node.args["query"].unnest())
        return f"{say(node.this, names)} is {'not ' if negated else ''}among ({inner})" if inner else None
    if not node.expressions or node.args.get("unnest"):
        return None
    values = [_empty_or(value, names) for value in node.expressions]
    if len(values) == 1:
        return f"{say(node.this, names)} is {'not ' if negated else ''}{values[0]}"
    listed = f"{', '.join(values[:-1])} {'nor' if negated else 'or'} {values[-1]}"
    return f"{say(node.this, names)} is {'neither ' if negated else ''}{listed}"


def _between(node: Any, names: Names, negated: bool) -> str:
    low, high = say(node.args["low"], names), say(node.args["high"], names)
    return f"{say(node.this, names)} is {'not ' if negated else ''}between {low} and {high}"


def _like(node: Any, names: Names, negated: bool) -> str | None:
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return None
    text = pattern.name
    core = text.strip("%")
    if not core or "%" in core or "_" in core or "\\" in core:
        return None
    verbs = {
        (True, True): ("contains", "does not contain"),
        (False, True): ("begins with", "does not begin with"),
        (True, False): ("ends with", "does not end with"),
        (False, False): ("is", "is not"),
    }
    return f'{say(node.this, names)} {verbs[text.startswith("%"), text.endswith("%")][negated]} "{core}"'


def _starts_with(node: Any, names: Names, negated: bool) -> str:
    return f"{say(node.this, names)} {'does not begin' if negated else 'begins'} with {say(node.expression, names)}"


def _connected(node: exp.Expr, names: Names, negated: bool) -> str:
    if negated:
        return f"not {condition(node, names)}"
    word = "and" if isinstance(node, exp.And) else "or"
    parts = [condition(part, names) for part in node.flatten()]
    return f"({f' {word} '.join(parts)})"


_SPEAKERS: Mapping[type[exp.Expr], Callable[[Any, Names], str | None]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Count: _count,
    exp.CountIf: _count_if,
    **dict.fromkeys(_AGGREGATES, _aggregate),
    **dict.fromkeys(_SIGNS, _arithmetic),
    exp.SafeDivide: _safe_divide,
    exp.DateTrunc: _truncated,
    exp.TimestampTrunc: _truncated,
    exp.DatetimeTrunc: _truncated,
    exp.Extract: _extracted,
    exp.Cast: _cast,
    exp.Date: _day_of,
    exp.TsOrDsToDate: _day_of,
    exp.DateFromParts: _from_parts,
    exp.Timestamp: _timestamp,
    exp.Datetime: _timestamp,
    exp.DateSub: _shifted("before"),
    exp.DateAdd: _shifted("after"),
    exp.TimestampSub: _shifted("before"),
    exp.TimestampAdd: _shifted("after"),
    exp.Subquery: _subquery,
    exp.Coalesce: _coalesce,
    exp.CurrentDate: lambda node, _: None if node.this else "today",
    exp.CurrentTimestamp: lambda node, _: None if node.this else "now",
    exp.Paren: lambda node, names: _grouped(node, names),
    exp.Alias: lambda node, names: say(node.this, names),
    exp.Neg: lambda node, names: f"-{_grouped(node.this, names)}",
    exp.Null: lambda _, __: "NULL",
    exp.Boolean: lambda node, _: "true" if node.this else "false",
    exp.Star: lambda node, _: None if node.args.get("except_") or node.args.get("replace") else "all columns",
    exp.Round: lambda node, names: f"rounded {say(node.this, names)}",
    exp.Lower: lambda node, names: f"{say(node.this, names)} in lower case",
}
_CONDITIONS: Mapping[type[exp.Expr], Callable[[Any, Names, bool], str | None]] = {
    **dict.fromkeys(_COMPARED, _comparison),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.StartsWith: _starts_with,
}
