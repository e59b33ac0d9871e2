"""Where questions are answered: the place's name for the reader, what may be asked there, and at which addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from .emulator.names import LOCAL_PARENT, LOCAL_PROJECT
from .errors import SettingsError, TableNotFoundError
from .settings import Settings
from .warehouse.base import TableRef, Warehouse

if TYPE_CHECKING:
    from .warehouse.bigquery import BigQueryWarehouse

OWN_DATASET = "my_data"


@dataclass(frozen=True)
class Place:
    """A place that answers questions."""

    settings: Settings
    """The settings, with the address of the Conversational Analytics API filled in."""
    tables: tuple[TableRef, ...]
    """Tables that may be asked; empty where a data agent decides."""
    agent: str | None
    """Resource name of the chosen data agent."""
    everything: bool = True
    """Whether `tables` are all there are, nobody having chosen some."""

    @property
    def name(self) -> str:
        """The place in words, for the last line of an answer."""
        return self.name_for(self.tables)

    def name_for(self, tables: Iterable[TableRef]) -> str:
        """The place of an answer that read `tables`."""
        if self.settings.embedded:
            return _local_name(tables)
        agent = f", agent {self.agent.rsplit('/', 1)[-1]}" if self.agent else ""
        return f"BigQuery project {self.settings.project}{agent}"

    def warehouse(self) -> BigQueryWarehouse:
        """BigQuery of this place. Blocks while the embedded one opens its door."""
        from .warehouse.bigquery import BigQueryWarehouse

        return BigQueryWarehouse(_with_bigquery(self.settings))

    def sample_end(self, table: TableRef) -> date | None:
        """The last day of a sample table, which counts as today; None for other tables."""
        return _local_warehouse(self.settings).table(table).sample_end if self.settings.embedded else None

    def read_by(self, sql: Sequence[str]) -> tuple[TableRef, ...]:
        """The allowed tables that statements name, or all where none can be told."""
        text = "\n".join(sql).replace("`", "")
        named = tuple(table for table in self.tables if str(table) in text)
        return named or self.tables


def place_of(settings: Settings) -> Place:
    """The place that the settings choose. Starts the embedded services when they are needed, so call it off the
    event loop.

    Raises SettingsError when a project is set but neither tables nor an agent, or a chosen table does not exist, and
    StorageError when the data folder cannot be used.
    """
    reachable = _with_chat(settings)
    agent = agent_name(settings, settings.agent) if settings.agent else None
    if agent and not settings.embedded:
        return Place(reachable, (), agent)
    return Place(reachable, _allowed(reachable), agent, everything=not settings.tables)


async def reachable(settings: Settings) -> Settings:
    """The settings with the address of the Conversational Analytics API, starting the embedded one where needed."""
    return await asyncio.to_thread(_with_chat, settings)


def agent_name(settings: Settings, agent: str) -> str:
    """The full resource name of a data agent, given by that name or by its id."""
    if agent.startswith("projects/"):
        return agent
    parent = f"projects/{settings.project}/locations/{settings.location}" if settings.project else LOCAL_PARENT
    return f"{parent}/dataAgents/{agent}"


def _with_chat(settings: Settings) -> Settings:
    """Fill in the embedded service's address, where no other was chosen."""
    if not settings.embedded or settings.chat_endpoint:
        return settings
    from .emulator.local import embedded

    endpoints = embedded(settings)
    return settings.model_copy(
        update={"chat_endpoint": endpoints.grpc if settings.transport == "grpc" else endpoints.rest}
    )


def _with_bigquery(settings: Settings) -> Settings:
    if not settings.embedded or settings.bigquery_endpoint:
        return settings
    from .emulator.local import embedded

    return settings.model_copy(update={"bigquery_endpoint": embedded(settings).rest})


def _allowed(settings: Settings) -> tuple[TableRef, ...]:
    if not settings.embedded and not settings.tables:
        raise SettingsError(
            f"ASKHOUSE_PROJECT is {settings.project}, but nothing in it was chosen to be asked.",
            "Set ASKHOUSE_TABLES (project.dataset.table, or project.dataset.*) or ASKHOUSE_AGENT.",
        )
    if not settings.tables:
        return _all_tables(settings)
    try:
        chosen = [table for pattern in settings.tables for table in _matching(pattern, settings)]
    except TableNotFoundError as error:  # who chose it is the person, not the question
        raise SettingsError(error.message, error.remedy) from error
    return tuple(dict.fromkeys(chosen))


def _matching(pattern: str, settings: Settings) -> list[TableRef]:
    ref = TableRef.parse(pattern)
    if ref.table == "*":
        tables = [table for table in _all_tables(settings, ref) if replace(table, table="*") == ref]
        if not tables:
            raise TableNotFoundError(f"No table in {ref.project}.{ref.dataset}.", "`askhouse doctor` lists the tables.")
        return tables
    if settings.embedded:
        _local_warehouse(settings).table(ref)
    return [ref]


def _all_tables(settings: Settings, within: TableRef | None = None) -> tuple[TableRef, ...]:
    if settings.embedded:
        return tuple(_local_warehouse(settings).table_refs())
    from .warehouse.bigquery import BigQueryWarehouse

    project = within.project if within else settings.project
    return tuple(ref for ref in BigQueryWarehouse(settings).table_refs() if ref.project == project)


def _local_warehouse(settings: Settings) -> Warehouse:
    from .warehouse.duckdb import open_warehouse

    return open_warehouse(settings.home)


def _local_name(tables: Iterable[TableRef]) -> str:
    own = {table.project == LOCAL_PROJECT and table.dataset == OWN_DATASET for table in tables}
    names = [name for is_own, name in ((False, "sample data"), (True, "your data")) if is_own in own]
    return f"{' and '.join(names) or 'data'} on this machine"
