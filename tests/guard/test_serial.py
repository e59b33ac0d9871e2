"""Two messages at once into one session: both are answered, in order, none interleaved."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.genai import types

from askhouse.guard.serial import OneTurnAtATime
from askhouse.guard.sessions import guarded_session_service

NO_TOKENS = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)
WHO = {"app_name": "echo", "user_id": "ana"}
DOUBLE_TEXTS = 10


class Echo(BaseLlm):
    """Calls `look` with the person's words, then says them."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = llm_request.contents[-1].parts[-1]
        await asyncio.sleep(0.001)
        if last.function_response:
            part = types.Part(text=f"said {last.function_response.response['result']}")
        else:
            part = types.Part.from_function_call(name="look", args={"at": last.text})
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=NO_TOKENS)


async def look(at: str) -> str:
    """Look at something, for as long as its name says."""
    await asyncio.sleep(60 if at == "for ever" else 0.001)
    return at


def runner_on(sessions: BaseSessionService) -> Runner:
    agent = LlmAgent(name="echo", model=Echo(model="echo"), tools=[look])
    return Runner(app=App(name="echo", root_agent=agent, plugins=[OneTurnAtATime()]), session_service=sessions)


@pytest.fixture
async def runner(sessions: BaseSessionService) -> AsyncIterator[Runner]:
    runner = runner_on(sessions)
    yield runner
    await runner.close()


async def say(runner: Runner, session_id: str, words: str) -> str:
    message = types.Content(role="user", parts=[types.Part(text=words)])
    said = ""
    turn = runner.run_async(user_id=WHO["user_id"], session_id=session_id, new_message=message)
    async with aclosing(turn):
        async for event in turn:
            said = event.content.parts[0].text or said
    return said


async def told(sessions: BaseSessionService, session_id: str) -> list[str]:
    """What the session holds, one word an event: who speaks, and of what."""
    session = await sessions.get_session(**WHO, session_id=session_id)
    assert session is not None
    return [_word(event.content.parts[0], event.author) for event in session.events]


def _word(part: types.Part, author: str) -> str:
    if part.function_call:
        return f"calls {part.function_call.args['at']}"
    if part.function_response:
        return f"sees {part.function_response.response['result']}"
    return part.text if author == "echo" else f"asks {part.text}"


def turn_of(words: str) -> list[str]:
    return [f"asks {words}", f"calls {words}", f"sees {words}", f"said {words}"]


def asked_in_whole_turns(events: list[str]) -> list[str]:
    """What was asked, in order; fails when a turn lacks an event or holds one of another turn."""
    turns = [events[start : start + 4] for start in range(0, len(events), 4)]
    asked = [turn[0].removeprefix("asks ") for turn in turns]
    assert turns == [turn_of(words) for words in asked]
    return asked


async def until_told(sessions: BaseSessionService, session_id: str, word: str) -> None:
    while word not in await told(sessions, session_id):  # noqa: ASYNC110  # another process may write it
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("_conversation", range(5))
async def test_double_texts_are_both_answered_none_interleaved(
    runner: Runner, sessions: BaseSessionService, _conversation: int
) -> None:
    session = await sessions.create_session(**WHO)
    words = [(f"{number}a", f"{number}b") for number in range(DOUBLE_TEXTS)]
    for first, second in words:
        answers = await asyncio.gather(say(runner, session.id, first), say(runner, session.id, second))
        assert answers == [f"said {first}", f"said {second}"]
    assert sorted(asked_in_whole_turns(await told(sessions, session.id))) == sorted(itertools.chain(*words))


async def test_sessions_do_not_wait_for_one_another(runner: Runner, sessions: BaseSessionService) -> None:
    one, other = await sessions.create_session(**WHO), await sessions.create_session(**WHO)
    stuck = asyncio.create_task(say(runner, one.id, "for ever"))
    assert await say(runner, other.id, "x") == "said x"
    stuck.cancel()
    await asyncio.gather(stuck, return_exceptions=True)


async def test_a_cancelled_turn_lets_the_next_one_in(runner: Runner, sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    stuck = asyncio.create_task(say(runner, session.id, "for ever"))
    await until_told(sessions, session.id, "calls for ever")
    waiting = asyncio.create_task(say(runner, session.id, "next"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    stuck.cancel()
    assert await asyncio.wait_for(waiting, 30) == "said next"


async def test_a_waiting_turn_that_is_cancelled_holds_nobody_up(runner: Runner, sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    first, second, third = (asyncio.create_task(say(runner, session.id, words)) for words in "abc")
    await asyncio.sleep(0)
    second.cancel()
    assert await asyncio.wait_for(asyncio.gather(first, third), 30) == ["said a", "said c"]


async def test_a_turn_closed_early_lets_the_next_one_in(runner: Runner, sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    message = types.Content(role="user", parts=[types.Part(text="a")])
    turn = runner.run_async(user_id=WHO["user_id"], session_id=session.id, new_message=message)
    async with aclosing(turn):
        async for _ in turn:
            break
    assert await asyncio.wait_for(say(runner, session.id, "b"), 30) == "said b"


class TestTwoProcesses:
    """Two servers on one PostgreSQL."""

    async def start(self, url: str, session_id: str, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, __file__, url, session_id, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    async def test_turns_of_two_processes_do_not_interleave(self, postgres_url: str) -> None:
        sessions = guarded_session_service(postgres_url)
        session = await sessions.create_session(**WHO)
        words = [[f"{name}{number}" for number in range(10)] for name in "ab"]
        processes = [await self.start(postgres_url, session.id, *part) for part in words]
        for process in processes:
            _, complaints = await process.communicate()
            assert process.returncode == 0, complaints.decode()
        assert sorted(asked_in_whole_turns(await told(sessions, session.id))) == sorted(words[0] + words[1])
        await sessions.db_engine.dispose()

    async def test_a_killed_holder_frees_its_session(self, postgres_url: str) -> None:
        sessions = guarded_session_service(postgres_url)
        session = await sessions.create_session(**WHO)
        holder = await self.start(postgres_url, session.id, "for ever")
        await until_told(sessions, session.id, "calls for ever")
        os.kill(holder.pid, signal.SIGKILL)
        await holder.communicate()
        runner = runner_on(sessions)
        assert await asyncio.wait_for(say(runner, session.id, "next"), 10) == "said next"
        await runner.close()
        await sessions.db_engine.dispose()


async def _talk(url: str, session_id: str, *words: str) -> None:
    runner = runner_on(guarded_session_service(url))
    for part in words:
        assert await say(runner, session_id, part) == f"said {part}"
    await runner.close()


if __name__ == "__main__":
    asyncio.run(_talk(*sys.argv[1:]))
