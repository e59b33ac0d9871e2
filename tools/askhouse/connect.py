"""Choosing Google Cloud: every check first, then the `.env`; and what each service answers, for `askhouse doctor`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import envfile
from .errors import MissingPartError, SettingsError, UsageError
from .settings import LOCAL_MODEL, Settings, env_name, load_settings

WRITTEN = ("project", "location", "tables", "agent", "model")
"""Settings that `connect` writes."""
CLOUD = (*WRITTEN, "engine")
"""Settings that send something to Google; `--local` removes them."""

_ANYWHERE = "global"


@dataclass(frozen=True)
class Wish:
    """What the person wants to ask: datasets of a project, or one of its data agents."""

    project: str
    location: str | None = None
    datasets: tuple[str, ...] = ()
    agent: str | None = None
    model: str | None = None


def connect(wish: Wish, env_file: Path, say: Callable[[str], None]) -> Settings:
    """Check that `wish` can be asked, then write it to `env_file`.

    Each check that passed is told by `say`. The first that fails raises its AskhouseError, and nothing is written.
    """
    settings = _settings(wish)
    say(f"Data agents: {agents_answer(settings)}")
    say(f"BigQuery: {bigquery_answers(settings)}")
    if not wish.agent and not wish.datasets:
        raise UsageError(f"Nothing was chosen in {wish.project}.", _choices(settings))
    for dataset in wish.datasets:
        say(f"Dataset {dataset}: {_dataset(dataset, settings)}")
    if wish.agent:
        agent(settings, wish.agent)
        say(f"Agent {wish.agent}: found.")
    say(f"Model: {model_answers(settings)}")
    envfile.change(env_file, {env_name(name): _written(settings, name) for name in WRITTEN})
    return settings


def disconnect(env_file: Path) -> None:
    """Remove from `env_file` all that sends anything to Google."""
    if env_file.exists():
        envfile.change(env_file, {env_name(name): None for name in CLOUD})


def leaves(settings: Settings) -> list[str]:
    """What leaves this machine, and to whom: one sentence each."""
    told = []
    if not settings.embedded:
        what = "the agent's name" if settings.agent else "the names of the chosen tables"
        told.append(
            f"To Google Cloud project {settings.project}: your questions, the conversation so far, and {what}. "
            "The queries run there and are billed there."
        )
    if settings.model != LOCAL_MODEL:
        told.append(f"To the model {settings.model}: your questions and the conversation so far, answers included.")
    return told or ["Nothing leaves this machine."]


def _settings(wish: Wish) -> Settings:
    """The wish, with what the environment and the `.env` say of all else. Raises SettingsError."""
    if wish.agent and wish.datasets:
        raise UsageError("--agent and --dataset exclude one another.", "Give one of them.")
    tables = tuple(f"{_qualified(dataset, wish.project)}.*" for dataset in wish.datasets)
    chosen = {"project": wish.project, "tables": tables, "location": wish.location or _ANYWHERE}
    settings = load_settings({**chosen, "model": wish.model or LOCAL_MODEL}).settings
    return settings.model_copy(update={"agent": wish.agent})


def _qualified(dataset: str, project: str) -> str:
    return dataset if "." in dataset else f"{project}.{dataset}"


def _written(settings: Settings, name: str) -> str | None:
    """The setting as the `.env` holds it; None where the default does."""
    value = getattr(settings, name)
    if name != "project" and value == Settings.model_fields[name].default:
        return None
    return ",".join(value) if isinstance(value, tuple) else value


def _dataset(dataset: str, settings: Settings) -> str:
    """See that the dataset is there, holds tables, and lies where the service may read it."""
    from .warehouse.bigquery import bigquery_client, bigquery_error, retry

    with bigquery_error(), bigquery_client(settings) as client:
        found = client.get_dataset(_qualified(dataset, settings.project or ""), retry=retry())
        names = [table.table_id for table in client.list_tables(found, retry=retry())]
    if not names:
        raise UsageError(f"Dataset {dataset} holds no table.", "Choose another by --dataset.")
    location = str(found.location or "")
    if settings.location != _ANYWHERE and location.lower() != settings.location:
        raise UsageError(
            f"Dataset {dataset} lies in {location}, but the location is {settings.location}.",
            f"Give --location {location.lower()}, or leave it out for {_ANYWHERE}.",
        )
    return f"{len(names)} tables in {location}."


def _choices(settings: Settings) -> str:
    from .warehouse.bigquery import bigquery_client, bigquery_error, retry

    with bigquery_error(), bigquery_client(settings) as client:
        datasets = [f"--dataset {dataset.dataset_id}" for dataset in client.list_datasets(retry=retry())]
    choices = [*datasets, *(f"--agent {_id(found)}" for found in agents(settings))]
    return f"Give one of: {', '.join(choices)}." if choices else "It has no dataset and no agent: make one first."


def agents(settings: Settings) -> list[dict[str, Any]]:
    """The data agents that may be asked, in the API's JSON form. Raises ServiceError."""
    from .insights.agents import list_accessible

    return asyncio.run(list_accessible(settings))


def agent(settings: Settings, name: str) -> dict[str, Any]:
    """One data agent by its id or resource name. Raises ServiceError when there is none."""
    from .insights.agents import get

    return asyncio.run(get(settings, name))


def _id(found: Mapping[str, Any]) -> str:
    return str(found["name"]).rsplit("/", 1)[-1]


def agents_answer(settings: Settings) -> str:
    """Ask for the data agents. Raises ServiceError when nobody answers or the right is lacking."""
    names = [_id(found) for found in agents(settings)]
    return f"{', '.join(names) or 'none yet'} (location {settings.location})."


def bigquery_answers(settings: Settings) -> str:
    """Dry-run one statement, which bills nothing. Raises ServiceError."""
    from .warehouse.bigquery import BigQueryWarehouse

    BigQueryWarehouse(settings).dry_run("SELECT 1")
    return "a dry run passed."


def model_answers(settings: Settings) -> str:
    """Find the model's class; nothing is sent to it. Raises MissingPartError or SettingsError."""
    if settings.model == LOCAL_MODEL:
        return f"{LOCAL_MODEL}, by rule on this machine."
    from google.adk.models import LLMRegistry

    from .offline_model import register

    register()
    try:
        LLMRegistry.resolve(settings.model)
    except (ValueError, ImportError) as error:
        needed = re.search(r"require\s+the (\w+) package", str(error))
        remedy = f"Install its package (pip install {needed[1]}), or correct" if needed else "Correct"
        kind = MissingPartError if needed else SettingsError
        raise kind(
            f"ADK cannot use the model {settings.model!r}.",
            f"{remedy} the name, or unset ASKHOUSE_MODEL to answer by rule.",
        ) from error
    return f"{settings.model} (its key or credentials are tried at the first question)."
