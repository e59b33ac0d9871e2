"""Questions in the voices of many people: each is answered right, asked back or refused; none is answered wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from voices_run import FOLDER, cases, own_schema, verdict

from askhouse.emulator.planner import Planner

_SAMPLES = {"nycflights13": "nycflights13", "thelook": "thelook_ecommerce"}
_FILES = (*_SAMPLES, "hospital", "library")
_UNMET = frozenset(tomllib.loads((FOLDER / "unmet.toml").read_text("utf-8"))["questions"])
"""Questions that are refused, or asked back, though an answer would be right."""


@pytest.fixture(scope="module")
def judge(
    planner_of: Callable[..., Planner], warehouse: Any, oracle: Callable[[str, str], list[tuple[object, ...]]]
) -> Callable[[str, str, tuple[str, ...]], str]:
    """Says how a question of a file is answered."""
    own = {name: own_schema(name) for name in _FILES if name not in _SAMPLES}

    def judged(name: str, question: str, right: tuple[str, ...]) -> str:
        if name in own:
            planner, scratch, run = own[name]
            return verdict(planner.read(question), right, lambda sql: scratch.query(sql).rows, run)
        dataset = _SAMPLES[name]
        reading = planner_of(dataset).read(question)
        return verdict(reading, right, lambda sql: warehouse.query(sql).rows, lambda sql: oracle(dataset, sql))

    return judged


@pytest.mark.parametrize(
    ("name", "question", "right"),
    [pytest.param(name, *case, id=f"{name}: {case[0]}") for name in _FILES for case in cases(name)],
)
def test_voices(
    judge: Callable[[str, str, tuple[str, ...]], str], name: str, question: str, right: tuple[str, ...]
) -> None:
    found = judge(name, question, right)
    if question in _UNMET:
        assert found in ("refused", "asked")
    else:
        assert found.startswith("right")
