"""CAST and SAFE_CAST as GoogleSQL has them."""

from __future__ import annotations

from dataclasses import replace

from ..errors import InvalidQueryError, UnsupportedError
from .datetimes import in_zone
from .kinds import BOOL, DATE, DATETIME, NULL, NUMERIC, STRING, TIMESTAMP, Kind, Value, duckdb_type, fits, literal_of

# {0} is the value; where SAFE_CAST needs another form it is the second one.
_CASTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("INT64", "STRING"): ("CAST({0} AS VARCHAR)",),
    ("FLOAT64", "STRING"): ("bq_float_text({0})",),
    ("NUMERIC", "STRING"): ("bq_numeric_text({0})",),
    ("BOOL", "STRING"): ("CAST({0} AS VARCHAR)",),
    ("DATE", "STRING"): ("CAST({0} AS VARCHAR)",),
    ("TIME", "STRING"): ("bq_time_text({0})",),
    ("DATETIME", "STRING"): ("bq_moment_text({0})",),
    ("BYTES", "STRING"): ("decode({0})",),
    ("STRING", "BYTES"): ("encode({0})",),
    ("FLOAT64", "INT64"): ("bq_whole({0})", "TRY_CAST(round({0}) AS BIGINT)"),
    ("NUMERIC", "INT64"): ("CAST({0} AS BIGINT)", "TRY_CAST({0} AS BIGINT)"),
    ("BOOL", "INT64"): ("CAST({0} AS BIGINT)",),
    ("STRING", "INT64"): ("bq_string_to_int({0})", "bq_safe_string_to_int({0})"),
    ("STRING", "FLOAT64"): ("CAST({0} AS DOUBLE)", "TRY_CAST({0} AS DOUBLE)"),
    ("INT64", "FLOAT64"): ("CAST({0} AS DOUBLE)",),
    ("NUMERIC", "FLOAT64"): ("CAST({0} AS DOUBLE)",),
    ("INT64", "NUMERIC"): ("CAST({0} AS DECIMAL(38, 9))",),
    ("FLOAT64", "NUMERIC"): ("CAST({0} AS DECIMAL(38, 9))", "TRY_CAST({0} AS DECIMAL(38, 9))"),
    ("STRING", "NUMERIC"): ("CAST({0} AS DECIMAL(38, 9))", "TRY_CAST({0} AS DECIMAL(38, 9))"),
    ("INT64", "BOOL"): ("CAST({0} AS BOOLEAN)",),
    ("STRING", "BOOL"): ("bq_string_to_bool({0})", "bq_safe_string_to_bool({0})"),
    ("STRING", "DATE"): ("CAST({0} AS DATE)", "TRY_CAST({0} AS DATE)"),
    ("STRING", "DATETIME"): ("CAST({0} AS TIMESTAMP)", "TRY_CAST({0} AS TIMESTAMP)"),
    ("STRING", "TIMESTAMP"): ("CAST({0} AS TIMESTAMPTZ)", "TRY_CAST({0} AS TIMESTAMPTZ)"),
    ("STRING", "TIME"): ("CAST({0} AS TIME)", "TRY_CAST({0} AS TIME)"),
    ("DATE", "DATETIME"): ("CAST({0} AS TIMESTAMP)",),
    ("DATE", "TIMESTAMP"): ("bq_moment(CAST({0} AS TIMESTAMP))",),
    ("DATETIME", "DATE"): ("CAST({0} AS DATE)",),
    ("DATETIME", "TIME"): ("CAST({0} AS TIME)",),
    ("DATETIME", "TIMESTAMP"): ("bq_moment({0})",),
    ("TIMESTAMP", "DATE"): ("CAST(bq_utc({0}) AS DATE)",),
    ("TIMESTAMP", "TIME"): ("CAST(bq_utc({0}) AS TIME)",),
    ("TIMESTAMP", "DATETIME"): ("bq_utc({0})",),
}


def cast(value: Value, kind: Kind, *, safe: bool = False) -> Value:
    """CAST(value AS kind), or SAFE_CAST, which gives NULL where CAST fails."""
    if value.kind == kind:
        return replace(value, literal=None)
    if value.kind == NULL:
        return Value(f"CAST(NULL AS {duckdb_type(kind)})", kind)
    if value.kind == TIMESTAMP and kind == STRING:
        return Value(f"(bq_moment_text({in_zone(value).sql}) || '+00')", STRING)
    if not safe and isinstance(value.literal, str) and kind in (TIMESTAMP, DATE, DATETIME):
        return literal_of(value.literal, kind)
    if value.literal is not None and kind == NUMERIC and not safe:
        return Value(f"CAST('{value.literal}' AS {duckdb_type(kind)})", kind)
    forms = _CASTS.get((str(value.kind), str(kind)))
    if forms is not None:
        return Value(forms[-1 if safe else 0].format(value.sql), kind)
    if "BIGNUMERIC" in (value.kind.name, kind.name) or kind.name in ("JSON", "GEOGRAPHY", "INTERVAL", "RANGE"):
        raise UnsupportedError(f"CAST from {value.kind} to {kind} is not supported here.", "Use NUMERIC or FLOAT64.")
    if kind.element is not None and fits(value, kind):
        return Value(f"CAST({value.sql} AS {duckdb_type(kind)})", kind)
    if kind.name == "STRUCT" and value.kind.name == "STRUCT" and len(kind.fields) == len(value.kind.fields):
        return _struct(value, kind)
    raise InvalidQueryError(f"Invalid cast from {value.kind} to {kind}.", "Cast to a type that fits.")


def _struct(value: Value, kind: Kind) -> Value:
    for (_, have), (_, want) in zip(value.kind.fields, kind.fields, strict=True):
        if not fits(Value("", have), want):
            raise InvalidQueryError(f"Invalid cast from {value.kind} to {kind}.", "Cast the fields one by one.")
    parts = ", ".join(
        f"{_name(name)} := CAST(struct_extract({value.sql}, {position}) AS {duckdb_type(inner)})"
        for position, (name, inner) in enumerate(kind.fields, 1)
    )
    return Value(f"struct_pack({parts})", kind)


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def as_text(value: Value) -> Value:
    """The value as FORMAT('%t', value) prints it."""
    return value if value.kind == STRING else cast(replace(value, literal=None), STRING)


def as_bool(what: str, value: Value) -> Value:
    """The value where a condition is wanted. Raises InvalidQueryError."""
    if value.kind not in (BOOL, NULL):
        raise InvalidQueryError(
            f"{what} should return type BOOL, but returns {value.kind}.", "Compare it to something."
        )
    return value


def zoned(moment: str) -> Value:
    """A TIMESTAMP from its ISO text."""
    return Value(f"CAST('{moment}' AS TIMESTAMPTZ)", TIMESTAMP)
