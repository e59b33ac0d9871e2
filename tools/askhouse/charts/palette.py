"""Colours that stay apart for readers who see fewer of them, and stand out on white and on a dark page."""

SERIES = ("#0072B2", "#D55E00", "#2A9D74", "#B0609B", "#8A7A1F", "#5B6FD6", "#A04A3C", "#6E7B85")
"""In order of use; one more series than these is never drawn."""
MARK = SERIES[0]
REST = "#8A8A8A"
"""For what is added up from several groups."""
TEXT = "#333333"
