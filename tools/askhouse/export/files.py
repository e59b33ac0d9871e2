"""A turn as files in a folder."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import StorageError
from ..facts.phrases import one_line
from .sheet import csv_of
from .turned import Turned


def write_files(turned: Turned, folder: Path) -> list[Path]:
    """Write each result as CSV and the chart as PNG; the files that were written.

    Files of the same names are replaced whole. Raises StorageError when the folder cannot be written,
    MissingPartError when pictures cannot be drawn here.
    """
    contents = {f"{name}.csv": csv for name, csv in _sheets(turned).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [_write(folder / name, text.encode()) for name, text in contents.items()]
        picture = _picture(turned)
        return [*written, _write(folder / "chart.png", picture)] if picture else written
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror or error}.", "Name another folder with --out."
        ) from error


def _sheets(turned: Turned) -> dict[str, str]:
    sheets: dict[str, str] = {}
    for i, result in enumerate(turned.answer.results, 1):
        name = _file_name(result.name) or f"result_{i}"
        sheets[name if name not in sheets else f"{name}_{i}"] = csv_of(result)
    return sheets


def _file_name(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", one_line(name)).strip("_")[:60]


def _picture(turned: Turned) -> bytes | None:
    chart = turned.chart
    if chart is None or chart.spec is None:
        return None
    if chart.png is not None:
        return chart.png
    from ..charts.render import png

    return png(chart.spec)


def _write(path: Path, content: bytes) -> Path:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    return part.replace(path)
