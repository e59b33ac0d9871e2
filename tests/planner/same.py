"""Whether two results say the same: every column of the gold result is found, with the same rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice, product
from typing import Any


def cell(value: Any) -> Any:
    """A cell in a form that compares equal across types: six significant digits, ISO dates."""
    if isinstance(value, bool | int | float | Decimal):
        number = float(value)
        return None if math.isnan(number) else float(f"{number:.6g}")
    if isinstance(value, datetime):
        return value.date().isoformat() if (value.hour, value.minute, value.second) == (0, 0, 0) else value.isoformat()
    return value.isoformat() if isinstance(value, date) else value


def same(gold: Sequence[Sequence[Any]], got: Sequence[Sequence[Any]], *, ordered: bool = False) -> bool:
    """Whether the gold columns are among the columns got, row by row; order counts only when asked."""
    wanted = [tuple(cell(value) for value in row) for row in gold]
    found = [tuple(cell(value) for value in row) for row in got]
    if not wanted or not found:
        return not wanted and not found
    if len(wanted) != len(found):
        return False
    columns = list(zip(*found, strict=True))
    choices = [
        [place for place, column in enumerate(columns) if Counter(map(repr, column)) == Counter(map(repr, one))]
        for one in zip(*wanted, strict=True)
    ]
    for picked in islice(product(*choices), 500):
        rows = [repr(tuple(row[place] for place in picked)) for row in found]
        if rows == list(map(repr, wanted)) if ordered else Counter(rows) == Counter(map(repr, wanted)):
            return True
    return False
