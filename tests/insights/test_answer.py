"""How messages become an answer, beyond what the stored replies show."""

from __future__ import annotations

from datetime import date

import pytest

from askhouse.insights.answer import AnswerBuilder, Thought
from askhouse.insights.stream import ChartDrawn, Described, Failure, JobRun, Message, Query, Rows, Sql, Text, from_json
from state_contracts import Answer, ChartBlock, Citation, Job

SQL = "SELECT COUNT(*) AS n FROM `p.d.t`"


def _answer(*messages: Message) -> Answer:
    builder = AnswerBuilder("q")
    for message in messages:
        builder.add(message)
    return builder.finish(ended=True)


def _rows(name: str = "") -> Rows:
    return Rows(name, [{"name": "n", "type": "INTEGER"}], [{"n": 1}])


def test_two_results_are_two_results() -> None:
    answer = _answer(
        Text("final", ("First.",)), Query(), Sql(SQL, "generated"), _rows("n"), Text("final", ("Second.",)),
        Query(), Sql("SELECT 2 AS n", "matched_example"), _rows("n"), Text("final", ("Done.",)),
    )  # fmt: skip
    assert [block.kind for block in answer.blocks] == ["text", "table", "text", "table", "text"]
    assert [(result.name, result.sql_origin) for result in answer.results] == [
        ("n", "generated"),
        ("n_2", "matched_example"),
    ]


def test_a_chart_group_repeats_its_query_and_job_without_a_second_result() -> None:
    job = JobRun(Job(project="p", job_id="j"))
    answer = _answer(
        Text("final", ("See.",)), Query(), Sql(SQL, "generated"), job, _rows("n"),
        Query(), Sql(SQL, "generated"), job, ChartDrawn({"mark": "bar", "usermeta": {"data_result_name": "n"}}),
    )  # fmt: skip
    assert len(answer.results) == 1
    assert [block.result for block in answer.blocks if isinstance(block, ChartBlock)] == ["n"]


def test_rows_of_a_job_that_are_sent_twice_are_one_result() -> None:
    job = JobRun(Job(project="p", job_id="j"))
    answer = _answer(Text("final", ("See.",)), Query(), job, _rows("n"), Query(), job, _rows("n"))
    assert [block.kind for block in answer.blocks] == ["text", "table"]


def test_queries_on_the_way_are_kept_apart_from_the_published_one() -> None:
    builder = AnswerBuilder("q")
    thought = builder.add(Text("thought", ("Running a query", "Executing: SELECT DISTINCT x FROM `p.d.t`")))
    assert thought == Thought("Running a query", "Executing: SELECT DISTINCT x FROM `p.d.t`")
    builder.add(Text("thought", ("Running a query", f"Executing: {SQL};")))
    for message in (Text("final", ("Yes.",)), Sql(SQL, "generated"), _rows()):
        builder.add(message)
    assert builder.finish(ended=True).exploratory_sql == ["SELECT DISTINCT x FROM `p.d.t`"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Which one do you mean?", "asked_back"),
        ("Choose:\n1. gross\n2. net", "asked_back"),
        ("The data holds no weather.", "refused"),
    ],
)
def test_outcome_without_a_result(text: str, outcome: str) -> None:
    assert _answer(Text("final", (text,))).outcome == outcome


def test_a_description_of_the_data_is_an_answer() -> None:
    assert _answer(Described(("p.d.t",)), Text("final", ("It holds orders.",))).outcome == "answered"


def test_without_final_words_a_turn_fails() -> None:
    answer = _answer(Text("thought", ("Thinking", "…")))
    assert (answer.outcome, answer.complete) == ("failed", False)
    assert answer.failure is not None and answer.failure.code == "service"


def test_rows_without_final_words_are_shown_as_incomplete() -> None:
    answer = _answer(Sql(SQL, "generated"), _rows())
    assert (answer.outcome, answer.complete, len(answer.results)) == ("answered", False, 1)
    assert any("broke off" in notice for notice in answer.notices)


def test_a_status_in_the_stream_is_put_in_words() -> None:
    answer = _answer(Failure("Quota exceeded for quota metric", "RESOURCE_EXHAUSTED", 30.0))
    assert answer.failure is not None
    assert (answer.failure.code, answer.failure.remedy) == ("busy", "Ask again in about 30 seconds.")


def test_the_day_that_counted_as_today_is_kept() -> None:
    text = "Read as: revenue. Today is taken as 31 December 2025, the day on which the sample ends."
    assert _answer(Text("final", (text,)), _rows()).clock == date(2025, 12, 31)


def test_follow_ups_lose_their_bullets() -> None:
    assert _answer(Text("follow_ups", ("- And by month?", "2. Only JFK?"))).follow_ups == [
        "And by month?",
        "Only JFK?",
    ]


def test_a_full_result_is_said_to_be_possibly_cut() -> None:
    fields = [{"name": "text", "type": "STRING"}]
    answer = _answer(Text("final", ("All.",)), Rows("big", fields, [{"text": "x" * 1000}] * 2950))
    assert answer.results[0].truncated
    assert any("3 MB" in notice for notice in answer.notices)


def test_a_citation_of_an_unknown_form_does_not_cost_the_text() -> None:
    raw = {"systemMessage": {"text": {"parts": ["Words."], "textType": "FINAL_RESPONSE"}, "citation": {"sources": 3}}}
    answer = _answer(from_json(raw))
    assert (answer.texts, answer.citations, answer.unrecognised) == (["Words."], [], 0)


def test_cited_words_are_found_by_their_bytes() -> None:
    words = "Größe 年 from the glossary, revenue from the guide."
    start, end = (len(words[: words.index(word)].encode()) for word in ("revenue", " from the guide"))
    raw = {
        "systemMessage": {
            "text": {"parts": [words], "textType": "FINAL_RESPONSE"},
            "citation": {
                "sources": [
                    {"id": "g", "title": "Glossary: Größe"},
                    {"id": "u", "uri": "https://example.com/guide"},
                ],
                "anchors": [
                    {"textMessageAnchor": {"endOffsetBytes": len("Größe 年".encode()), "sourceIds": ["g", "u"]}},
                    {"textMessageAnchor": {"startOffsetBytes": start, "endOffsetBytes": end, "sourceIds": ["u", "x"]}},
                    {"textMessageAnchor": {"partIndex": 7, "endOffsetBytes": 3, "sourceIds": ["g"]}},
                ],
            },
        }
    }
    guide = "https://example.com/guide"
    assert _answer(from_json(raw)).citations == [
        Citation(text="Größe 年", source="Glossary: Größe"),
        Citation(text="Größe 年", source=guide, uri=guide),
        Citation(text="revenue", source=guide, uri=guide),
        Citation(text="", source="Glossary: Größe"),
    ]
