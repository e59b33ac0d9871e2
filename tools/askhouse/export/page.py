"""A turn as one self-contained page: no script, and nothing is loaded from anywhere."""

from __future__ import annotations

from html import escape

from state_contracts import Answer, Chart, Preferences, Result

from ..errors import AskhouseError
from ..facts.cells import header_of, texts
from ..facts.phrases import Writer, one_line
from ..message import left_out, notes, place_words, pretty, said_by
from .turned import Turned

MOST_ROWS = 1_000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.3rem}.lead{font-size:1.1rem}.words{white-space:pre-wrap}.note,footer{color:#555}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{padding:.25rem .75rem;border-bottom:1px solid #ddd}
th,td{text-align:left}.number{text-align:right;font-variant-numeric:tabular-nums}figure{margin:1rem 0}
pre{background:#f5f5f5;padding:.75rem;overflow-x:auto}svg{max-width:100%;height:auto}
""".strip()


def to_html(turned: Turned, preferences: Preferences | None = None) -> str:
    """The page of a turn: summary, chart, tables, SQL, what to ask next, place. Everything from the data is escaped."""
    answer, writer = turned.answer, Writer.of(preferences)
    summary = turned.summary.text if turned.summary else ""
    parts = [
        f"<h1>{_line(answer.question)}</h1>",
        f'<p class="lead">{_line(summary)}</p>' if summary else "",
        _figure(turned.chart),
        *(_table(result, writer) for result in answer.results),
        *(f'<p class="words">{escape(text)}</p>' for text in said_by(answer, turned.summary)),
        _failure(answer),
        *(_computation(result) for result in answer.results),
        *(f'<p class="note">{_line(note)}</p>' for note in notes(answer)),
        _asking(answer),
        f"<footer>{_line(place_words(answer))}</footer>",
    ]
    return _page(answer.question, "\n".join(part for part in parts if part))


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_line(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _line(text: str) -> str:
    return escape(one_line(text))


def _figure(chart: Chart | None) -> str:
    """The chart as SVG, or its message in words where it cannot be drawn here."""
    if chart is None or chart.spec is None:
        return ""
    from ..charts.render import svg

    try:
        picture = svg(chart.spec)
    except AskhouseError as error:
        return f'<p class="note">{_line(chart.alt)} {_line(error.message)}</p>'
    return f'<figure role="img" aria-label="{_line(chart.alt)}">{picture}</figure>'


def _table(result: Result, writer: Writer) -> str:
    if not result.rows:
        return ""
    roles, cells = texts(result, writer, rows=MOST_ROWS, columns=len(result.columns))
    kinds = [' class="number"' if role.kind == "measure" else "" for role in roles]
    head = "".join(f"<th{kind}>{escape(header_of(role))}</th>" for role, kind in zip(roles, kinds, strict=True))
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in cells
    )
    note = left_out(result, len(cells), len(roles), writer)
    caption = f'\n<p class="note">{_line(note)}</p>' if note else ""
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>{caption}"


def _failure(answer: Answer) -> str:
    failure = answer.failure
    return f"<p>{_line(f'{failure.message} {failure.remedy}')}</p>" if failure and not answer.texts else ""


def _computation(result: Result) -> str:
    if not result.sql or result.sql_origin == "catalogue":
        return ""
    caption = f"<p>What the SQL does: {_line(result.read_as)}</p>\n" if result.read_as else ""
    return f"{caption}<pre><code>{escape(pretty(result.sql))}</code></pre>"


def _asking(answer: Answer) -> str:
    if not answer.follow_ups:
        return ""
    items = "".join(f"<li>{_line(question)}</li>" for question in answer.follow_ups)
    return f"<p>{'Ask next' if answer.outcome == 'answered' else 'Try instead'}</p>\n<ol>{items}</ol>"
