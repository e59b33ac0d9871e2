"""The place is chosen by the settings, and names itself to the reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askhouse.emulator.local import stop_embedded
from askhouse.errors import SettingsError
from askhouse.place import agent_name, place_of
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef


@pytest.fixture(autouse=True)
def _stop_services() -> Iterator[None]:
    yield
    stop_embedded()


def refs(*names: str) -> tuple[TableRef, ...]:
    return tuple(map(TableRef.parse, names))


def test_a_fresh_machine_asks_the_sample(home: Path) -> None:
    place = place_of(Settings(home=home))
    assert place.name == "sample data on this machine"
    assert TableRef("local", "nycflights13", "flights") in place.tables
    assert place.settings.chat_endpoint is not None and place.settings.chat_endpoint.startswith("http://127.0.0.1:")


def test_own_data_is_named_beside_the_sample_and_by_itself(home: Path, tmp_path: Path) -> None:
    from askhouse.warehouse.load import load_file

    file = tmp_path / "sales.csv"
    file.write_text("city,amount\nPorto,3\nBraga,4\n")
    load_file(home, file)
    both = place_of(Settings(home=home))
    assert both.name == "sample data and your data on this machine"
    assert both.name_for(both.read_by(["SELECT city FROM `local.my_data.sales`"])) == "your data on this machine"
    assert both.name_for(both.read_by(["SELECT 1 FROM `local.nycflights13.flights`"])) == "sample data on this machine"
    own = place_of(Settings(home=home, tables=("local.my_data.sales",)))
    assert (own.name, own.tables) == ("your data on this machine", refs("local.my_data.sales"))


def test_a_star_is_all_tables_of_a_dataset(home: Path) -> None:
    place = place_of(Settings(home=home, tables=("local.nycflights13.*", "local.nycflights13.flights")))
    assert len(place.tables) == len(set(place.tables)) > 1
    assert {table.dataset for table in place.tables} == {"nycflights13"}


@pytest.mark.parametrize("table", ["local.nycflights13.flight", "local.nowhere.*", "other.nycflights13.flights"])
def test_a_table_that_does_not_exist_is_said(home: Path, table: str) -> None:
    with pytest.raises(SettingsError) as raised:
        place_of(Settings(home=home, tables=(table,)))
    assert raised.value.message and raised.value.remedy


def test_a_project_alone_is_no_place(home: Path) -> None:
    with pytest.raises(SettingsError, match="ASKHOUSE_TABLES"):
        place_of(Settings(home=home, project="my-project"))


def test_google_is_named_with_its_project_and_agent(home: Path) -> None:
    settings = Settings(home=home, project="my-project", location="eu", agent="sales")
    place = place_of(settings)
    assert place.name == "BigQuery project my-project, agent sales"
    assert place.agent == "projects/my-project/locations/eu/dataAgents/sales"
    tables = place_of(Settings(home=home, project="my-project", tables=("my-project.shop.orders",)))
    assert tables.name == "BigQuery project my-project"
    assert tables.tables == refs("my-project.shop.orders")


def test_credentials_that_lie_around_change_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", "GCLOUD_PROJECT"):
        monkeypatch.setenv(name, "stray")
    assert place_of(Settings(home=home)).name == "sample data on this machine"


def test_an_agent_is_named_by_its_id_or_whole(home: Path) -> None:
    settings = Settings(home=home)
    assert agent_name(settings, "flights") == "projects/local/locations/global/dataAgents/flights"
    whole = "projects/p/locations/us/dataAgents/a"
    assert agent_name(settings, whole) == whole
