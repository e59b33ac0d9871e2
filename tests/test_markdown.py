"""Data in Markdown only shows."""

import re
import string
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askhouse.facts.phrases import one_line
from askhouse.markdown import escape, fenced, numbered, table, tame, unescaped

ACTIVE = set("`*[]<>|~$")
texts = st.text(
    st.one_of(st.sampled_from("\\`*_[](){}<>#+-.!|~&;:/@$1w=\n\t ab"), st.characters(codec="utf-8")), max_size=40
)


def literal(markdown: str) -> str:
    """The text that escaped Markdown stands for; an assertion where a character could act."""
    text, i = "", 0
    while i < len(markdown):
        if markdown[i] == "\\" and markdown[i + 1 : i + 2] and markdown[i + 1] in string.punctuation:
            text, i = text + markdown[i + 1], i + 2
            continue
        assert markdown[i] not in ACTIVE, f"{markdown[i]!r} acts in {markdown!r}"
        text, i = text + markdown[i], i + 1
    return text


@given(texts)
def test_escaped_text_stands_for_itself_and_nothing_in_it_acts(text: str) -> None:
    escaped = escape(text)

    assert literal(escaped) == one_line(text)
    assert "://" not in escaped and not re.search(r"&#?\w+;|(?<![^\W_\\])_(?=\w)(?<!\\_)", escaped)
    assert not re.match(r"#{1,6}(\s|$)|[-+=](\s|$)|\d+[.)](\s|$)", escaped)
    assert unescaped(escaped) == one_line(text)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (r"\<img src=x\>", "<img src=x>"),
        ("&lt;img>", "<img>"),
        (r"`a\_b` and a\_b", r"`a\_b` and a_b"),
        ("```sql\nSELECT '\\_'\n```\na\\*b", "```sql\nSELECT '\\_'\n```\na*b"),
        (r"C:\new", r"C:\new"),
        (r"\`not code\` \_", "`not code` _"),
    ],
)
def test_a_terminal_shows_what_markdown_stands_for(markdown: str, shown: str) -> None:
    assert unescaped(markdown) == shown


@given(texts, texts)
def test_a_table_keeps_its_cells(a: str, b: str) -> None:
    lines = table([a, b], [[b, a]], [False, True]).splitlines()

    assert lines[1] == "|:---|---:|"
    for line in (lines[0], lines[2]):
        assert len(re.findall(r"(?:\\.|[^|\\])*\|", line)) == 3


def test_the_service_s_own_markdown_stays_but_cannot_act() -> None:
    told = "**Key points**\n\n- one\n\n![p](http://e.example/x.png) [l](http://e.example) <img src=x>\n\n```\n<b>\n```"
    tamed = tame(told)

    assert tamed.startswith("**Key points**\n\n- one\n")
    assert "\\![p\\](http" in tamed and "[l\\](http" in tamed and "&lt;img src=x>" in tamed
    assert tamed.endswith("```\n<b>\n```")


def test_a_fence_is_longer_than_any_inside_and_an_open_one_is_closed() -> None:
    assert fenced("SELECT '```'", "sql") == "````sql\nSELECT '```'\n````"
    assert tame("```\nopen").endswith("\n```")
    assert tame("````\n```\n<b>\n````\n<b>").endswith("````\n&lt;b>")


def test_questions_are_numbered() -> None:
    assert numbered(["How many?", "a\nb | c"]) == "1. How many?\n2. a b \\| c"


class TestAsAReaderOfMarkdownShowsIt:
    """The same with a parser, where one is installed."""

    @staticmethod
    def page_of(markdown: str) -> str:
        parser = pytest.importorskip("markdown_it", reason="needs markdown-it-py").MarkdownIt(
            "commonmark", {"html": True}
        )
        return str(parser.enable("table").enable("strikethrough").render(markdown))

    @given(texts)
    def test_text(self, text: str) -> None:
        shown = re.sub(r"^<p>|</p>\n$", "", self.page_of(f"{escape(text)}\n"))

        assert unescape(shown) == one_line(text)

    @given(texts)
    def test_cell(self, text: str) -> None:
        cells = re.findall(
            r"<td[^>]*>(.*?)</td>", self.page_of(table(["a", "b"], [[text, "1"]], [False, True])), re.DOTALL
        )

        assert [unescape(cell) for cell in cells] == [one_line(text), "1"]

    @given(texts)
    def test_the_service_s_words_load_and_link_nothing(self, text: str) -> None:
        assert not re.search(r"<(img|a|script)\b", self.page_of(tame(text)))
