"""Functions of days and moments that take a part such as MONTH, or a format such as '%Y-%m'."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..errors import InvalidQueryError, UnsupportedError
from .kinds import (
    DATE,
    DATETIME,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Kind,
    Value,
    array_of,
    as_kind,
    cast_to,
    fits,
    no_signature,
    text,
)

DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")
_LONG = {"DAY": 1, "WEEK": 7, "MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SHORT_MICROS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000}
_MICROS = _SHORT_MICROS | {"HOUR": 3_600_000_000, "DAY": 86_400_000_000}


def week_day(part: str) -> int | None:
    """The first day of the week of WEEK, WEEK(MONDAY) or ISOWEEK, 0 for Sunday; None for other parts."""
    if part == "WEEK":
        return 0
    if part == "ISOWEEK":
        return 1
    match = re.fullmatch(r"WEEK\((\w+)\)", part)
    return DAYS.index(match.group(1)) if match and match.group(1) in DAYS else None


def _moment(what: str, value: Value, kinds: Sequence[Kind]) -> Value:
    """The value as the first of the kinds that it fits."""
    for kind in kinds:
        if value.kind == kind:
            return value
    for kind in kinds:
        if fits(value, kind):
            return cast_to(value, kind)
    raise no_signature(what, [value])


def in_zone(value: Value, zone: Value | None = None) -> Value:
    """A TIMESTAMP as the DATETIME that clocks show in a zone, UTC by default; a DATE or DATETIME unchanged."""
    if value.kind != TIMESTAMP:
        return value
    return Value(f"({value.sql} AT TIME ZONE {zone.sql})" if zone else f"bq_utc({value.sql})", DATETIME)


def _back(sql: str, kind: Kind, zone: Value | None = None) -> Value:
    if kind == TIMESTAMP:
        return Value(f"({sql} AT TIME ZONE {zone.sql})" if zone else f"bq_moment({sql})", TIMESTAMP)
    return Value(f"CAST({sql} AS DATE)" if kind == DATE else sql, kind)


def truncate(name: str, arguments: Sequence[Value], part: str) -> Value:
    """DATE_TRUNC, DATETIME_TRUNC and TIMESTAMP_TRUNC: the type of the argument stays."""
    value = _moment(f"function {name}", arguments[0], _own(name))
    zone = as_kind(f"function {name}", arguments[1], STRING) if len(arguments) > 1 else None
    local = in_zone(value, zone)
    start = week_day(part)
    if start is not None:
        sql = f"bq_week_start({local.sql}, {start})"
    elif part == "ISOYEAR":
        sql = f"bq_isoyear_start({local.sql})"
    elif part in ("DAY", "MONTH", "QUARTER", "YEAR") or (part in _MICROS and local.kind != DATE):
        sql = f"date_trunc('{part.lower()}', {local.sql})"
    else:
        raise _no_part(name, part)
    if value.kind != DATE and not sql.startswith("date_trunc"):
        sql = f"CAST({sql} AS TIMESTAMP)"
    return _back(sql, value.kind, zone)


def _own(name: str) -> tuple[Kind, ...]:
    """The types that a function takes; a text literal becomes the first of them."""
    first = {"DATE": DATE, "DATETIME": DATETIME, "TIMESTAMP": TIMESTAMP, "TIME": TIME}[name.split("_")[0]]
    return (first,) if first == TIME else (first, *(kind for kind in (DATE, DATETIME, TIMESTAMP) if kind != first))


def _no_part(name: str, part: str) -> InvalidQueryError:
    return InvalidQueryError(f"{name} does not support the {part} date part.", "Use another part.")


def shift(name: str, value: Value, amount: Value, part: str) -> Value:
    """DATE_ADD, DATE_SUB and their kin: the type of the first argument stays."""
    value = _moment(f"function {name}", value, _own(name))
    count = as_kind("INTERVAL", amount, INT64).sql
    sign = "-" if name.endswith("_SUB") else "+"
    if part in _LONG and value.kind != TIME:
        if value.kind == TIMESTAMP and part != "DAY":
            raise _no_part(name, part)
        unit = "to_days" if part in ("DAY", "WEEK") else "to_months"
        step = f"{unit}(CAST({count} * {_LONG[part]} AS INTEGER))"
    elif part in _MICROS and value.kind != DATE and part != "DAY":
        step = f"to_microseconds({count} * {_MICROS[part]})"
    else:
        raise _no_part(name, part)
    if value.kind == TIMESTAMP:
        return _back(f"({in_zone(value).sql} {sign} {step})", TIMESTAMP)
    return _back(f"({value.sql} {sign} {step})", value.kind)


def interval(amount: Value, part: str) -> str:
    """An INTERVAL as DuckDB writes it."""
    count = as_kind("INTERVAL", amount, INT64).sql
    if part in _LONG:
        unit = "to_days" if part in ("DAY", "WEEK") else "to_months"
        return f"{unit}(CAST({count} * {_LONG[part]} AS INTEGER))"
    if part in _MICROS:
        return f"to_microseconds({count} * {_MICROS[part]})"
    raise _no_part("INTERVAL", part)


def difference(name: str, first: Value, second: Value, part: str) -> Value:
    """DATE_DIFF and DATETIME_DIFF count the boundaries of a part, TIMESTAMP_DIFF whole spans of time."""
    kinds = _own(name)
    exact = [value.kind for value in (first, second) if value.kind in kinds]
    kind = TIMESTAMP if TIMESTAMP in exact else DATETIME if DATETIME in exact else exact[0] if exact else kinds[0]
    a, b = (as_kind(f"function {name}", value, kind) for value in (first, second))
    if kind == TIMESTAMP:
        if part not in _MICROS:
            raise _no_part(name, part)
        return Value(f"((epoch_us({a.sql}) - epoch_us({b.sql})) // {_MICROS[part]})", INT64)
    if kind == TIME and part not in _SHORT_MICROS and part != "HOUR":
        raise _no_part(name, part)
    start = week_day(part)
    if start is not None:
        return Value(f"((bq_week_start({a.sql}, {start}) - bq_week_start({b.sql}, {start})) // 7)", INT64)
    if part == "ISOYEAR":
        return Value(f"(isoyear({a.sql}) - isoyear({b.sql}))", INT64)
    if part in ("DAY", "MONTH", "QUARTER", "YEAR") or (part in _MICROS and kind != DATE):
        return Value(f"date_diff('{part.lower()}', {b.sql}, {a.sql})", INT64)
    raise _no_part(name, part)


_FIELDS = {
    "MICROSECOND": "microsecond({0}) % 1000000",
    "MILLISECOND": "millisecond({0}) % 1000",
    "SECOND": "second({0})",
    "MINUTE": "minute({0})",
    "HOUR": "hour({0})",
    "DAYOFWEEK": "dayofweek({0}) + 1",
    "DAY": "day({0})",
    "DAYOFYEAR": "dayofyear({0})",
    "ISOWEEK": "weekofyear({0})",
    "MONTH": "month({0})",
    "QUARTER": "quarter({0})",
    "YEAR": "year({0})",
    "ISOYEAR": "isoyear({0})",
}
_OF_TIME = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")


def extract(value: Value, part: str, zone: Value | None = None) -> Value:
    """EXTRACT(part FROM value [AT TIME ZONE zone])."""
    if value.kind not in (DATE, DATETIME, TIMESTAMP, TIME):
        raise no_signature(f"EXTRACT({part} FROM …)", [value])
    if zone is not None and value.kind != TIMESTAMP:
        raise InvalidQueryError("EXTRACT takes a time zone for a TIMESTAMP only.", "Remove AT TIME ZONE.")
    local = in_zone(value, zone)
    kinds = {"DATE": DATE, "TIME": TIME, "DATETIME": DATETIME}
    if part in kinds and local.kind == DATETIME:
        return Value(local.sql if part == "DATETIME" else f"CAST({local.sql} AS {part})", kinds[part])
    start = week_day(part)
    if start is not None and part != "ISOWEEK" and value.kind != TIME:
        return Value(f"CAST(bq_week({local.sql}, {start}) AS BIGINT)", INT64)
    clock = part in _OF_TIME
    if part not in _FIELDS or (value.kind == DATE and clock) or (value.kind == TIME and not clock):
        raise _no_part("EXTRACT", part)
    return Value(f"CAST({_FIELDS[part].format(local.sql)} AS BIGINT)", INT64)


def last_day(value: Value, part: str) -> Value:
    """LAST_DAY(date [, part])."""
    day = in_zone(_moment("function LAST_DAY", value, (DATE, DATETIME)))
    start = week_day(part)
    if start is not None:
        return Value(f"(bq_week_start({day.sql}, {start}) + 6)", DATE)
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(part)
    if months is None:
        raise _no_part("LAST_DAY", part)
    sql = f"CAST(date_trunc('{part.lower()}', {day.sql}) + to_months({months}) - to_days(1) AS DATE)"
    return Value(sql, DATE)


def date_array(first: Value, last: Value, amount: Value | None, part: str) -> Value:
    """GENERATE_DATE_ARRAY(first, last [, INTERVAL n part])."""
    a, b = (as_kind("function GENERATE_DATE_ARRAY", value, DATE) for value in (first, last))
    step = interval(amount, part) if amount else "to_days(1)"
    if part not in _LONG:
        raise _no_part("GENERATE_DATE_ARRAY", part)
    sql = f"CAST(generate_series(CAST({a.sql} AS TIMESTAMP), CAST({b.sql} AS TIMESTAMP), {step}) AS DATE[])"
    return Value(sql, array_of(DATE))


# What each format element becomes: DuckDB's own, or an expression of the moment.
_SAME = set("aAbBdHIjmMSpuwyY") | {"%"}
_OTHER: dict[str, str | Callable[[str], str]] = {
    "F": "%Y-%m-%d",
    "T": "%H:%M:%S",
    "R": "%H:%M",
    "D": "%m/%d/%y",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
    "h": "%b",
    "G": "%G",
    "V": "%V",
    "U": "%U",
    "W": "%W",
    "E4Y": "%Y",
    "n": "\n",
    "t": "\t",
    "e": lambda d: f"lpad(CAST(day({d}) AS VARCHAR), 2, ' ')",
    "k": lambda d: f"lpad(CAST(hour({d}) AS VARCHAR), 2, ' ')",
    "l": lambda d: f"lpad(strftime({d}, '%-I'), 2, ' ')",
    "Q": lambda d: f"CAST(quarter({d}) AS VARCHAR)",
    "P": lambda d: f"lower(strftime({d}, '%p'))",
    "C": lambda d: f"lpad(CAST(year({d}) // 100 AS VARCHAR), 2, '0')",
    "g": lambda d: f"lpad(CAST(isoyear({d}) % 100 AS VARCHAR), 2, '0')",
    "E3S": "%S.%g",
    "E6S": "%S.%f",
}
_ELEMENT = re.compile(r"%(E\*S|E\dS|E4Y|Ez|.)", re.DOTALL)
_CLOCK = set("HIMSpRTXklP") | {"E3S", "E6S"}


def format_moment(name: str, pattern: Value, value: Value, zone: Value | None = None) -> Value:
    """FORMAT_DATE, FORMAT_DATETIME, FORMAT_TIMESTAMP and FORMAT_TIME."""
    written = _literal_pattern(name, pattern)
    own = _own(name.removeprefix("FORMAT_"))[0]
    value = _moment(f"function {name}", value, _own(name.removeprefix("FORMAT_")))
    local = in_zone(value, zone)
    moment = f"(DATE '1970-01-01' + {local.sql})" if own == TIME else local.sql
    pieces: list[str] = []
    plain = ""
    for part in re.split(r"(%(?:E\*S|E\dS|E4Y|Ez|.))", written, flags=re.DOTALL):
        made = _format_element(name, part, local.kind, zone) if part.startswith("%") else part
        if isinstance(made, str):
            plain += made
            continue
        pieces += [f"strftime({moment}, {text(plain)})"] if plain else []
        pieces.append(made(moment))
        plain = ""
    if plain or not pieces:
        pieces.append(f"strftime({moment}, {text(plain)})")
    return Value(f"({' || '.join(pieces)})", STRING)


def _format_element(name: str, part: str, kind: Kind, zone: Value | None) -> str | Callable[[str], str]:
    element = part[1:]
    if element in _CLOCK and kind == DATE:
        raise UnsupportedError(f"{name} with {part} on a DATE is not supported here.", "Cast it to DATETIME first.")
    if element in _SAME:
        return part
    if element in _OTHER:
        return _OTHER[element]
    if zone is None and element in ("Z", "z", "Ez") and name == "FORMAT_TIMESTAMP":
        return {"Z": "UTC", "z": "+0000", "Ez": "+00:00"}[element]
    raise UnsupportedError(
        f"The format element {part} is not supported here.", "Use %Y, %m, %d, %H, %M, %S and the like."
    )


def _literal_pattern(name: str, pattern: Value) -> str:
    if not isinstance(pattern.literal, str):
        raise UnsupportedError(f"{name} needs its format as a literal here.", "Write the format in the query.")
    return pattern.literal


def parse_moment(name: str, pattern: Value, value: Value) -> Value:
    """PARSE_DATE, PARSE_DATETIME and PARSE_TIMESTAMP."""
    written = _literal_pattern(name, pattern)
    for part in _ELEMENT.findall(written):
        if part not in _SAME and not isinstance(_OTHER.get(part), str):
            raise UnsupportedError(f"The format element %{part} is not supported here.", "Use %Y, %m, %d, %H, %M, %S.")
    written = _ELEMENT.sub(lambda m: m.group() if m.group(1) in _SAME else str(_OTHER[m.group(1)]), written)
    source = as_kind(f"function {name}", value, STRING).sql
    if "%Y" not in written and "%y" not in written:
        raise UnsupportedError(f"{name} without a year is not supported here.", "Add %Y to the format.")
    sql = f"strptime({source}, {text(written)})"
    return _back(sql, {"PARSE_DATE": DATE, "PARSE_DATETIME": DATETIME, "PARSE_TIMESTAMP": TIMESTAMP}[name])
