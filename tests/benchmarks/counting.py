"""The laptop's model, which notes how much it is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

from google.adk.models import LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from askhouse.offline_model import LocalAnalyst

NAME = "counting/analyst"
counted: list[tuple[int, int]] = []
"""Of each request since it was last cleared: characters of its contents, and of its instruction."""


class CountingAnalyst(LocalAnalyst):
    """Decides as ever."""

    @classmethod
    def supported_models(cls) -> list[str]:
        """Names of its own."""
        return [r"counting/.*"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Count, then decide."""
        contents = sum(_characters(part) for content in llm_request.contents for part in content.parts or [])
        counted.append((contents, len(str(llm_request.config.system_instruction or ""))))
        async for response in super().generate_content_async(llm_request, stream):
            yield response


def register() -> None:
    """Let ADK find it by its name."""
    LLMRegistry.register(CountingAnalyst)


def _characters(part: types.Part) -> int:
    """Text, and the JSON of calls and results."""
    return len(part.text or "") + sum(
        len(json.dumps(sent.model_dump(exclude_none=True), ensure_ascii=False, default=str))
        for sent in (part.function_call, part.function_response)
        if sent is not None
    )
