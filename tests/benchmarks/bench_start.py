"""Cold starts: a command in a process of its own, and the package's import."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from measure import Figure, Place, rounded

TIMES = 5
QUESTION = "How many flights left each airport?"
COMMAND = [str(Path(sys.executable).with_name("askhouse")), "ask", QUESTION]
CLOUD = ("google", "grpc", "pandas", "duckdb", "altair", "sqlglot")
"""What `import askhouse` must leave alone."""
_IMPORT = """
import sys, time
start = time.perf_counter()
import askhouse
print(time.perf_counter() - start, *sys.modules)
"""


def figures(place: Place) -> Iterator[Figure]:
    """The median of five processes each; the very first one, which compiles and builds, is told apart."""
    yield _first_answer(place)
    for form in ("text", "json", "csv"):
        clocks, works = zip(*(_asked(form) for _ in range(TIMES)), strict=True)
        note = f"(work {median(works):.3g} s)"
        yield Figure(f"cold `askhouse ask --format {form}`", rounded(median(clocks)), "s", 2.5, note)
    yield from _imported()


def _first_answer(place: Place) -> Figure:
    """On a fresh data folder, where the sample is built first. Fetching and installing packages comes on top of it."""
    fresh = {**os.environ, "ASKHOUSE_HOME": str(place.home / "fresh")}
    start = time.perf_counter()
    subprocess.run(COMMAND, env=fresh, check=True, capture_output=True)
    return Figure("first answer, the sample not yet built", rounded(time.perf_counter() - start), "s", 90.0)


def _asked(form: str) -> tuple[float, float]:
    """Seconds by the clock, and of work."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([*COMMAND, "--format", form], check=True, capture_output=True)
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _imported() -> Iterator[Figure]:
    outputs = []
    for _ in range(2 * TIMES):
        done = subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True, text=True)
        outputs.append(done.stdout.split())
    yield Figure("import askhouse", rounded(median(float(output[0]) for output in outputs)), "s", 0.15)
    loaded = sorted({name.split(".")[0] for name in outputs[-1][1:]} & set(CLOUD))
    yield Figure("cloud and data libraries that it loads", len(loaded), "count", 0, ", ".join(loaded))
