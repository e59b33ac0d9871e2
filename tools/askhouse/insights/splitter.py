"""Bytes of a streamed JSON array, in whatever chunks they come, into its elements, each as soon as it is whole.

The work is linear in the bytes: whether an element has ended is seen from the balance of braces outside strings,
and only then is it decoded.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'"{}')
_BETWEEN = re.compile(r"[\s,]*")
_decode = json.JSONDecoder(strict=False).raw_decode


class NotAStreamError(ValueError):
    """The bytes are not a JSON array of objects; `text` is where they stop being one."""

    def __init__(self, text: str) -> None:
        super().__init__(f"not a stream of messages: {text[:200]!r}")
        self.text = text


class Splitter:
    """Feed it chunks. `ended` says whether the array was closed."""

    def __init__(self) -> None:
        self.ended = False
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []
        self._escape = b""
        self._in_string = False
        self._depth = 0
        self._opened = False
        self._is_array = False
        self._broken = ""

    def feed(self, chunk: bytes) -> list[Any]:
        """The elements that this chunk completes. Raises NotAStreamError when what came before it is no JSON."""
        self.close()
        self._pieces.append(self._utf8.decode(chunk))
        may_end = self._completes(chunk)
        if not self._opened and not self._open():
            return []
        return self._take() if may_end else []

    def close(self) -> None:
        """Say that no chunk follows. Raises NotAStreamError when what came is no JSON."""
        if self._broken:
            raise NotAStreamError(self._broken)

    def _open(self) -> bool:
        start = "".join(self._pieces).lstrip("\ufeff \t\r\n")
        if not start:
            return False
        if start[0] not in "[{":
            raise NotAStreamError(start)
        self._opened, self._is_array = True, start[0] == "["
        self._pieces = [start[1:] if self._is_array else start]
        return True

    def _completes(self, chunk: bytes) -> bool:
        """Whether an element, or the array, may end within this chunk."""
        braces = self._braces(chunk)
        depth = self._depth
        self._depth += braces.count(b"{") - braces.count(b"}")
        if depth == 0:
            return True
        while b"{}" in braces:
            braces = braces.replace(b"{}", b"")
        return depth <= braces.count(b"}")

    def _braces(self, chunk: bytes) -> bytes:
        """The braces of a chunk that are not inside strings."""
        chunk = self._escape + chunk
        if b"\\" in chunk:
            self._escape = _open_escape(chunk)
            chunk = _ESCAPE.sub(b"", chunk.removesuffix(b"\\") if self._escape else chunk)
        else:
            self._escape = b""
        structure = (b'"' if self._in_string else b"") + chunk.translate(None, _NOT_STRUCTURE)
        pieces = structure.replace(b'""', b"").split(b'"')
        self._in_string = len(pieces) % 2 == 0
        return b"".join(pieces[::2])

    def _take(self) -> list[Any]:
        text = "".join(self._pieces)
        elements = []
        position = _skip(text, 0)
        while position < len(text) and not self._closes(text, position):
            try:
                element, position = _decode(text, position)
            except (ValueError, RecursionError):
                self._broken = text[position:] if self._depth <= 0 and not self._in_string else ""
                break
            elements.append(element)
            position = _skip(text, position)
        self._pieces = [text[position:]] if position < len(text) else []
        if not self._is_array:
            self.ended = not self._pieces
        return elements

    def _closes(self, text: str, position: int) -> bool:
        self.ended = self._is_array and text[position] == "]"
        return self.ended


def _open_escape(chunk: bytes) -> bytes:
    """The backslash at the end whose meaning the next character decides."""
    return b"\\" if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 else b""


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position
