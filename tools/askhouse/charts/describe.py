"""The message of a chart in words, for who cannot see it."""

from __future__ import annotations

from typing import Any

from state_contracts import Preferences, Result

from ..facts.compute import number
from ..facts.phrases import Writer
from ..facts.roles import Role
from .draft import Draft, label_of
from .points import axis_label
from .spec import title_of

_KINDS = {
    "bar": "Bar chart", "grouped_bar": "Grouped bar chart", "stacked_bar": "Stacked bar chart", "line": "Line chart",
    "multi_line": "Chart of several lines", "scatter": "Scatter plot", "pie": "Pie chart", "card": "Single number",
}  # fmt: skip


def describe(draft: Draft, result: Result) -> str:
    """Kind, what is shown, how many marks, the highest and the lowest of them."""
    writer = Writer.of(Preferences())
    measure = draft.y[0]
    head = f"{_KINDS[draft.kind]}: {title_of(draft)}"
    if draft.kind == "card":
        return f"{head}, {writer.cell(result.rows[0][measure.position], measure)}."
    known = [(found, i) for i in draft.rows if (found := number(result.rows[i][measure.position])) is not None]
    sentences = [f"{head}, {len(draft.rows)} {_marks(draft)}."]
    if known:
        high, low = max(known, key=lambda pair: pair[0]), min(known, key=lambda pair: pair[0])
        told = [f"{word} {writer.number(value, measure.unit)} at {_name(draft, result, i)}"
                for word, (value, i) in (("Highest", high), ("lowest", low))]  # fmt: skip
        sentences.append(", ".join(told) + ".")
    return " ".join([*sentences, *(f"{note}." for note in draft.notes)])


def _marks(draft: Draft) -> str:
    words = {"pie": "slice", "scatter": "point", "line": "point", "multi_line": "point"}
    return words.get(draft.kind, "bar") + ("" if len(draft.rows) == 1 else "s")


def _name(draft: Draft, result: Result, i: int) -> str:
    roles = [*draft.x, *([draft.series] if draft.series else [])]
    return ", ".join(_cell(result.rows[i][role.position], role) for role in roles)


def _cell(cell: Any, role: Role) -> str:
    if role.kind == "measure":
        return Writer.of(Preferences()).number(cell, role.unit)
    return axis_label(cell, role) if role.kind == "time" else label_of([cell])
