"""What the chart agent leaves: a specification, why it has this form, and a picture where one was wanted."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

ChartKind = Literal["bar", "grouped_bar", "stacked_bar", "line", "multi_line", "scatter", "pie", "card", "none"]


class Chart(BaseModel):
    """A chart of one result. Kind `none` means that no chart is honest or useful here; `reason` says why."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    kind: ChartKind
    reason: str
    result: str = ""
    spec: dict[str, Any] | None = None
    """Vega-Lite v5 with its data inline."""
    alt: str = ""
    """The chart's message in words, for who cannot see it."""
    png: bytes | None = None


class LastChart(BaseModel):
    """The chart of the last answer, without its data, for later edits."""

    model_config = ConfigDict(extra="forbid")

    kind: ChartKind
    result: str
    spec: dict[str, Any] | None = None
