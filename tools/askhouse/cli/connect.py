"""`askhouse connect`: choose Google Cloud, or this machine again."""

from __future__ import annotations

import os
from pathlib import Path

import click
from dotenv import find_dotenv

from ..errors import UsageError
from ..settings import env_name


@click.command(short_help="Choose Google Cloud, or this machine again.")
@click.argument("project", required=False)
@click.option("--local", is_flag=True, help="Return to this machine: remove what `connect` wrote.")
@click.option("--location", metavar="L", help="Location of the Conversational Analytics API. [default: global]")
@click.option("--dataset", "datasets", multiple=True, metavar="D", help="Ask this dataset's tables (repeatable).")
@click.option("--agent", metavar="A", help="Ask this data agent.")
@click.option("--model", metavar="M", help="Model of the root agent. [default: by rule, on this machine]")
def connect(
    project: str | None,
    local: bool,
    location: str | None,
    datasets: tuple[str, ...],
    agent: str | None,
    model: str | None,
) -> None:
    """Choose a Google Cloud PROJECT to be asked, and write that into `.env`.

    First it is checked that the services answer, that a dry run passes, and that the datasets or the agent are there.
    When anything is amiss, nothing is written. No secret is written ever: the credentials are Google's own
    (gcloud auth application-default login).
    """
    if local == bool(project):
        raise UsageError("Give a project, or --local.", "`askhouse connect --help` shows both.")
    from .. import connect as connecting

    env_file = Path(find_dotenv(usecwd=True) or ".env")
    if project:
        wish = connecting.Wish(project, location, datasets, agent, model)
        settings = connecting.connect(wish, env_file, say=click.echo)
        for sentence in connecting.leaves(settings):
            click.echo(sentence)
        click.echo(f"Written to {env_file}. `askhouse connect --local` returns to this machine.")
    else:
        connecting.disconnect(env_file)
        click.echo(f"Questions are answered on this machine again ({env_file}).")
    _warn_of_environment(connecting.CLOUD)


def _warn_of_environment(names: tuple[str, ...]) -> None:
    """The environment goes before the file."""
    for variable in map(env_name, names):
        if os.environ.get(variable):
            click.echo(f"Note: {variable} is set in the environment, which goes before .env; unset it.", err=True)
