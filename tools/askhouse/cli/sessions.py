"""`askhouse sessions`: conversations, and what happened in them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import settings_of

if TYPE_CHECKING:
    from google.adk.events.event import Event

    from ..kept import Kept

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def store_option(command: F) -> F:
    """`--sessions URI`, where they are not in this laptop's store."""
    return click.option(
        "--sessions",
        "uri",
        metavar="URI",
        help="Session store: sqlite:////FILE or postgresql+asyncpg://… (default: this machine's).",
    )(command)


def in_store(uri: str | None, work: Callable[[Kept], Any]) -> Any:
    """Do some work on the store and give its result."""
    from ..kept import kept

    async def run() -> Any:
        async with kept(settings_of(), uri) as store:
            return await work(store)

    return asyncio.run(run())


@click.group()
def sessions() -> None:
    """Conversations: list them, look into one, delete them."""


@sessions.command("list")
@store_option
def list_(uri: str | None) -> None:
    """List the conversations, most recent first."""
    for session in in_store(uri, lambda store: store.sessions()):
        title = (session.state.get("__session_metadata__") or {}).get("displayName", "")
        click.echo(f"{session.id}  {_time(session.last_update_time)}  {title}".rstrip())


@sessions.command()
@click.argument("session")
@store_option
def show(session: str, uri: str | None) -> None:
    """Print each event of SESSION (an id, or `last`): when, whose, of which kind, and what it says."""
    for event in in_store(uri, lambda store: store.session(session)).events:
        click.echo(f"{_time(event.timestamp)}  {event.author:<14} {_line(event)}")


@sessions.command()
@click.argument("session")
@store_option
def delete(session: str, uri: str | None) -> None:
    """Delete SESSION (an id, or `last`) with all its events."""
    click.echo(f"Deleted {in_store(uri, lambda store: store.delete(session))}.")


@sessions.command()
@click.option("--older-than", "age", required=True, metavar="AGE", help="30d, 12h, 2w: without any event since.")
@store_option
def expire(age: str, uri: str | None) -> None:
    """Delete the conversations that nothing happened in for longer than AGE."""
    deleted = in_store(uri, lambda store: store.expire(_age(age)))
    click.echo(f"Deleted {len(deleted)} session{'' if len(deleted) == 1 else 's'}.")


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,5})([mhdw])", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not an age: write a number and m, h, d or w, as in 30d.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _line(event: Event) -> str:
    from ..guard.trace import kind_of

    called = [call.name for call in event.get_function_calls()]
    called += [result.name for result in event.get_function_responses()]
    calls = ", ".join(map(str, called))
    words = " ".join(part.text or "" for part in (event.content and event.content.parts) or [])
    keys = ", ".join([*event.actions.state_delta, *event.actions.artifact_delta])
    said = calls or " ".join(words.split())[:100]
    return f"{kind_of(event):<24} {said}{f' [{keys}]' if keys else ''}".rstrip()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
