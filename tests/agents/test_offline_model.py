"""local/analyst chooses a tool from the request alone."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.models import LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from askhouse.offline_model import LocalAnalyst, register, reply_to

TOOLS = ("analyze", "describe_data", "list_accessible_data_agents", "get_data_agent_info")


def request(words: str, tools: tuple[str, ...] = TOOLS) -> LlmRequest:
    declarations = [types.FunctionDeclaration(name=name) for name in tools]
    return LlmRequest(
        model="local/analyst",
        contents=[types.Content(role="user", parts=[types.Part(text=words)])],
        config=types.GenerateContentConfig(tools=[types.Tool(function_declarations=declarations)]),
    )


def call(words: str) -> tuple[str, dict[str, Any]]:
    chosen = reply_to(request(words)).function_call
    assert chosen is not None, words
    return str(chosen.name), chosen.args or {}


@pytest.mark.parametrize(
    "words", ["hi", "Hello!", "hey there", "what can you do?", "What can I ask?", "help", "help me", "olá", "?"]
)
def test_a_greeting_gets_the_overview(words: str) -> None:
    assert call(words) == ("describe_data", {"topic": "overview"})


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("which tables are there?", {"topic": "tables"}),
        ("what data do you have", {"topic": "tables"}),
        ("Please list all tables", {"topic": "tables"}),
        ("what is in flights?", {"topic": "columns", "table": "flights"}),
        ("What columns does order_items have?", {"topic": "columns", "table": "order_items"}),
        ("describe the orders table", {"topic": "columns", "table": "orders"}),
        ("show me 5 rows", {"topic": "rows", "rows": 5}),
        ("show me the first 10 rows of weather", {"topic": "rows", "rows": 10, "table": "weather"}),
        ("a sample of orders", {"topic": "rows", "table": "orders"}),
        ("what does carrier mean?", {"topic": "column", "column": "carrier"}),
        ("what does dep_delay mean in flights", {"topic": "column", "column": "dep_delay", "table": "flights"}),
        ("how fresh is the data?", {"topic": "dates"}),
        ("which dates does the data cover", {"topic": "dates"}),
        ("what is the date range of orders?", {"topic": "dates", "table": "orders"}),
    ],
)
def test_a_question_about_the_catalogue_is_described(words: str, arguments: dict[str, Any]) -> None:
    assert call(words) == ("describe_data", arguments)


@pytest.mark.parametrize(
    "words",
    [
        "what is the average delay of flights?",
        "show me the 5 latest orders",
        "show the top 5 rows by delay",
        "show me 5 rows where origin is JFK",
        "How many flights left each airport?",
        "how many orders are there?",
        "which carriers are there?",
        "What is the meaning of life?",
        "describe the trend of flights by month",
        "how old are users?",
        "what is in the basket of the best customer?",
        "hi, how many flights left JFK?",
        "delete all orders",
        "and by month?",
        "2",
        "Quantos voos saíram de cada aeroporto?",
    ],
)
def test_everything_else_is_analysed_in_the_persons_words(words: str) -> None:
    assert call(words) == ("analyze", {"question": words})


def test_a_huge_question_is_passed_on_whole() -> None:
    words = "show me " + "the the " * 3_000 + "rows"
    assert call(words) == ("analyze", {"question": words})


def test_agents_are_listed_and_described() -> None:
    assert call("which agents are there?") == ("list_accessible_data_agents", {})
    assert call("tell me about the agent flights") == ("get_data_agent_info", {"data_agent_name": "flights"})


def test_thanks_need_no_tool() -> None:
    reply = reply_to(request("thank you!"))
    assert reply.function_call is None and reply.text


def test_a_tool_that_is_not_declared_is_not_called() -> None:
    reply = reply_to(request("which tables are there?", tools=("analyze",)))
    assert reply.function_call is not None and reply.function_call.name == "analyze"
    assert reply_to(request("how many flights", tools=())).function_call is None


def test_a_tools_answer_is_said_in_words() -> None:
    agents = [{"name": "projects/p/locations/l/dataAgents/flights", "description": "New York flights."}]
    asked = request("which agents are there?")
    answer = types.Part.from_function_response(
        name="list_accessible_data_agents", response={"status": "SUCCESS", "response": agents}
    )
    asked.contents.append(types.Content(role="user", parts=[answer]))
    reply = reply_to(asked)
    assert reply.function_call is None
    assert reply.text is not None and "flights" in reply.text and "New York flights." in reply.text
    assert "{" not in reply.text


def test_adk_finds_it_by_name() -> None:
    register()
    assert LLMRegistry.resolve("local/analyst") is LocalAnalyst
