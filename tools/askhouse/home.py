"""The data folder: made when it is first needed, or a sentence on why it cannot be."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .errors import StorageError


def prepare_home(home: Path) -> Path:
    """Make the folder where it is missing and see that it can be written. Raises StorageError."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        raise StorageError(
            f"The data folder {home} cannot be written: {error.strerror}.",
            "Set ASKHOUSE_HOME to a folder that can.",
        ) from error
    return home
