"""One sample warehouse for all tests of this folder: it is immutable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse


@pytest.fixture(scope="session")
def warehouse(sample_home: Path) -> Iterator[LocalWarehouse]:
    """The embedded warehouse over the samples."""
    opened = open_warehouse(sample_home)
    yield opened
    opened.close()
