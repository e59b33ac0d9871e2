"""Pictures of specifications, without a browser and without a network."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ..errors import InvalidQueryError, MissingPartError

VERSION = "5.21"
SCALE = 2.0
_MISSING = "\U000f1234"
"""A character that no font has."""
_BASIC = 0x0530
"""Latin, Greek and Cyrillic, which the renderer's own font covers, end below this."""


def png(spec: dict[str, Any], *, scale: float = SCALE) -> bytes:
    """The chart as PNG. Raises MissingPartError where the renderer is not installed."""
    return _draw("vegalite_to_png", spec, scale=scale)  # type: ignore[no-any-return]


def svg(spec: dict[str, Any]) -> str:
    """The chart as one SVG element that refers to nothing outside itself."""
    return _draw("vegalite_to_svg", spec)  # type: ignore[no-any-return]


def _draw(function: str, spec: dict[str, Any], **options: Any) -> Any:
    try:
        return getattr(_renderer(), function)(
            json.dumps(spec, allow_nan=False), vl_version=VERSION, allowed_base_urls=[], **options
        )
    except ValueError as error:
        raise InvalidQueryError(f"The chart cannot be drawn: {str(error).splitlines()[0]}") from error


def _renderer() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingPartError(
            "Pictures of charts need the package vl-convert-python.", "`pip install vl-convert-python`"
        ) from error
    return vl_convert


def undrawable(spec: dict[str, Any]) -> str:
    """Up to five characters of the chart's texts that no installed font has, so that a PNG shows boxes for them."""
    rare = dict.fromkeys(
        c for c in json.dumps(spec, ensure_ascii=False) if ord(c) >= _BASIC and c.isprintable() and not c.isspace()
    )
    return "".join([c for c in list(rare)[:40] if not _is_punctuation(c) and not _has_glyph(c)][:5])


def _is_punctuation(character: str) -> bool:
    return 0x2000 <= ord(character) < 0x2070


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    """Whether a font draws the character: a missing one looks like any other missing one."""
    return _drawn(character) != _drawn(_MISSING)


@lru_cache(maxsize=4096)
def _drawn(character: str) -> bytes:
    style = 'y="18" font-size="16" font-family="sans-serif"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><text {style}>{character}</text></svg>'
    return bytes(_renderer().svg_to_png(picture))
