"""The documented example of a client that knows nothing of askhouse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from askhouse.emulator.local import Emulator


def test_any_client_is_answered(emulator: Emulator, repo: Path) -> None:
    program = [sys.executable, str(repo / "docs/examples/any_client.py"), emulator.rest, "How many flights by carrier?"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kinds = [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("text", "data"))]
    assert kinds[0] == "text" and "data" in kinds
    assert "COUNT(*) AS number_of_flights" in done.stdout
