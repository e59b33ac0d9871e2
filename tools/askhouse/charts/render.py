"""Pictures of specifications, without a browser and without a network."""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from ..errors import InvalidQueryError, MissingPartError

FONT_PACKAGE = "manimgx_fonts_cjk"
"""Noto Sans CJK as a Python package (20 MB, SIL Open Font License), used where it is installed."""
VERSION = "5.21"
SCALE = 2.0
_MISSING = "\U0010fff1"
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
    _register_fonts(vl_convert)
    return vl_convert


@lru_cache(maxsize=1)
def _register_fonts(renderer: Any) -> None:
    """Let the renderer use the fonts of the package for Chinese, Japanese and Korean, where it is installed."""
    package = find_spec(FONT_PACKAGE)
    for folder in (package and package.submodule_search_locations) or ():
        renderer.register_font_directory(folder)


def font_notice(spec: dict[str, Any]) -> str:
    """What to tell the reader of a picture that shows boxes in place of characters; empty where all are drawn."""
    missing = undrawable(spec)
    if not missing:
        return ""
    return (
        f"No font on this machine draws {' '.join(missing)} in the picture; the table has them. "
        f"Install Debian's fonts-noto, or `pip install {FONT_PACKAGE.replace('_', '-')}`."
    )


def undrawable(spec: dict[str, Any]) -> str:
    """Up to five characters of the chart's texts that no installed font has, so that a PNG shows boxes for them."""
    rare = [c for c in dict.fromkeys(json.dumps(spec, ensure_ascii=False)) if ord(c) >= _BASIC and _is_visible(c)]
    return "".join([character for character in rare[:40] if not _has_glyph(character)][:5])


def _is_visible(character: str) -> bool:
    """Whether a picture has something to show for a character that is no punctuation of ours."""
    return unicodedata.category(character) not in (
        "Cc",
        "Cf",
        "Cs",
        "Cn",
        "Mn",
        "Zs",
        "Zl",
        "Zp",
        "Pd",
        "Pi",
        "Pf",
        "Po",
    )


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    """Whether a font draws the character: a missing one looks like any other missing one."""
    return _drawn(character) != _drawn(_MISSING)


@lru_cache(maxsize=4096)
def _drawn(character: str) -> bytes:
    style = 'y="18" font-size="16" font-family="sans-serif"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><text {style}>{character}</text></svg>'
    return bytes(_renderer().svg_to_png(picture))
