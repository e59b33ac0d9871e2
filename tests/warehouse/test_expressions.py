"""Each expression has BigQuery's value, or is refused; never another value."""

from __future__ import annotations

import datetime
import importlib.util
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from askhouse.errors import AskhouseError, InvalidQueryError, UnsupportedError
from askhouse.warehouse.duckdb import LocalWarehouse

_spec = importlib.util.spec_from_file_location("expressions", Path(__file__).with_name("expressions.py"))
assert _spec is not None and _spec.loader is not None
_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_table)

NOW = datetime.datetime(2025, 12, 31, 20, tzinfo=datetime.UTC)


def shown(value: Any) -> str:
    """A cell as the table writes it: its GoogleSQL type is part of the text."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case Decimal():
            return f"NUMERIC {value.normalize()}"
        case datetime.datetime():
            return f"{'TIMESTAMP' if value.tzinfo else 'DATETIME'} {value}"
        case datetime.date():
            return f"DATE {value}"
        case list():
            return f"[{', '.join(shown(item) for item in value)}]"
    return repr(value)


def outcome(warehouse: LocalWarehouse, expression: str) -> str | AskhouseError:
    try:
        return shown(warehouse.query(f"SELECT {expression} AS x", today=NOW).rows[0][0])
    except (InvalidQueryError, UnsupportedError) as error:
        return error


@pytest.mark.parametrize(("expression", "wanted"), _table.cases())
def test_an_expression_has_the_value_of_bigquery(warehouse: LocalWarehouse, expression: str, wanted: str) -> None:
    got = outcome(warehouse, expression)
    if wanted.startswith("ERROR"):
        assert isinstance(got, InvalidQueryError), got
        assert wanted.removeprefix("ERROR ") in got.message
    elif wanted == "UNSUPPORTED":
        assert isinstance(got, UnsupportedError), got
    else:
        assert got == wanted


def test_the_table_is_large_and_says_nothing_twice() -> None:
    expressions = [expression for expression, _ in _table.cases()]
    assert len(expressions) == len(set(expressions)) > 200
