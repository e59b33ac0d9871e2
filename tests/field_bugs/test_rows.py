"""Faults that users of systems like this one met, by number: each is a test here, or says why it is not."""

from __future__ import annotations

import re
from pathlib import Path

TESTED = "tested"

ROWS: dict[int, str] = dict.fromkeys(
    [
        1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43,
        44, 46, 47, 49, 50, 51, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74, 76, 77, 79, 80, 82, 83,
        85, 86, 88, 89, 91, 92,
    ],
    TESTED,
)  # fmt: skip
"""By number, `tested` or `not applicable: ` and the reason."""


def test_every_row_has_its_test_or_its_reason() -> None:
    source = "\n".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py")))
    names = re.findall(r"^(?:async )?def test_bug_((?:\d\d_)+)", source, re.M)
    tested = {int(number) for name in names for number in name.strip("_").split("_")}
    assert {number for number, how in ROWS.items() if how == TESTED} == tested
    for number, how in ROWS.items():
        assert how == TESTED or re.fullmatch(r"not applicable: .{20,}", how), number
