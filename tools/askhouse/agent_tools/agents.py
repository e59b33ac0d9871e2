"""Which data agents there are, and what each knows: the tools of ADK's names, over our client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..errors import AskhouseError
from ..place import agent_name, reachable
from ..settings import Settings
from ..warehouse.base import TableRef

_REFERENCE = ("projectId", "datasetId", "tableId")

AgentTool = Callable[..., Awaitable[dict[str, Any]]]


def build_tools(settings: Settings) -> list[AgentTool]:
    """The tools of an agent with these settings."""

    async def list_accessible_data_agents() -> dict[str, Any]:
        """Lists the data agents that may be asked, with what each is for."""
        from ..insights.agents import list_accessible

        try:
            agents = await list_accessible(await reachable(settings))
        except AskhouseError as error:
            return _error(error)
        return {"status": "SUCCESS", "response": [_told(agent) for agent in agents]}

    async def get_data_agent_info(data_agent_name: str) -> dict[str, Any]:
        """Tells what one data agent is for and which tables it asks.

        Args:
          data_agent_name: The agent's id or resource name.
        """
        from ..insights.agents import get

        name = agent_name(settings, data_agent_name)
        try:
            agent = await get(await reachable(settings), name)
        except AskhouseError as error:
            return _error(error)
        return {"status": "SUCCESS", "response": _told(agent, tables=True)}

    return [list_accessible_data_agents, get_data_agent_info]


def _told(agent: dict[str, Any], *, tables: bool = False) -> dict[str, Any]:
    """What a person wants to know of an agent; its whole context would fill a model's."""
    told = {key: agent[key] for key in ("name", "displayName", "description") if agent.get(key)}
    return {**told, "tables": [str(table) for table in tables_of(agent)]} if tables else told


def tables_of(agent: dict[str, Any]) -> list[TableRef]:
    """The tables that a data agent, in the API's JSON form, asks."""
    context = agent.get("dataAnalyticsAgent", {}).get("publishedContext", {})
    references = context.get("datasourceReferences", {}).get("bq", {}).get("tableReferences", [])
    return [TableRef(*(reference.get(part, "") for part in _REFERENCE)) for reference in references]


def _error(error: AskhouseError) -> dict[str, Any]:
    return {"status": "ERROR", "error_details": str(error)}
