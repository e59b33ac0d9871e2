"""The café of the documentation: an order lasts a conversation, a diet lasts a customer, on every store."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.genai import types

from askhouse.guard.sessions import guarded_session_service

WHO = {"app_name": "cafe", "user_id": "ana"}
NO_TOKENS = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)
CALLS = {
    "I'm lactose intolerant": ("set_dietary_preference", {"preference": "Lactose intolerant"}),
    "An oat latte and a pony": ("place_order", {"items": ["oat latte", "pony"]}),
}
seen: list[str] = []
"""The instructions that the model was given, in order."""


class Barista(BaseLlm):
    """Calls the tool that a sentence asks for, then says that it is done."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["scripted/barista"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        seen.append(str(llm_request.config.system_instruction))
        said = llm_request.contents[-1].parts[-1].text
        name, args = CALLS.get(said or "", ("", {}))
        part = types.Part.from_function_call(name=name, args=args) if name else types.Part(text="Done.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=NO_TOKENS)


@pytest.fixture(scope="session")
def cafe(repo: Path) -> ModuleType:
    LLMRegistry.register(Barista)
    spec = importlib.util.spec_from_file_location("cafe", repo / "docs/examples/cafe.py")
    assert spec is not None and spec.loader is not None
    sys.modules["cafe"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def visit(cafe: ModuleType, sessions: BaseSessionService, *words: str) -> dict[str, object]:
    """One conversation; the state it leaves."""
    runner = Runner(app=cafe.build_app("scripted/barista"), session_service=sessions)
    session = await sessions.create_session(**WHO)
    for sentence in words:
        message = types.Content(role="user", parts=[types.Part(text=sentence)])
        async for _ in runner.run_async(user_id="ana", session_id=session.id, new_message=message):
            pass
    await runner.close()
    stored = await sessions.get_session(**WHO, session_id=session.id)
    assert stored is not None
    return stored.state


async def test_an_order_lasts_a_conversation_and_a_diet_a_customer(
    cafe: ModuleType, sessions: BaseSessionService, store_uri: str
) -> None:
    state = await visit(cafe, sessions, "I'm lactose intolerant", "An oat latte and a pony")
    assert state == {
        "current_order": {"items": ["oat latte"], "total": 4.5},
        "user:dietary_preferences": ["lactose intolerant"],
    }
    async with restarted(sessions, store_uri) as later:
        seen.clear()
        assert await visit(cafe, later, "hello") == {"user:dietary_preferences": ["lactose intolerant"]}
        assert "Known about this customer: ['lactose intolerant']" in seen[0]


@asynccontextmanager
async def restarted(sessions: BaseSessionService, uri: str) -> AsyncIterator[BaseSessionService]:
    """The same store, opened anew; what is in memory only does not outlive its process."""
    if uri == "memory://":
        yield sessions
        return
    later = guarded_session_service(uri)
    yield later
    if hasattr(later, "db_engine"):
        await later.db_engine.dispose()
