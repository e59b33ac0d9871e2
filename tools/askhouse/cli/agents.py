"""`askhouse agents`: the data agents that can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from .options import settings_of


@click.group()
def agents() -> None:
    """Data agents: each knows some tables and how they are meant."""


@agents.command("list")
def list_() -> None:
    """List the data agents, each with what it is for."""
    from .. import connect

    for agent in connect.agents(settings_of()):
        click.echo(f"{agent['name'].rsplit('/', 1)[-1]:<20} {agent.get('description', '')}".rstrip())


@agents.command()
@click.argument("name")
def show(name: str) -> None:
    """Show what the data agent NAME knows: its tables, its instruction, its example questions."""
    from .. import connect

    for line in _lines(connect.agent(settings_of(), name)):
        click.echo(line)


def _lines(agent: Mapping[str, Any]) -> Iterator[str]:
    knows = agent.get("dataAnalyticsAgent", {}).get("publishedContext", {})
    tables = knows.get("datasourceReferences", {}).get("bq", {}).get("tableReferences", [])
    questions = [example["naturalLanguageQuestion"] for example in knows.get("exampleQueries", [])]
    yield str(agent["name"])
    yield from filter(None, (agent.get("displayName"), agent.get("description")))
    yield from _part(
        "Tables", [".".join(table[part] for part in ("projectId", "datasetId", "tableId")) for table in tables]
    )
    yield from _part("Instruction", knows.get("systemInstruction", "").splitlines())
    yield from _part("Example questions", questions)


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)
