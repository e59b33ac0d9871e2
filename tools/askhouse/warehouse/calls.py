"""Functions that need more than a template: those with parts, formats, patterns or arguments of any type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from ..errors import InvalidQueryError, UnsupportedError
from . import datetimes
from .casts import as_text, zoned
from .casts import cast as cast_value
from .functions import call
from .kinds import (
    BOOL,
    DATE,
    DATETIME,
    FLOAT64,
    INT64,
    NULL,
    NUMBERS,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    Value,
    array_of,
    as_kind,
    cast_to,
    no_signature,
    text,
    together,
)

if TYPE_CHECKING:
    from .expressions import Expressions

Nodes = Sequence[exp.Expr]
Special = Callable[["Expressions", str, Nodes], Value]


def _count(name: str, nodes: Nodes, low: int, high: int) -> None:
    if not low <= len(nodes) <= high:
        wanted = str(low) if low == high else f"{low} to {high}"
        raise InvalidQueryError(f"Number of arguments does not match for function {name}: it takes {wanted}.")


def _current(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 0, 1)
    zone = as_kind(f"function {name}", self.value(nodes[0]), STRING) if nodes else None
    now = zoned(self.scope.run.now.isoformat())
    if name == "CURRENT_TIMESTAMP":
        return now
    kind = {"CURRENT_DATE": DATE, "CURRENT_DATETIME": DATETIME, "CURRENT_TIME": TIME}[name]
    return cast_value(datetimes.in_zone(now, zone), kind)


def _truncate(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 3)
    values = [self.value(nodes[0]), *self.values(nodes[2:])]
    return datetimes.truncate(name, values, self.part(nodes[1]))


def _shift(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 2)
    amount, part = self.interval(nodes[1])
    return datetimes.shift(name, self.value(nodes[0]), amount, part)


def _difference(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 3, 3)
    return datetimes.difference(name, self.value(nodes[0]), self.value(nodes[1]), self.part(nodes[2]))


def _last_day(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 1, 2)
    return datetimes.last_day(self.value(nodes[0]), self.part(nodes[1]) if len(nodes) > 1 else "MONTH")


def _date_array(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 3)
    amount, part = self.interval(nodes[2]) if len(nodes) > 2 else (None, "DAY")
    return datetimes.date_array(self.value(nodes[0]), self.value(nodes[1]), amount, part)


def _format_moment(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 3 if name == "FORMAT_TIMESTAMP" else 2)
    pattern, value, *zone = self.values(nodes)
    return datetimes.format_moment(name, pattern, value, as_kind(name, zone[0], STRING) if zone else None)


def _parse_moment(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 2)
    return datetimes.parse_moment(name, *self.values(nodes))


def _converted(self: Expressions, name: str, nodes: Nodes) -> Value:
    """DATE, DATETIME, TIMESTAMP, TIME and STRING of one value: a cast where the table has no form of it."""
    values = self.values(nodes)
    if len(values) == 1:
        kind = {"DATE": DATE, "DATETIME": DATETIME, "TIMESTAMP": TIMESTAMP, "TIME": TIME, "STRING": STRING}[name]
        if kind == STRING and values[0].kind.name not in ("DATE", "DATETIME", "TIMESTAMP", "TIME"):
            raise no_signature(f"function {name}", values)
        return cast_value(values[0], kind)
    if name in ("TIMESTAMP", "DATETIME") and len(values) == 2 and values[1].kind == STRING:
        first = values[0]
        if first.kind == DATE or isinstance(first.literal, str):
            values[0] = cast_value(first, DATETIME)
    return call(name, values)


def _coalesce(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2 if name == "IFNULL" else 1, 2 if name == "IFNULL" else 1000)
    kind, values = together(f"function {name}", self.values(nodes))
    return Value(f"coalesce({', '.join(value.sql for value in values)})", kind)


def _nullif(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 2)
    kind, (a, b) = together("function NULLIF", self.values(nodes))
    return Value(f"nullif({a.sql}, {b.sql})", kind)


def _extreme(self: Expressions, name: str, nodes: Nodes) -> Value:
    """GREATEST and LEAST: NULL when any argument is."""
    _count(name, nodes, 1, 1000)
    kind, values = together(f"function {name}", self.values(nodes))
    listed = ", ".join(value.sql for value in values)
    missing = " OR ".join(f"{value.sql} IS NULL" for value in values)
    return Value(f"CASE WHEN {missing} THEN NULL ELSE {name.lower()}({listed}) END", kind)


def _concat(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 1, 1000)
    values = [as_kind("function CONCAT", value, STRING) for value in self.values(nodes)]
    return Value(f"({' || '.join(value.sql for value in values)})", STRING)


def _round(self: Expressions, name: str, nodes: Nodes) -> Value:
    """ROUND(NUMERIC, n) needs a literal n: DuckDB's type of the result depends on it."""
    values = self.values(nodes)
    if values and values[0].kind == NUMERIC and len(values) == 2:
        if not isinstance(values[1].literal, int):
            raise UnsupportedError("ROUND of NUMERIC needs its digits as a literal here.", "Write the number.")
        return cast_to(Value(f"round({values[0].sql}, {values[1].literal})", NUMERIC, None), NUMERIC)
    return call(name, values)


def _struct(self: Expressions, name: str, nodes: Nodes) -> Value:
    return self.struct(nodes)


def _array_concat(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 1, 1000)
    kind, values = together("function ARRAY_CONCAT", self.values(nodes))
    return Value(f"({' || '.join(value.sql for value in values)})", kind)


def _regexp_extract(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 2)
    value, pattern = (as_kind(f"function {name}", v, STRING) for v in self.values(nodes))
    if not isinstance(pattern.literal, str):
        raise UnsupportedError(f"{name} needs its pattern as a literal here.", "Write the pattern in the query.")
    groups = len(re.findall(r"(?<!\\)\((?!\?(?!P<|<))", pattern.literal))
    if groups > 1:
        raise InvalidQueryError(f"Regular expression with {groups} capturing groups.", "Use one, or (?:…).")
    if name == "REGEXP_EXTRACT_ALL":
        return Value(f"regexp_extract_all({value.sql}, {pattern.sql}, {groups})", array_of(STRING))
    found = f"regexp_matches({value.sql}, {pattern.sql})"
    return Value(f"CASE WHEN {found} THEN regexp_extract({value.sql}, {pattern.sql}, {groups}) END", STRING)


def _contains_substr(self: Expressions, name: str, nodes: Nodes) -> Value:
    _count(name, nodes, 2, 2)
    value, wanted = (as_kind(f"function {name}", v, STRING) for v in self.values(nodes))
    return Value(f"contains(lower(nfc_normalize({value.sql})), lower(nfc_normalize({wanted.sql})))", BOOL)


_DIRECTIVE = re.compile(r"%([-0+ ']*)(\d*)(?:\.(\d+))?([disfFeEgGxXtT%])")


def _format(self: Expressions, name: str, nodes: Nodes) -> Value:
    """FORMAT with a literal format string, one directive at a time."""
    _count(name, nodes, 1, 1000)
    pattern, *values = self.values(nodes)
    if not isinstance(pattern.literal, str):
        raise UnsupportedError("FORMAT needs its format as a literal here.", "Write the format in the query.")
    pieces, end = [], 0
    for match in _DIRECTIVE.finditer(pattern.literal):
        pieces.append(_between(pattern.literal[end : match.start()]))
        end = match.end()
        if match.group(4) == "%":
            pieces.append(text("%"))
        elif not values:
            raise InvalidQueryError("Too few arguments to FORMAT for its format.", "Add one for each directive.")
        else:
            pieces.append(_directive(match, values.pop(0)))
    pieces.append(_between(pattern.literal[end:]))
    if values:
        raise InvalidQueryError("Too many arguments to FORMAT for its format.", "Remove those without a directive.")
    return Value(f"({' || '.join(pieces)})", STRING)


def _between(plain: str) -> str:
    if "%" in plain:
        raise UnsupportedError(f"The format {plain!r} is not supported here.", "Use %d, %s, %t, %f or %%.")
    return text(plain)


def _directive(match: re.Match[str], value: Value) -> str:
    flags, width, _, letter = match.groups()
    if letter in "tT" or letter == "s":
        if letter == "T" or (letter == "s" and value.kind not in (STRING, NULL)) or "'" in flags:
            raise no_signature(f"function FORMAT with %{letter}", [value])
        shown = Value(f"bq_float_shown({value.sql})", STRING) if value.kind == FLOAT64 else as_text(value)
        return shown.sql if not width else f"printf({text(f'%{flags}{width}s')}, {shown.sql})"
    whole = letter in "dixX"
    if value.kind.name not in NUMBERS or (whole and value.kind != INT64):
        raise no_signature(f"function FORMAT with %{letter}", [value])
    value = cast_to(value, INT64 if whole else FLOAT64) if value.kind != NUMERIC else cast_value(value, FLOAT64)
    if "'" not in flags:
        return f"printf({text(match.group().replace('i', 'd'))}, {value.sql})"
    if width or flags != "'" or letter not in "dif":
        raise UnsupportedError(f"The format {match.group()} is not supported here.", "Leave out the width.")
    digits = "" if whole else f".{match.group(3) or 6}f"
    return f"format({text('{:,' + digits + '}')}, {value.sql})"


_DATE_NAMES = ("DATE", "DATETIME", "TIMESTAMP", "TIME")

SPECIAL: Mapping[str, Special] = {
    **{f"CURRENT_{kind}": _current for kind in _DATE_NAMES},
    **{f"{kind}_TRUNC": _truncate for kind in ("DATE", "DATETIME", "TIMESTAMP")},
    **{f"{kind}_{way}": _shift for kind in _DATE_NAMES for way in ("ADD", "SUB")},
    **{f"{kind}_DIFF": _difference for kind in _DATE_NAMES},
    **{f"FORMAT_{kind}": _format_moment for kind in _DATE_NAMES},
    **{f"PARSE_{kind}": _parse_moment for kind in ("DATE", "DATETIME", "TIMESTAMP")},
    **dict.fromkeys((*_DATE_NAMES, "STRING"), _converted),
    "LAST_DAY": _last_day,
    "GENERATE_DATE_ARRAY": _date_array,
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NULLIF": _nullif,
    "GREATEST": _extreme,
    "LEAST": _extreme,
    "CONCAT": _concat,
    "ROUND": _round,
    "STRUCT": _struct,
    "ARRAY_CONCAT": _array_concat,
    "REGEXP_EXTRACT": _regexp_extract,
    "REGEXP_SUBSTR": _regexp_extract,
    "REGEXP_EXTRACT_ALL": _regexp_extract,
    "CONTAINS_SUBSTR": _contains_substr,
    "FORMAT": _format,
}
