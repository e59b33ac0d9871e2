"""The one message that a person reads."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from askhouse.charts import choose
from askhouse.facts import summarize
from askhouse.message import compose, pretty
from state_contracts import (
    Answer,
    AnswerError,
    Column,
    Cost,
    NoticeBlock,
    Preferences,
    Result,
    TableBlock,
    TextBlock,
)

SQL = "SELECT k, SUM(x) AS v FROM `p.d.sales` GROUP BY k ORDER BY v DESC"
PLACE = "sample data on this machine"


def result_of(rows: list[tuple[Any, ...]], **more: Any) -> Result:
    columns = more.pop("columns", {"k": "STRING", "v": "INT64"})
    more = {"row_count": len(rows), "sql": SQL, **more}
    return Result(name="r", columns=[Column(name=n, type=t) for n, t in columns.items()], rows=rows, **more)


def answer_of(*results: Result, **more: Any) -> Answer:
    more = {"question": "Revenue by region?", "outcome": "answered", "complete": True, "place": PLACE, **more}
    return Answer(results=list(results), **more)


def message_of(answer: Answer, preferences: Preferences | None = None) -> str:
    chart = choose(answer.question, answer.results[-1]) if answer.results else None
    return compose(answer, summarize(answer, preferences), chart, preferences).text


def cells_of(text: str) -> list[list[str]]:
    """The cells of the first table, split where Markdown splits them, as Markdown (still escaped)."""
    lines = text[text.index("\n\n| ") + 2 if "\n\n| " in text else text.index("| ") :].split("\n\n")[0].splitlines()
    rows = [re.findall(r"((?:\\.|[^|\\])*)\|", line.removeprefix("|")) for line in lines]
    return [[cell.strip() for cell in row] for i, row in enumerate(rows) if i != 1]


def test_the_parts_stand_in_order_and_the_place_is_last() -> None:
    answer = answer_of(
        result_of([("North", 30), ("South", 10)], read_as="sum of x of sales, by k"),
        blocks=[TextBlock(text="Here is what I found."), NoticeBlock(text="Sales of today are not in yet.")],
        follow_ups=["And by month?", "Only North?"],
        clock=date(2025, 12, 31),
    )
    text = message_of(answer)
    order = [
        "North has the higher v: 30",
        "| k | v |",
        "Here is what I found.",
        "**What the SQL does:** sum of x of sales, by k",
        "```sql\nSELECT\n  k,",
        "> Sales of today are not in yet.",
        "**Ask next**\n\n1. And by month?\n2. Only North?",
        "*Sample data on this machine. Today is taken as 31 December 2025.*",
    ]

    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.endswith(order[-1])


def test_at_most_twenty_rows_and_twelve_columns_are_shown_with_how_many_there_are() -> None:
    columns = {f"c{i}": "INT64" for i in range(15)}
    text = message_of(answer_of(result_of([tuple(range(15))] * 30, row_count=1234, columns=columns, sql="")))
    cells = cells_of(text)

    assert len(cells) == 21 and {len(row) for row in cells} == {12}
    assert "*20 of 1,234 rows and 12 of 15 columns*" in text


def test_no_rows_is_an_answer() -> None:
    text = message_of(answer_of(result_of([])))

    assert text.startswith("No rows match.\n\n**SQL**")
    assert "|" not in text


def test_bug_61_null_and_the_empty_text_are_told_apart() -> None:
    assert cells_of(message_of(answer_of(result_of([(None, 1), ("", None)]))))[1:] == [
        ["(no value)", "1"],
        ['""', "(no value)"],
    ]


def test_bugs_1_55_64_dates_and_years_are_shown_as_they_are() -> None:
    columns = {"day": "DATE", "at": "TIMESTAMP", "year": "INT64", "v": "NUMERIC"}
    row = ("2025-01-31", "2025-01-31T10:00:00+00:00", 2025, Decimal("12345.60"))

    cells = cells_of(message_of(answer_of(result_of([row], columns=columns, sql=""))))
    assert cells[1] == ["2025-01-31", "2025-01-31T10:00:00+00:00", "2025", "12,346"]


def test_numbers_are_written_for_the_reader() -> None:
    text = message_of(answer_of(result_of([("a", 1234567)])), Preferences(locale="pt_BR"))

    assert cells_of(text)[1] == ["a", "1.234.567"]


HOSTILE = (
    "![x](http://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "<img src=http://evil.example/p.png>",
    "<script>alert(1)</script>",
    "a | b | c",
    "one\ntwo\n\n| x |\n|---|",
    "`code` ``` fence",
    "**bold** _it_ ~~no~~ # head",
    "<https://evil.example>",
    "&lt;b&gt; &amp; &#x3c;",
    "back\\slash \\| pipe",
    "[ref]: http://evil.example",
    "\u202eesrever\u2066 \x1b[31m",
    "1. first",
    "- item",
    "$x^2$",
    "x" * 5_000,
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_bug_88_text_of_a_cell_cannot_act_or_break_the_table(hostile: str) -> None:
    columns = {hostile: "STRING", "v": "INT64"}
    result = result_of([(hostile, 3), ("b", 2), (hostile + "!", 1)], columns=columns)
    text = message_of(answer_of(result, follow_ups=[hostile], blocks=[NoticeBlock(text=hostile)], place=hostile))

    assert [row[1] for row in cells_of(text)] == ["v", "3", "2", "1"]
    assert {len(row) for row in cells_of(text)} == {2}
    assert text.count("\n\n") == 7, "no part of the message was split"
    assert max(map(len, text.splitlines())) < 6_000
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, -- keep me\n  b FROM t",
        "SELECT '```' AS x",
        "not sql at all (",
        "SELECT DATE_TRUNC(d, WEEK(MONDAY)) AS w, COUNT(*) AS n FROM `a.b.c` WHERE s LIKE '%x  y%' GROUP BY 1",
    ],
)
def test_a_query_is_laid_out_without_losing_anything(sql: str) -> None:
    import sqlglot

    laid_out = pretty(sql)

    assert "keep me" in laid_out or "keep me" not in sql
    if sql.startswith("SELECT"):
        assert sqlglot.parse_one(laid_out, read="bigquery") == sqlglot.parse_one(sql, read="bigquery")
    else:
        assert laid_out == sql


def test_a_caption_that_the_service_already_said_is_not_repeated() -> None:
    said = "Read as: sum of x of sales, by k."
    answer = answer_of(result_of([("a", 1)], read_as="sum of x of sales, by k"), blocks=[TextBlock(text=said)])

    assert message_of(answer).count("sum of x of sales") == 1
    assert "**SQL**" in message_of(answer)


@pytest.mark.parametrize("outcome", ["refused", "asked_back"])
def test_a_refusal_or_a_question_back_is_the_service_s_words(outcome: str) -> None:
    words = "Which revenue do you mean?\n\n1. sale price\n2. retail price"
    text = compose(answer_of(outcome=outcome, blocks=[TextBlock(text=words)]), None, None).text

    assert text == f"{words}\n\n*Sample data on this machine.*"


def test_a_refusal_offers_what_can_be_asked() -> None:
    answer = answer_of(outcome="refused", blocks=[TextBlock(text="That is not in the data.")], follow_ups=["How many?"])

    assert "**Try instead**\n\n1. How many?" in compose(answer, None, None).text


def test_bug_8_a_failure_is_said_with_its_remedy() -> None:
    error = AnswerError(code="busy", message="The quota is used up.", remedy="Ask again in a minute.")
    text = compose(answer_of(outcome="failed", complete=False, errors=[error]), None, None).text

    assert text.startswith("The quota is used up. Ask again in a minute.")


def test_what_went_wrong_beside_a_result_is_said_and_costs_nothing() -> None:
    repaired = AnswerError(code="invalid_query", message="The first query did not run.", recovered=True)
    answer = answer_of(
        result_of([("a", 1)]), errors=[repaired], complete=False, unrecognised=2, assumptions=["by order date"]
    )
    text = compose(answer, None, None).text

    for words in ("did not run", "broke off", "Parts of the reply (2)", "Assumed: by order date"):
        assert f"> {words}" in text or words in text


def test_an_answer_stands_without_summary_and_chart() -> None:
    blocks = [TextBlock(text="Before."), TableBlock(result="r"), TextBlock(text="After.")]
    text = compose(answer_of(result_of([("a", 1)]), blocks=blocks), None, None).text

    assert text.index("Before.") < text.index("| a | 1 |") < text.index("After.")
    assert "| a | 1 |" in compose(answer_of(result_of([("a", 1)])), None, None).text


def test_bug_73_a_chart_that_cannot_be_drawn_as_asked_says_why() -> None:
    answer = answer_of(result_of([("a", 3), ("b", -1)]), question="Revenue by region as a pie chart")

    assert "Not drawn as a pie chart: a slice cannot be negative; here is a bar chart." in message_of(answer)
    assert "pie" not in message_of(answer_of(result_of([("a", 3), ("b", 1)]), question="as a pie chart"))


def test_a_picture_that_lacks_characters_says_so() -> None:
    answer = answer_of(result_of([("\U0010fff0", 3), ("b", 1)]))
    chart = choose(answer.question, answer.results[0])
    assert "No font" not in compose(answer, summarize(answer), chart).text

    pictured = chart.model_copy(update={"png": b"drawn"})
    assert "> No font on this machine draws \U0010fff0" in compose(answer, summarize(answer), pictured).text


def test_two_results_are_two_tables_with_their_names() -> None:
    first, second = result_of([("a", 1)]), result_of([("b", 2)])
    text = message_of(answer_of(first, second.model_copy(update={"name": "second one"})))

    assert text.index("**r**") < text.index("| a | 1 |") < text.index("**second one**") < text.index("| b | 2 |")
    assert text.count("```sql") == 2


@pytest.mark.parametrize(
    ("cost", "place", "end"),
    [
        (Cost(bytes_billed=10 * 2**20, cache_hit=False), "BigQuery project shop", "10 MiB billed.*"),
        (Cost(bytes_billed=3 * 2**29, cache_hit=False), "BigQuery project shop", "1.5 GiB billed.*"),
        (Cost(bytes_billed=0, cache_hit=True), "BigQuery project shop", "From BigQuery's cache, nothing billed.*"),
        (Cost(), "BigQuery project shop", "*BigQuery project shop.*"),
        (Cost(bytes_billed=10 * 2**20), "sample data on this machine", "*Sample data on this machine.*"),
    ],
)
def test_the_last_line_says_what_was_billed(cost: Cost, place: str, end: str) -> None:
    answer = Answer(question="q", outcome="refused", complete=True, place=place, cost=cost)
    assert compose(answer, None, None).text.endswith(end)
