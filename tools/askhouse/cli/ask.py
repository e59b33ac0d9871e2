"""`askhouse ask`: one question, one answer, in the form that the reader wants."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ..errors import AskhouseError, UsageError
from ..settings import Settings
from .options import settings_of, today_option
from .problems import tell
from .quick import collect_nothing

if TYPE_CHECKING:
    from ..runtime import Turned

Format = Literal["text", "json", "csv", "html"]
MAX_PIPED = 1_000_000
"""Bytes of a question that is piped in."""
FORMATS: tuple[Format, ...] = ("text", "json", "csv", "html")


@click.command(short_help="Ask a question about the data.")
@click.argument("question", required=False)
@click.option("-c", "--continue", "continued", is_flag=True, help="Continue the last conversation.")
@click.option("--session", metavar="ID", help="Continue this conversation.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Form on stdout.")
@click.option("--agent", metavar="NAME", help="Ask this data agent.")
@click.option("--table", "tables", multiple=True, metavar="P.D.T", help="Ask this table only (repeatable).")
@today_option
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Also write the answer's results (CSV) and its chart (PNG) into this folder.",
)  # fmt: skip
@click.option(
    "--progress/--no-progress", default=None, help="Show the steps on stderr. [default: when stderr is a terminal]"
)
def ask(
    question: str | None,
    continued: bool,
    session: str | None,
    form: Format,
    agent: str | None,
    tables: tuple[str, ...],
    today: str | None,
    out: Path | None,
    progress: bool | None,
) -> None:
    """Ask a question about the data in plain language.

    The question is QUESTION, or what is piped in where it is left out or "-".
    """
    if agent and tables:
        raise UsageError("--agent and --table exclude one another.", "Give one of them.")
    if continued and session:
        raise UsageError("-c and --session exclude one another.", "Give one of them.")
    words = _words(question)
    collect_nothing()
    settings = settings_of(agent=agent, tables=tables, today=today)
    show = (sys.stderr.isatty() if progress is None else progress) or None
    turned = asyncio.run(_asked(settings, words, session, continued, show and _say))
    files: list[Path] = []
    try:
        files = _write(turned, out) if out else []
    finally:
        _print(turned, form, files)  # the answer is not lost where its files cannot be written
    click.get_current_context().exit(exit_code(turned))


def _words(question: str | None) -> str:
    if question in (None, "-") and not sys.stdin.isatty():
        question = _piped()
    if question in (None, "-") or not str(question).strip():
        raise UsageError(
            "There is no question.", 'Type it in quotes: askhouse ask "How many flights left each airport?"'
        )
    return str(question).strip()


def _piped() -> str:
    piped = sys.stdin.buffer.read(MAX_PIPED + 1)
    if len(piped) > MAX_PIPED:
        raise UsageError(
            f"What is piped in is longer than {MAX_PIPED:,} bytes.",
            "Pipe in a question; `askhouse load FILE` makes a table of data.",
        )
    return piped.decode("utf-8", errors="replace")


async def _asked(
    settings: Settings,
    words: str,
    session: str | None,
    continued: bool,
    on_progress: Callable[[str], None] | None,
) -> Turned:
    from ..connect import model_answers
    from ..home import prepare_home
    from ..runtime import ask_once, latest_session

    prepare_home(settings.home)
    model_answers(settings)
    if continued and (session := await latest_session(settings)) is None:
        raise UsageError("There is no conversation to continue.", "Ask without -c first.")
    return await ask_once(settings, words, session_id=session, on_progress=on_progress)


def _say(line: str) -> None:
    click.echo(line, err=True)


def _write(turned: Turned, folder: Path) -> list[Path]:
    from .. import export

    files = export.write_files(turned, folder)
    for file in files:
        click.echo(f"Wrote {file}", err=True)
    return files


def _print(turned: Turned, form: Format, files: list[Path]) -> None:
    """Put the answer on stdout. What failed has no answer to print: but in JSON, it is an error on stderr."""
    from .. import export

    failure = turned.answer.failure if turned.answer.outcome == "failed" else None
    if form == "json":
        picture = next((str(file) for file in files if file.suffix == ".png"), None)
        click.echo(export.to_json(turned, chart_file=picture))
    elif failure:
        tell(failure.message, failure.remedy)
    else:
        written = {"text": export.to_text, "csv": export.to_csv, "html": export.to_html}[form](turned)
        click.echo(written, nl=not written.endswith("\n"))


def exit_code(turned: Turned) -> int:
    """0 answered, 2 refused or asked back, 3 the service failed, 1 the person's command or set-up."""
    if turned.answer.outcome == "failed":
        failure = turned.answer.failure
        codes = {kind.code for kind in _kinds(UsageError)}
        return 1 if failure and failure.code in codes else 3
    return 0 if turned.answer.outcome == "answered" else 2


def _kinds(base: type[AskhouseError]) -> list[type[AskhouseError]]:
    return [base, *(deeper for kind in base.__subclasses__() for deeper in _kinds(kind))]
