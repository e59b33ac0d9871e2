"""A model that needs no network: it chooses a tool by rule, from the request alone, as any model would.

It stands behind every model name `local/…`. What it recognises is in `offline_model.toml`; everything else that a
person says is a question about the data, and is passed on in their words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from google.adk.models import BaseLlm, LlmCapabilities, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

QUESTION_TOOL = "analyze"
MAX_RECOGNISED = 200
"""Characters; nobody greets or asks for a table at greater length."""
NO_TOKENS = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=0, candidates_token_count=0, total_token_count=0
)
"""What a reply costs that no model wrote."""


class LocalAnalyst(BaseLlm):
    """The deterministic model. It keeps nothing between requests, so one instance serves all at once."""

    @classmethod
    def supported_models(cls) -> list[str]:
        """The names that it answers to, as patterns."""
        return [r"local/.*"]

    @property
    def capabilities(self) -> LlmCapabilities:
        """It needs no help to give structured answers beside tools."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One reply: a call of a declared tool, or words."""
        yield LlmResponse(
            content=types.Content(role="model", parts=[reply_to(llm_request)]),
            finish_reason=types.FinishReason.STOP,
            usage_metadata=NO_TOKENS,
        )


def register() -> None:
    """Let ADK find the model by its name."""
    LLMRegistry.register(LocalAnalyst)


def reply_to(request: LlmRequest) -> types.Part:
    """The decision, from the last content of the request and the declared tools."""
    parts = (request.contents[-1].parts or []) if request.contents else []
    if answers := [part.function_response for part in parts if part.function_response]:
        return types.Part(text="\n\n".join(in_words(answer.response or {}) for answer in answers))
    words = "".join(part.text or "" for part in parts).strip()
    return _decided(words, _declared(request))


@dataclass(frozen=True)
class Rule:
    """Words that mean a tool call, or that are simply answered."""

    patterns: tuple[re.Pattern[str], ...]
    tool: str = ""
    args: tuple[tuple[str, str], ...] = ()
    say: str = ""

    def read(self, words: str) -> dict[str, Any] | None:
        """The tool's arguments when the words match whole, else None."""
        found = next((match for pattern in self.patterns if (match := pattern.fullmatch(words))), None)
        if found is None:
            return None
        named = {name: _value(name, text) for name, text in found.groupdict().items() if text}
        return {**dict(self.args), **named}


def _decided(words: str, tools: set[str]) -> types.Part:
    for rule, args in _recognised(words):
        if rule.say:
            return types.Part(text=rule.say)
        if rule.tool in tools:
            return types.Part(function_call=types.FunctionCall(name=rule.tool, args=args))
    if QUESTION_TOOL in tools:
        return types.Part(function_call=types.FunctionCall(name=QUESTION_TOOL, args={"question": words}))
    return types.Part(text="I can only choose among tools, and none of mine answers this.")


def _recognised(words: str) -> Iterator[tuple[Rule, dict[str, Any]]]:
    if len(words) > MAX_RECOGNISED:
        return
    plain = " ".join(words.casefold().replace("’", "'").strip(" \t\n?!.…¿¡`\"'").split())
    for rule in _rules():
        if (args := rule.read(plain)) is not None:
            yield rule, args


def _declared(request: LlmRequest) -> set[str]:
    tools = (request.config.tools or []) if request.config else []
    declared = [tool.function_declarations or [] for tool in tools if isinstance(tool, types.Tool)]
    return {declaration.name for group in declared for declaration in group if declaration.name}


def _value(name: str, text: str) -> Any:
    return int(text) if name == "rows" else text


@cache
def _rules() -> tuple[Rule, ...]:
    lexicon = tomllib.loads(files(__package__).joinpath("offline_model.toml").read_text("utf-8"))
    return tuple(_rule(entry, lexicon["words"]) for entry in lexicon["rule"])


def _rule(entry: Mapping[str, Any], words: Mapping[str, str]) -> Rule:
    patterns = tuple(re.compile(_expanded(pattern, words)) for pattern in entry["patterns"])
    return Rule(patterns, entry.get("tool", ""), tuple(entry.get("args", {}).items()), entry.get("say", ""))


def _expanded(pattern: str, words: Mapping[str, str]) -> str:
    for name, meaning in words.items():
        pattern = pattern.replace("{" + name + "}", meaning)
    return pattern


def in_words(response: Mapping[str, Any]) -> str:
    """A tool's answer said to a person."""
    if reason := response.get("error_details") or response.get("error"):
        return str(reason)
    content = response.get("response", response.get("result", ""))
    if isinstance(content, list):
        return "\n".join(f"- {_agent_line(entry)}" for entry in content) or "There is nothing to list."
    return _agent_line(content) if isinstance(content, Mapping) else str(content)


def _agent_line(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    name = str(entry.get("name", "")).rsplit("/", 1)[-1]
    title = f"**{name}**" + (f" ({entry['displayName']})" if entry.get("displayName") not in (None, "", name) else "")
    tables = "".join(f"\n- {table}" for table in entry.get("tables", ()))
    asks = f" It asks these tables:\n{tables}" if tables else ""
    return f"{title}: {entry['description']}{asks}" if entry.get("description") else f"{title}{asks}"
