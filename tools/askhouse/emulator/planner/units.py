"""Units of measurement: what a column's description says it holds, against what a question asks in."""

from __future__ import annotations

from .lexicons import english
from .semantics import Field
from .words import stem, tokenize

_MINUTES = {"second": 1 / 60, "minut": 1.0, "min": 1.0, "hour": 60.0, "day": 1440.0}


def factor(field: Field, unit: str) -> float | None:
    """By what a number in this unit is multiplied to compare with the column: 60 for hours with a column in minutes.

    1 where the column's unit is not known; None where the units cannot be converted.
    """
    if unit == "%":
        most = field.stats.greatest
        return 0.01 if most is not None and abs(float(most)) <= 1 else 1.0
    known = {stem(word) for word in english().raw["units"]["words"]} - {stem("year"), "peopl", "person"}
    held = [stem(token.lower) for token in tokenize(field.description) if stem(token.lower) in known]
    wanted = stem(unit)
    if not held or wanted in held or wanted not in known:
        return 1.0
    if wanted in _MINUTES and held[0] in _MINUTES:
        return _MINUTES[wanted] / _MINUTES[held[0]]
    return None
