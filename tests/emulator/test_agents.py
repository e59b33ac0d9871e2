"""Data agents: the two that ship, and those that people make."""

from __future__ import annotations

from uuid import uuid4

import pytest
from google.api_core.exceptions import AlreadyExists, BadRequest, Conflict, InvalidArgument, NotFound
from google.cloud import geminidataanalytics_v1 as api
from google.longrunning import operations_pb2
from google.protobuf import field_mask_pb2

from askhouse.emulator.local import Emulator
from askhouse.insights import agents as listed
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import open_warehouse

from .conftest import PARENT, agent_with_example, clients, rest_options


def _new_id() -> str:
    return f"agent-{uuid4().hex[:12]}"


async def test_two_agents_ship_ready(emulator: Emulator) -> None:
    async with clients(emulator) as (_, agents):
        found = {agent.name async for agent in await agents.list_accessible_data_agents(parent=PARENT)}
        flights = await agents.get_data_agent(name=f"{PARENT}/dataAgents/flights")
    assert {f"{PARENT}/dataAgents/flights", f"{PARENT}/dataAgents/thelook"} <= found
    assert flights.display_name == "Flights from New York 2013"


@pytest.mark.parametrize("agent_id", ["flights", "thelook"])
async def test_their_tables_exist_and_their_examples_run(emulator: Emulator, agent_id: str) -> None:
    async with clients(emulator) as (_, agents):
        agent = await agents.get_data_agent(name=f"{PARENT}/dataAgents/{agent_id}")
    context = agent.data_analytics_agent.published_context
    warehouse = open_warehouse(emulator.settings.home)
    for table in context.datasource_references.bq.table_references:
        described = warehouse.table(TableRef(table.project_id, table.dataset_id, table.table_id))
        names = {column.name for column in described.columns}
        assert {field.name for field in table.schema.fields} <= names
    for example in context.example_queries:
        assert warehouse.query(example.sql_query).total_rows > 0


async def test_create_get_update_delete_over_grpc(emulator: Emulator) -> None:
    agent_id = _new_id()
    name = f"{PARENT}/dataAgents/{agent_id}"
    async with clients(emulator) as (_, agents):
        operation = await agents.create_data_agent(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example("q", "SELECT 1")
        )
        created = await operation.result()
        assert created.name == name and created.create_time == created.update_time
        assert (await agents.get_data_agent(name=name)) == created
        changed = await agents.update_data_agent_sync(
            data_agent=api.DataAgent(name=name, display_name="Sales", description="left out"),
            update_mask=field_mask_pb2.FieldMask(paths=["display_name"]),
        )
        assert (changed.display_name, changed.description) == ("Sales", "")
        assert changed.data_analytics_agent == created.data_analytics_agent
        await agents.delete_data_agent_sync(name=name)
        left = [agent.name async for agent in await agents.list_data_agents(parent=PARENT)]
        hidden = await agents.list_data_agents(request=api.ListDataAgentsRequest(parent=PARENT, show_deleted=True))
        assert name not in left and name in [agent.name async for agent in hidden]
        with pytest.raises(AlreadyExists):
            await agents.create_data_agent_sync(parent=PARENT, data_agent_id=agent_id, data_agent=api.DataAgent())
        with pytest.raises(NotFound):
            await agents.delete_data_agent_sync(name=name)


async def test_an_operation_can_be_looked_up_by_its_name(emulator: Emulator) -> None:
    async with clients(emulator) as (_, agents):
        operation = await agents.create_data_agent(
            parent=PARENT, data_agent_id=_new_id(), data_agent=api.DataAgent(display_name="Found")
        )
        found = await agents.get_operation(operations_pb2.GetOperationRequest(name=operation.operation.name))
        assert found == operation.operation and found.done
        with pytest.raises(NotFound):
            await agents.get_operation(operations_pb2.GetOperationRequest(name=f"{PARENT}/operations/none"))


def test_create_get_delete_over_rest(emulator: Emulator) -> None:
    agent_id = _new_id()
    name = f"{PARENT}/dataAgents/{agent_id}"
    with api.DataAgentServiceClient(**rest_options(emulator)) as agents:
        operation = agents.create_data_agent(parent=PARENT, data_agent_id=agent_id, data_agent=api.DataAgent())
        assert operation.result().name == name
        assert agents.get_data_agent(name=name).name == name
        with pytest.raises(Conflict):
            agents.create_data_agent_sync(parent=PARENT, data_agent_id=agent_id, data_agent=api.DataAgent())
        assert agents.get_operation({"name": operation.operation.name}).done
        changed = agents.update_data_agent(
            data_agent=api.DataAgent(name=name, description="New"),
            update_mask=field_mask_pb2.FieldMask(paths=["description"]),
        )
        assert changed.result().description == "New"
        with pytest.raises(BadRequest, match="update_mask"):
            agents.update_data_agent_sync(
                data_agent=api.DataAgent(name=name), update_mask=field_mask_pb2.FieldMask(paths=["no_field"])
            )
        agents.delete_data_agent(name=name).result()
        assert name not in [agent.name for agent in agents.list_data_agents(parent=PARENT)]


@pytest.mark.parametrize("agent_id", ["Upper", "1st", "under_score", "ends-", "x" * 64])
async def test_ids_follow_the_rule(emulator: Emulator, agent_id: str) -> None:
    async with clients(emulator) as (_, agents):
        with pytest.raises(InvalidArgument, match="data_agent_id"):
            await agents.create_data_agent_sync(parent=PARENT, data_agent_id=agent_id, data_agent=api.DataAgent())


async def test_a_shipped_agents_id_is_taken(emulator: Emulator) -> None:
    async with clients(emulator) as (_, agents):
        with pytest.raises(AlreadyExists):
            await agents.create_data_agent_sync(parent=PARENT, data_agent_id="thelook", data_agent=api.DataAgent())


async def test_pages(emulator: Emulator) -> None:
    parent = f"projects/{_new_id()}/locations/global"
    async with clients(emulator) as (_, agents):
        for number in range(5):
            await agents.create_data_agent_sync(
                parent=parent, data_agent_id=f"a{number}", data_agent=api.DataAgent(display_name=str(number))
            )
        pager = await agents.list_data_agents(request=api.ListDataAgentsRequest(parent=parent, page_size=2))
        sizes = [len(page.data_agents) async for page in pager.pages]
    assert sizes == [2, 2, 1]


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_our_own_client_lists_and_describes(emulator: Emulator, transport: str) -> None:
    url = emulator.grpc if transport == "grpc" else emulator.rest
    settings = Settings(home=emulator.settings.home, transport=transport, chat_endpoint=url)
    names = [agent["name"] for agent in await listed.list_accessible(settings)]
    assert f"{PARENT}/dataAgents/thelook" in names
    thelook = await listed.get(settings, "thelook")
    assert thelook["displayName"] == "TheLook online shop"
