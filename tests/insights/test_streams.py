"""Every stored reply gives the right answer, in whatever chunks its bytes come."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askhouse.insights.stream import Unknown, from_json, from_proto
from state_contracts import ChartBlock, TableBlock, TextBlock

from .conftest import STREAMS, answer_to, stream

REPLIES = sorted(
    str(path.relative_to(STREAMS))
    for path in STREAMS.rglob("*.*")
    if path.suffix in (".json", ".txt") and path.name != "http_errors.json"
)
BIG = "synthetic/big_result_5000_rows.json"


@pytest.mark.parametrize("name", REPLIES)
async def test_chunks_do_not_matter(name: str) -> None:
    body = stream(name)
    whole = await answer_to([body])
    for size in (1, 2, 3, 7, 64) if name != BIG else (1000, 4096):
        assert await answer_to([body[i : i + size] for i in range(0, len(body), size)]) == whole


TRICKY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='{}[]"\\,:\n é漢\u0000a', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='{}"\\a', max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts=st.lists(st.text(alphabet='{}[]"\\,:\n é漢\u0000a', min_size=1, max_size=12), min_size=1, max_size=4),
    rows=st.lists(st.fixed_dictionaries({"a": TRICKY, 'b{"': TRICKY}), max_size=3),
    indent=st.sampled_from([None, 2]),
    ascii_only=st.booleans(),
    cuts=st.lists(st.integers(0, 4000), max_size=12),
)
async def test_any_chunking_of_any_content(
    texts: list[str], rows: list[dict[str, object]], indent: int | None, ascii_only: bool, cuts: list[int]
) -> None:
    messages = [
        *({"systemMessage": {"text": {"parts": [text], "textType": "FINAL_RESPONSE"}}} for text in texts),
        {"systemMessage": {"data": {"result": {"name": "r", "data": rows}}}},
    ]
    body = json.dumps(messages, indent=indent, ensure_ascii=ascii_only).encode()
    edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    chunks = [body[start:end] for start, end in pairwise(edges)]
    answer = await answer_to(chunks)
    assert answer == await answer_to([body])
    assert answer.complete
    assert answer.results[0].row_count == len(rows)
    assert all(text in "".join(answer.texts) for text in texts)


async def test_simple_aggregate_keeps_text_around_the_table() -> None:
    answer = await answer_to([stream("synthetic/simple_aggregate.json")])
    assert [block.kind for block in answer.blocks] == ["text", "table", "text"]
    (result,) = answer.results
    assert (result.name, result.columns[0].type, result.rows) == ("total_revenue", "FLOAT64", [(1234567.5,)])
    assert result.job is not None and result.job.job_id == "job_LOCALEXAMPLE000000000001"
    assert result.sql == "SELECT SUM(amount) AS revenue FROM `example-project.shop.orders`"
    assert result.read_as == "Total amount of orders."
    assert answer.exploratory_sql == []
    assert answer.follow_ups == ["How does revenue split by region?", "What was revenue last month?"]
    assert (answer.outcome, answer.complete, answer.failure, answer.unrecognised) == ("answered", True, None, 0)


@pytest.mark.parametrize("name", ["compact_one_line", "pretty_real_layout"])
async def test_layout_does_not_matter(name: str) -> None:
    assert await answer_to([stream(f"wire/{name}.txt")]) == await answer_to([stream("synthetic/simple_aggregate.json")])


async def test_question_back() -> None:
    answer = await answer_to([stream("synthetic/ambiguous_v1_final_response_question.json")])
    assert (answer.outcome, answer.complete) == ("asked_back", True)


async def test_question_back_of_v1beta() -> None:
    answer = await answer_to([stream("synthetic/ambiguous_v1beta_clarification_message.json")])
    assert (answer.outcome, answer.complete) == ("asked_back", True)
    assert answer.texts == ["Which definition of sales should I use?\n\n1. Gross\n2. Net"]


async def test_big_result() -> None:
    answer = await answer_to([stream(BIG)])
    (result,) = answer.results
    assert (result.row_count, len(result.rows), result.truncated) == (5000, 5000, False)
    assert [column.type for column in result.columns] == ["INT64", "STRING", "FLOAT64", "DATE"]
    assert result.rows[4] == (4, "South", 5.48, "2026-01-05")


async def test_chart_is_kept_and_its_job_counts_once() -> None:
    answer = await answer_to([stream("synthetic/chart_bar_non_ascii.json")])
    charts = [block for block in answer.blocks if isinstance(block, ChartBlock)]
    assert [chart.result for chart in charts] == ["revenue_by_region"]
    assert charts[0].spec["mark"] == "bar"
    assert len(answer.results) == 1
    assert answer.results[0].column("region")[-1] == "Łódź"


async def test_no_rows_is_an_answer() -> None:
    answer = await answer_to([stream("synthetic/empty_result.json")])
    assert (answer.outcome, answer.complete) == ("answered", True)
    assert (answer.results[0].rows, answer.results[0].row_count) == ([], 0)
    assert [column.name for column in answer.results[0].columns] == ["region"]


async def test_recovered_error_does_not_fail_the_turn() -> None:
    answer = await answer_to([stream("synthetic/error_recovered.json")])
    assert (answer.outcome, answer.complete, answer.failure) == ("answered", True, None)
    assert [error.recovered for error in answer.errors] == [True]
    assert answer.exploratory_sql == ["SELECT region FROM `example-project.shop.order`"]
    assert any("corrected an error" in notice for notice in answer.notices)


async def test_terminal_error_fails_the_turn() -> None:
    answer = await answer_to([stream("synthetic/error_terminal_table_not_found.json")])
    assert (answer.outcome, answer.complete) == ("failed", False)
    assert answer.failure is not None and answer.failure.code == "table_not_found"
    assert "example-project:shop.missing" in answer.failure.message


async def test_example_queries_and_citations() -> None:
    answer = await answer_to([stream("synthetic/example_queries_and_citations.json")])
    assert answer.texts == ["Used a verified query."]
    assert (answer.complete, answer.unrecognised) == (True, 0)


async def test_text_in_pieces_and_follow_ups_in_one_part() -> None:
    answer = await answer_to([stream("synthetic/followups_newline_in_one_part.json")])
    assert answer.texts == ["First part, second part."]
    assert answer.follow_ups == ["What about last year?", "What about by region?"]


async def test_error_object_inside_the_reply() -> None:
    answer = await answer_to([stream("synthetic/midstream_error_object_429.json")])
    assert (answer.outcome, answer.complete) == ("failed", False)
    assert answer.failure is not None and answer.failure.code == "busy"


async def test_every_type() -> None:
    answer = await answer_to([stream("synthetic/types_numeric_as_string.json")])
    (result,) = answer.results
    types = {column.name: (column.type, column.mode) for column in result.columns}
    assert types["i"] == ("INT64", "NULLABLE")
    assert types["arr"] == ("INT64", "REPEATED")
    assert types["arr_st"] == ("STRUCT", "REPEATED")
    full = dict(zip([column.name for column in result.columns], result.rows[0], strict=True))
    assert full["i"] == 9007199254740993
    assert full["n"] == Decimal("123456789012345678.123456789")
    assert full["bn"] == Decimal("1.00000000000000000000000000000000000001")
    assert full["ts"] == "2026-01-31T23:59:59+00:00"
    assert (full["d"], full["t"], full["b"], full["by"]) == ("2026-01-31", "12:34:56", True, "aGVsbG8=")
    assert full["st"] == {"k": "v", "x": 1.5}
    empty = result.rows[1]
    assert [cell for cell in empty if cell is not None] == [[], []]


async def test_unknown_kinds_are_counted_and_kept() -> None:
    raw = json.loads(stream("synthetic/unknown_kinds_and_enums.json"))
    unknown = [message for message in raw if isinstance(from_json(message), Unknown)]
    answer = await answer_to([stream("synthetic/unknown_kinds_and_enums.json")])
    assert answer.unrecognised == len(unknown) == 5
    assert answer.texts == ["enum as int\n\nok"]
    assert (answer.outcome, answer.complete) == ("refused", True)
    assert any("5 part(s)" in notice for notice in answer.notices)


async def test_reply_of_2025() -> None:
    answer = await answer_to([stream("recorded/legacy_2025_penguins_chart.json")])
    assert (answer.outcome, answer.complete, answer.unrecognised) == ("answered", True, 0)
    (result,) = answer.results
    assert result.name == "average_body_mass_by_island"
    assert result.rows[0] == ("Biscoe", 4716.017964071853)
    assert [type(block) for block in answer.blocks] == [TableBlock, ChartBlock, TextBlock]


@pytest.mark.parametrize(
    ("name", "code", "texts"),
    [
        ("truncated_mid_message", "unreachable", ["Total revenue across all orders is:"]),
        ("empty_array", "service", []),
        ("error_array_http403", "denied", []),
        ("html_proxy_error", "service", []),
    ],
)
async def test_broken_replies_keep_what_came(name: str, code: str, texts: list[str]) -> None:
    answer = await answer_to([stream(f"wire/{name}.txt")])
    assert (answer.complete, answer.outcome, answer.texts) == (False, "failed", texts)
    assert answer.failure is not None and answer.failure.code == code


async def test_broken_off_after_the_rows_keeps_them_and_says_so() -> None:
    body = stream("wire/pretty_real_layout.txt")
    answer = await answer_to([body[: body.index(b"Total revenue is **")]])
    assert (answer.complete, answer.outcome) == (False, "answered")
    assert answer.results[0].rows == [(1234567.5,)]
    assert answer.failure is not None and answer.failure.code == "unreachable"
    assert any("broke off" in notice for notice in answer.notices)


async def test_protocol_buffers_read_as_json_does() -> None:
    from google.cloud import geminidataanalytics_v1 as api
    from google.protobuf import json_format

    for name in ("simple_aggregate", "chart_bar_non_ascii", "empty_result", "error_recovered"):
        for raw in json.loads(stream(f"synthetic/{name}.json")):
            proto = json_format.ParseDict(raw, api.Message.pb()())
            parsed, expected = from_proto(proto), from_json(json_format.MessageToDict(proto))
            assert type(parsed) is type(expected)
            if hasattr(parsed, "rows"):
                assert (parsed.name, parsed.fields, parsed.rows) == (expected.name, expected.fields, expected.rows)
            else:
                assert parsed == expected
