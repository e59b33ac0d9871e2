"""The static check: a reader of a `temp:` key needs a writer before it."""

import pytest

from state_contracts import CONTRACTS
from state_contracts.flow import Unfed, unfed_readers, upstream_of

FLOW = [
    ("root", "data_agent"),
    ("data_agent", "summarizer"),
    ("data_agent", "chart_agent"),
    ("summarizer", "finish"),
    ("chart_agent", "finish"),
    ("finish", "root"),
]


def test_upstream_is_every_step_that_leads_there() -> None:
    assert upstream_of("finish", FLOW[:-1]) == {"root", "data_agent", "summarizer", "chart_agent"}
    assert upstream_of("root", FLOW[:-1]) == set()


def test_a_workflow_whose_readers_are_fed_passes() -> None:
    assert unfed_readers(FLOW, CONTRACTS) == []


@pytest.mark.parametrize(
    ("removed", "unfed"),
    [
        (("data_agent", "chart_agent"), ("temp:answer.<call>", "chart_agent")),
        (("summarizer", "finish"), ("temp:summary.<call>", "finish")),
        (("finish", "root"), ("temp:message.<call>", "root")),
    ],
)
def test_a_reader_without_a_writer_before_it_is_found(removed: tuple[str, str], unfed: tuple[str, str]) -> None:
    flow = [edge for edge in FLOW[:-1] if edge != removed] + [("analyze", removed[1])]
    assert unfed in [(found.key, found.reader) for found in unfed_readers(flow, CONTRACTS)]


def test_the_sentence_names_key_reader_and_writers() -> None:
    assert str(Unfed("temp:x", "finish", ("a", "b"))) == (
        "finish reads 'temp:x', but none of its writers (a, b) comes before it."
    )
