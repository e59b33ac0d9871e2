"""What a benchmark measures with: figures, the median of many runs, and the data folder that it measures in."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured value, with the most that it may be where the design sets a limit."""

    name: str
    value: float
    unit: str
    budget: float | None = None
    note: str = ""

    @property
    def within(self) -> bool | None:
        """Whether the value keeps its budget; None where there is none."""
        return None if self.budget is None else self.value <= self.budget

    def line(self) -> str:
        """The figure for a reader."""
        verdict = {None: "", True: "within", False: "MISSED"}[self.within]
        budget = "" if self.budget is None else f"≤ {self.budget:,g}"
        return f"{self.name:<72} {self.value:>11,.5g} {self.unit:<6} {budget:>9} {verdict:<6} {self.note}".rstrip()

    def as_json(self) -> dict[str, Any]:
        """The figure for a program."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "budget": self.budget,
            "within": self.within,
        }


@dataclass(frozen=True)
class Place:
    """Where a benchmark runs: a data folder of its own, with the sample and the loaded tables already in it."""

    home: Path
    slow: bool = False
    """Whether to measure also what takes minutes."""


@dataclass(frozen=True)
class Spent:
    """The median of many runs, in milliseconds: by the clock, and of this process's work alone."""

    clock: float
    work: float

    @property
    def note(self) -> str:
        """What a reader needs to judge the clock on a busy machine."""
        return f"(work {self.work:,.1f} ms)"


def spent(run: Callable[[], object], times: int) -> Spent:
    """Run once to warm up, then `times` times."""
    run()
    clocks, works = [], []
    for _ in range(times):
        gc.collect()
        clock, work = time.perf_counter(), time.process_time()
        run()
        clocks.append((time.perf_counter() - clock) * 1000)
        works.append((time.process_time() - work) * 1000)
    return Spent(median(clocks), median(works))


def ratio(run: Callable[[], object], other: Callable[[], object], times: int) -> float:
    """How many times the work of `other` the work of `run` is: the median of pairs, one right after the other."""
    pairs = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run()
        between = time.process_time()
        other()
        pairs.append((between - start) / (time.process_time() - between))
    return median(pairs)


def rounded(value: float) -> float:
    """Three digits: more would be noise."""
    return float(f"{value:.3g}")


def percentile(values: list[float], part: float) -> float:
    """The value that `part` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
