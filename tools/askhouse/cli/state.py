"""`askhouse state`: the contracts, their proof, and how a session's state came to be."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from state_contracts import CONTRACTS

from .markdown import table
from .sessions import in_store, store_option

if TYPE_CHECKING:
    from ..guard.trace import Change

_WIDTH = 60


@click.group()
def state() -> None:
    """What the agents leave for each other: the keys, their proof, and every change."""


@state.command("table")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="Form on stdout.",
)
def table_(form: str) -> None:
    """Print every key of the state: what it holds, who writes it, who reads it, what it is for."""
    if form == "markdown":
        click.echo(contract_table())
        return
    for contract in CONTRACTS:
        limit = f", up to {contract.max_bytes:,} bytes" if contract.persisted else ""
        click.echo(f"{contract.key}  ({contract.holds.__name__}, version {contract.version}{limit})")
        click.echo(f"    {contract.purpose}")
        click.echo(f"    {', '.join(contract.writers)} -> {', '.join(contract.readers)}")


@state.command()
def check() -> None:
    """Prove that every reader of a key has a writer before it, and draw the steps."""
    from data_analyst.agent import build_app
    from state_contracts.flow import unfed_readers

    from ..errors import UsageError
    from ..guard.flow import drawn, edges_of
    from .options import settings_of

    edges = edges_of(build_app(settings_of()))
    click.echo(drawn(edges))
    if unfed := unfed_readers(edges, CONTRACTS):
        raise UsageError(" ".join(map(str, unfed)), "Correct the workflow or the declaration.")
    click.echo(f"{len(CONTRACTS)} keys: every reader of a temp: key has a writer before it.")


@state.command()
@click.argument("session")
@click.option("--key", metavar="KEY", help="Only the changes of this key.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form on stdout."
)
@store_option
def trace(session: str, key: str | None, form: str, uri: str | None) -> None:
    """Print every state change of SESSION (an id, or `last`): when, by whom, from what, to what."""
    from ..guard.trace import changes_of

    changes = list(changes_of(in_store(uri, lambda store: store.session(session)), key))
    if form == "json":
        click.echo(json.dumps([asdict(change) for change in changes], default=str, ensure_ascii=False, indent=2))
        return
    for change in changes:
        click.echo(_line(change))


def contract_table() -> str:
    """Every key of the state as a Markdown table."""
    rows = (
        (
            f"`{contract.key}`",
            contract.holds.__name__,
            ", ".join(contract.writers),
            ", ".join(contract.readers),
            f"{contract.max_bytes:,} bytes" if contract.persisted else "none",
            str(contract.version),
            contract.purpose,
        )
        for contract in CONTRACTS
    )
    return table(("Key", "Holds", "Written by", "Read by", "Limit", "Version", "What for"), rows)


def _line(change: Change) -> str:
    when = change.time.strftime("%Y-%m-%d %H:%M:%S")
    return f"{when}  {change.event}  {change.writer:<12} {change.key}: {_short(change.old)} -> {_short(change.new)}"


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
