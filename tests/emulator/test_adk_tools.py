"""ADK's own tools, which we did not write, work against the emulator unchanged."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from unittest.mock import MagicMock
from uuid import uuid4

import pytest
from google.adk.tools.data_agent import DataAgentCredentialsConfig, DataAgentToolConfig, DataAgentToolset
from google.auth.credentials import AnonymousCredentials

from askhouse.emulator.local import Emulator

from .conftest import PARENT

pytestmark = pytest.mark.filterwarnings("ignore")  # ADK warns about its own experimental features


async def _toolset(emulator: Emulator) -> dict[str, Any]:
    toolset = DataAgentToolset(
        credentials_config=DataAgentCredentialsConfig(credentials=AnonymousCredentials()),
        data_agent_tool_config=DataAgentToolConfig(api_endpoint=emulator.rest, enable_data_agent_modification=True),
    )
    return {tool.name: tool for tool in await toolset.get_tools()}


async def _run(tool: Any, **args: Any) -> Any:
    return await tool.run_async(args=args, tool_context=MagicMock(state={}))


async def test_ask_data_agent(emulator: Emulator) -> None:
    tools = await _toolset(emulator)
    reply = await _run(
        tools["ask_data_agent"],
        data_agent_name=f"{PARENT}/dataAgents/flights",
        query="How many flights by origin?",
    )
    assert reply["status"] == "SUCCESS"
    (retrieved,) = [part["Data Retrieved"] for part in reply["response"] if "Data Retrieved" in part]
    assert len(retrieved["rows"]) == 3


async def test_agents_are_made_found_and_deleted(emulator: Emulator) -> None:
    tools = await _toolset(emulator)
    agent_id = f"adk-{uuid4().hex[:8]}"
    config = json.dumps({"displayName": "Made by ADK"})
    made = await _run(
        tools["create_data_agent"], project_id="local", data_agent_id=agent_id, agent_config=config, location="global"
    )
    assert made["status"] == "SUCCESS", made
    found = await _run(tools["list_accessible_data_agents"], project_id="local")
    assert f"{PARENT}/dataAgents/{agent_id}" in json.dumps(found)
    shown = await _run(tools["get_data_agent_info"], data_agent_name=f"{PARENT}/dataAgents/{agent_id}")
    assert shown["response"]["displayName"] == "Made by ADK"
    changed = await _run(
        tools["update_data_agent"],
        data_agent_name=f"{PARENT}/dataAgents/{agent_id}",
        agent_config=json.dumps({"displayName": "Renamed by ADK"}),
        update_mask="displayName",
    )
    assert changed["status"] == "SUCCESS", changed
    shown = await _run(tools["get_data_agent_info"], data_agent_name=f"{PARENT}/dataAgents/{agent_id}")
    assert shown["response"]["displayName"] == "Renamed by ADK"
    gone = await _run(tools["delete_data_agent"], data_agent_name=f"{PARENT}/dataAgents/{agent_id}")
    assert gone["status"] == "SUCCESS", gone


async def test_ask_data_insights(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    from google.adk.integrations.bigquery.config import BigQueryToolConfig
    from google.adk.integrations.bigquery.data_insights_tool import ask_data_insights
    from google.adk.tools import _gda_stream_util

    monkeypatch.setattr(_gda_stream_util, "_GDA_DEFAULT_TEMPLATE", emulator.rest)
    reply = await asyncio.to_thread(
        ask_data_insights,
        project_id="local",
        user_query_with_context="How many flights by origin?",
        table_references=[{"projectId": "local", "datasetId": "nycflights13", "tableId": "flights"}],
        credentials=AnonymousCredentials(),
        settings=BigQueryToolConfig(),
    )
    assert reply["status"] == "SUCCESS"
    assert any("Data Retrieved" in part for part in reply["response"])
