"""The data folder: made when it is first needed, or a sentence on why it cannot be."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

from .errors import StorageError

_ROOM = 65_536
"""Bytes that a turn may need."""


def prepare_home(home: Path) -> Path:
    """Make the folder where it is missing and see that it can be written and has room left. Raises StorageError."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        raise StorageError(
            f"The data folder {home} cannot be written: {error.strerror}.",
            "Free some space, or set ASKHOUSE_HOME to a folder on another disk."
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            else "Set ASKHOUSE_HOME to a folder that can.",
        ) from error
    return home
