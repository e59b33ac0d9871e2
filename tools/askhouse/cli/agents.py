"""`askhouse agents`: the data agents that can be asked."""

from __future__ import annotations

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
