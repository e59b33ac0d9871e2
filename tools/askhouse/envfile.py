"""The `.env` file: our keys are changed in it, everybody else's lines stay as they are."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .errors import StorageError


def change(file: Path, values: Mapping[str, str | None]) -> None:
    """Set the keys of `values`, remove those that are None, and keep every other line. All or nothing.

    Raises StorageError when the file cannot be read or written.
    """
    target = Path(os.path.realpath(file))  # a link stays a link
    try:
        before = target.read_text(encoding="utf-8") if target.exists() else ""
        after = changed(before, values)
        if after != before:
            _replace(target, after)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise StorageError(f"{file} cannot be changed: {reason}.", "Allow it, or work in another folder.") from error


def changed(text: str, values: Mapping[str, str | None]) -> str:
    r"""The text of an `.env` file with `values` in it.

    >>> changed("# mine\nA=1\nexport B = 2\n", {"B": "3", "C": "x y", "A": None})
    "# mine\nB=3\nC='x y'\n"
    """
    missing = {key: value for key, value in values.items() if value is not None}
    lines = []
    for line in text.splitlines():
        key = _key(line)
        if key not in values:
            lines.append(line)
        elif key in missing:
            lines.append(_line(key, missing.pop(key)))
    lines += [_line(key, value) for key, value in missing.items()]
    return "".join(f"{line}\n" for line in lines)


def _key(line: str) -> str:
    found = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=", line)
    return found[1] if found else ""


def _line(key: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace("'", r"\'")
    return f"{key}={value}" if re.fullmatch(r"[\w.,:/*-]*", value) else f"{key}='{escaped}'"


def _replace(target: Path, text: str) -> None:
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".env-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.chmod(name, mode)
        os.replace(name, target)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise
