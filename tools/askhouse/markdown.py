"""Markdown whose data cannot act: no cell, name or sentence opens a link, loads a picture or breaks a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .facts.phrases import harmless, one_line

_SPECIAL = re.compile(r"[\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=:)/(?=/)|@(?=\w)|(?<=www)\.", re.I)
_LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+=>](?=\s|$|[-=])|\d+(?=[.)](?:\s|$)))")
_PICTURE = re.compile(r"!(?=\[)")
_LINK = re.compile(r"\](?=\(|\[|:)")
_ESCAPED = re.compile(
    r"(?P<code>(?<![`\\])(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"  # what is code has no escapes
    r"|\\(?P<mark>[!-/:-@\[-`{-~])|&lt;",
    re.DOTALL,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def escape(text: str) -> str:
    """Data as Markdown that shows exactly that text, on one line.

    >>> print(escape("a | [b](http://c) <img src=x>"))
    a \\| \\[b\\](http:\\//c) \\<img src=x\\>
    """
    escaped = _SPECIAL.sub(lambda match: "\\" + match.group(), one_line(text))
    return _LINE_START.sub(lambda match: f"{match.group(1)}{_blunt(match.group(2))}", escaped)


def unescaped(text: str) -> str:
    """Markdown as a terminal shows it: escaped characters are themselves, and code stays as it is.

    >>> print(unescaped(escape("a | [b](http://c) <img src=x>")))
    a | [b](http://c) <img src=x>
    """
    return _ESCAPED.sub(lambda match: match.group("code") or match.group("mark") or "<", text)


def _blunt(mark: str) -> str:
    return f"{mark}\\" if mark.isdigit() else f"\\{mark}"


def tame(text: str) -> str:
    """Somebody's Markdown without what could act: lists and emphasis stay, pictures, links and HTML become text."""
    lines, fence = [], ""
    for line in harmless(text).splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
        lines.append(line if fence or mark else _tame_line(line))
    return "\n".join([*lines, fence] if fence else lines)


def _tame_line(line: str) -> str:
    line = _PICTURE.sub(r"\\!", line.replace("<", "&lt;"))
    return _LINK.sub(r"\\]", line)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A table of texts that are escaped here; `right` says which columns are aligned to the right."""
    lines = [_row(header), "|" + "|".join("---:" if aligned else ":---" for aligned in right) + "|"]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape(cell) or " " for cell in cells) + " |"


def fenced(code: str, language: str = "") -> str:
    """A code block that no text inside can close."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.strip()}\n{fence}"


def numbered(items: Sequence[str]) -> str:
    """A numbered list."""
    return "\n".join(f"{i}. {escape(item)}" for i, item in enumerate(items, 1))
