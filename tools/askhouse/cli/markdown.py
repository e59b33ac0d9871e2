"""Tables as Markdown draws them."""

from __future__ import annotations

from collections.abc import Iterable


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of plain cells; a bar within a cell is escaped."""

    def line(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return "\n".join([line(header), line(tuple("---" for _ in header)), *map(line, rows)])
