"""The chart that the person asked for in words."""

from __future__ import annotations

import re

from state_contracts import ChartKind

_KINDS: tuple[tuple[ChartKind, str], ...] = (
    ("stacked_bar", r"stacked(?: bars?| columns?)?"),
    ("grouped_bar", r"(?:grouped|clustered|side[- ]by[- ]side)(?: bars?| columns?)?"),
    ("pie", r"pies?|donuts?|doughnuts?"),
    ("multi_line", r"multi[- ]?lines?|multiple lines"),
    ("line", r"lines?"),
    ("scatter", r"(?:grouping |grouped )?scatter"),
    ("bar", r"bars?|columns?"),
)
_CHART = r"[- ]?(?:charts?|graphs?|plots?|diagrams?)"
_LEAD = r"(?:as|into|make it|turn it into|draw|use|plot|with|change (?:it )?to)"
_NONE = re.compile(
    r"\b(?:no|without(?: a| any)?) (?:chart|graph|plot|picture)s?\b|\b(?:just|only) (?:the |a )?table\b|\btable only\b",
    re.I,
)
_HISTOGRAM = re.compile(r"\bhistograms?\b", re.I)
_PATTERNS: tuple[tuple[ChartKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{words}){_CHART}\b|\b{_LEAD} (?:an? |the )?(?:{words})(?=[\s.,!?]*$|[.,!?])", re.I))
    for kind, words in _KINDS
)


def asked_for(question: str) -> ChartKind | None:
    """The kind of chart that the question names; `none` when it wants no chart; None when it says nothing.

    >>> asked_for("Revenue by month as a pie chart")
    'pie'
    >>> asked_for("Revenue by product line") is None
    True
    """
    if _NONE.search(question):
        return "none"
    for kind, pattern in _PATTERNS:
        if pattern.search(question):
            return kind
    return "bar" if _HISTOGRAM.search(question) else None
