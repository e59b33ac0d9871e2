"""Turns in the forms that leave the chat."""

import csv
import io
import json
import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from askhouse.charts import choose
from askhouse.errors import StorageError
from askhouse.export import Record, Turned, to_csv, to_html, to_json, to_text, write_files
from askhouse.export.terminal import width
from askhouse.facts import summarize
from askhouse.message import compose
from state_contracts import Answer, AnswerError, Chart, Column, Job, Message, NoticeBlock, Result, Summary, TextBlock

SQL = "SELECT k, SUM(x) AS v FROM `p.d.sales` GROUP BY k"
HOSTILE = '<img src=http://evil.example/p.png onerror=alert(1)> "q" | a\nb \x1b[31m'


@dataclass
class Turn:
    """A turn as the runtime leaves it."""

    answer: Answer
    summary: Summary | None
    chart: Chart | None
    message: Message
    session_id: str = "s-1"
    timings_ms: dict[str, float] = field(default_factory=dict)


def turn_of(*results: Result, **more: Any) -> Turned:
    more = {"question": "Revenue by region?", "outcome": "answered", "complete": True, "place": "sample data", **more}
    answer = Answer(results=list(results), **more)
    summary = summarize(answer)
    chart = choose(answer.question, results[-1]) if results else None
    return Turn(answer, summary, chart, compose(answer, summary, chart), timings_ms={"run": 12.5})


def result_of(rows: list[tuple[Any, ...]], **more: Any) -> Result:
    columns = more.pop("columns", {"k": "STRING", "v": "INT64"})
    more = {"row_count": len(rows), "sql": SQL, "name": "r", **more}
    return Result(columns=[Column(name=n, type=t) for n, t in columns.items()], rows=rows, **more)


def test_the_json_object_has_the_documented_keys_and_validates() -> None:
    turned = turn_of(
        result_of([("a", 2), ("b", 1)], job=Job(project="p", job_id="j")),
        blocks=[TextBlock(text="said"), NoticeBlock(text="noticed")],
        follow_ups=["next?"],
        clock=date(2025, 12, 31),
    )
    told = json.loads(to_json(turned))

    assert " ".join(told) == (
        "question standalone_question complete blocks results summary chart follow_ups assumptions notices error "
        "session turn place agent model clock cost timings_ms"
    )
    names = "name columns rows row_count truncated sql sql_origin read_as job"
    assert " ".join(told["results"][0]) == names
    assert set(told["summary"]["claims"][0]) == {"text", "value", "result", "rows", "kind", "verified"}
    assert set(told["chart"]) == {"kind", "reason", "spec", "alt", "file"}
    assert told["standalone_question"] == told["question"]
    assert (told["session"], told["clock"], told["notices"]) == ("s-1", "2025-12-31", ["noticed"])
    assert Record.model_validate(told).model_dump(mode="json") == told


@pytest.mark.parametrize(
    ("cell", "kind", "written"),
    [
        (None, "INT64", None),
        (2**53, "INT64", 9007199254740992),
        (356206305582642177, "INT64", "356206305582642177"),
        (-(2**63), "INT64", "-9223372036854775808"),
        (Decimal("1.10"), "NUMERIC", "1.10"),
        (Decimal("1E+3"), "NUMERIC", "1000"),
        (0.1, "FLOAT64", 0.1),
        (float("nan"), "FLOAT64", "NaN"),
        (float("-inf"), "FLOAT64", "-Infinity"),
        (True, "BOOL", True),
        ("2025-01-31T10:00:00+00:00", "TIMESTAMP", "2025-01-31T10:00:00+00:00"),
        ({"a": [2**60, Decimal("0.5"), None]}, "STRUCT", {"a": [str(2**60), "0.5", None]}),
    ],
)
def test_bugs_1_65_79_83_cells_are_exact_in_json(cell: Any, kind: str, written: Any) -> None:
    told = json.loads(to_json(turn_of(result_of([(cell,)], columns={"c": kind}, sql=""))))

    assert told["results"][0]["rows"] == [[written]]
    assert type(told["results"][0]["rows"][0][0]) is type(written)


def test_a_failure_and_a_refusal_are_in_the_json() -> None:
    error = AnswerError(code="busy", message="The quota is used up.", remedy="Ask again.")
    failed = json.loads(to_json(turn_of(outcome="failed", complete=False, errors=[error])))
    refused = json.loads(to_json(turn_of(outcome="refused", blocks=[TextBlock(text="Not in the data.")])))

    assert failed["error"] == {"code": "busy", "message": "The quota is used up.", "remedy": "Ask again."}
    assert (failed["chart"], failed["summary"]["text"]) == (None, "")
    assert refused["error"] is None and refused["blocks"] == [{"kind": "text", "text": "Not in the data."}]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://e")'])
def test_a_text_cannot_become_a_formula_in_a_spreadsheet(formula: str) -> None:
    rows = read(to_csv(turn_of(result_of([(formula, -5)], columns={formula: "STRING", "v": "INT64"}))))

    assert rows == [[f"'{formula}", "v"], [f"'{formula}", "-5"]]


def test_csv_is_exact_and_tells_null_from_the_empty_text() -> None:
    columns = {"a": "STRING", "b": "NUMERIC", "c": "INT64"}
    rows = [('x,"y"\nz', Decimal("1.10"), 356206305582642177), (None, None, None), ("", None, 1)]
    text = to_csv(turn_of(result_of(rows, columns=columns)))

    assert text == 'a,b,c\n"x,""y""\nz",1.10,356206305582642177\n,,\n"",,1\n'


def test_csv_of_several_results_has_an_empty_line_between_them() -> None:
    assert to_csv(turn_of(result_of([("a", 1)]), result_of([("b", 2)], name="s"))) == "k,v\na,1\n\nk,v\nb,2\n"
    assert to_csv(turn_of(outcome="refused")) == ""


class Tags(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_page_shows_everything_and_loads_nothing() -> None:
    page = to_html(turn_of(
        result_of([("North", 30), ("South", 10), ("East", 60)], read_as="sum of x by k"), follow_ups=["And by month?"],
        blocks=[TextBlock(text="said")], clock=date(2025, 12, 31),
    ))  # fmt: skip
    tags = Tags(page)

    for part in ("East has the highest v: 60", "<td>East</td>", "sum of x by k", "GROUP BY", "And by month?", "said"):
        assert part in page
    assert "Sample data. Today is taken as 31 December 2025." in page
    assert page.count('aria-roledescription="bar"') == 3
    assert tags.addresses == [] and not {"script", "link", "iframe", "img"} & set(tags.tags)
    assert not re.search(r"url\(|@import", page)


def test_bug_88_text_in_the_page_only_shows() -> None:
    page = to_html(turn_of(
        result_of([(HOSTILE, 3), ("b", 2)], columns={HOSTILE: "STRING", "v": "INT64"}, read_as=HOSTILE),
        question=HOSTILE, follow_ups=[HOSTILE], place=HOSTILE,
        blocks=[TextBlock(text=HOSTILE), NoticeBlock(text=HOSTILE)],
    ))  # fmt: skip

    assert not {"img", "script"} & set(Tags(page).tags)
    assert "&lt;img src=http" in page


def test_a_chart_that_cannot_be_drawn_costs_the_page_only_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = turn_of(result_of([("a", 2), ("b", 1)]))
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    page = to_html(turned)

    assert "<svg" not in page
    assert "Bar chart: v by k, 2 bars." in page and "vl-convert-python" in page


def test_text_for_a_terminal_is_aligned_also_in_wide_scripts() -> None:
    text = to_text(turn_of(result_of([("東京", 30), ("é", 1000), ("East", 6)])))
    start = text.index("k  ")
    table = text[start:].split("\n\n")[0].splitlines()

    assert table == ["k         v", "----  -----", "東京     30", "é     1,000", "East      6"]
    assert {width(line) for line in table} == {11}


def test_text_for_a_terminal_ends_with_questions_and_the_place() -> None:
    text = to_text(
        turn_of(result_of([("a", 2)], row_count=900), follow_ups=["x?", "y?"], blocks=[NoticeBlock(text="n")])
    )

    assert "(1 of 900 rows)" in text
    assert text.endswith("! n\n\nAsk next:\n  1. x?\n  2. y?\n\nSample data.\n")


def test_text_in_a_cell_cannot_steer_the_terminal() -> None:
    text = to_text(turn_of(result_of([(HOSTILE, 1), ("b", 2)]), blocks=[TextBlock(text=HOSTILE)], follow_ups=[HOSTILE]))

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_files_hold_every_result_and_the_chart(tmp_path: Path) -> None:
    turned = turn_of(
        result_of([("a", 2), ("b", 1)], name="../by region"), result_of([("c", 3), ("d", 4)], name="../by region")
    )
    files = write_files(turned, tmp_path / "new" / "out")

    assert [file.name for file in files] == ["by_region.csv", "by_region_2.csv", "chart.png"]
    assert files[1].read_text() == "k,v\nc,3\nd,4\n"
    assert files[2].read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == sorted(file.name for file in files)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(StorageError, match="cannot be written"):
        write_files(turn_of(result_of([("a", 2)])), tmp_path / "file")


def test_text_json_and_csv_import_no_heavy_library() -> None:
    import subprocess
    import sys

    script = (
        "import sys; import askhouse.export, askhouse.facts, askhouse.charts, askhouse.message; "
        "heavy = ('pandas', 'altair', 'vl_convert', 'duckdb', 'jsonschema', 'google.cloud'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_terminal_shows_words_without_the_marks_that_keep_markdown_from_acting() -> None:
    text = to_text(turn_of(blocks=[TextBlock(text=r"The column \<img src=x\> of a\_b is `c\_d`.")]))
    assert r"The column <img src=x> of a_b is `c\_d`." in text
