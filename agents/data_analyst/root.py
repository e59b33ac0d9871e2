"""The root agent: passes questions on, says the checked messages word for word, and shows the charts after them."""

# Below LlmAgent stand fields whose types exist for type checkers only where Pillow is installed; ruff checks names too.
# mypy: disable-error-code="name-defined"

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models import LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from askhouse.agent_tools import agents as agent_tools
from askhouse.agent_tools.calls import call_of, item_of, words_of
from askhouse.agent_tools.catalogue import build_describe_data
from askhouse.errors import AskhouseError, SettingsError
from askhouse.offline_model import NO_TOKENS, register
from askhouse.secrets import masked
from askhouse.settings import LOCAL_MODEL, Settings
from state_contracts import ANSWER, CHART, MESSAGE, OFFERED, Answer, AnswerError, ContractError, Message

from . import prompts
from .remembered import remembered
from .workflow import build_workflow

NAME = "data_analyst"

_log = logging.getLogger(__name__)


class Root(LlmAgent):
    """An LlmAgent that shows the charts of its turn after its message, each in an event of its own: `adk web` shows
    one picture an event, and no text beside it."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async with aclosing(super()._run_async_impl(ctx)) as events:
            async for event in events:
                yield event
        context = CallbackContext(ctx)
        charts = dict(CHART.items(ctx.session.state)) if ctx.artifact_service else {}
        for call in _calls(context):
            if (chart := charts.get(call)) and chart.png:
                for picture in await self._pictures(ctx, _file_name(chart.result, call), chart.png):
                    yield picture

    async def _pictures(self, ctx: InvocationContext, name: str, png: bytes) -> list[Event]:
        context = CallbackContext(ctx)
        try:
            await context.save_artifact(name, types.Part.from_bytes(data=png, mime_type="image/png"))
        except Exception:  # whatever the store raises: the answer has been said, and stands without its picture
            _log.exception("The chart %s could not be kept", name)
            return []
        return [Event(invocation_id=ctx.invocation_id, author=self.name, branch=ctx.branch, actions=context.actions)]


def build_root(settings: Settings) -> Root:
    """The agent that talks with the person, on the model that the settings name.

    Raises SettingsError when ADK knows no such model.
    """
    register()
    _check_model(settings.model)
    return Root(
        name=NAME,
        description="Answers questions about BigQuery data with a table, a chart and a summary traced to queries.",
        model=settings.model,
        instruction=prompts.instruction_of(settings),
        tools=[build_workflow(settings), build_describe_data(settings), *agent_tools.build_tools(settings)],
        before_model_callback=[ask_what_was_chosen, say_what_was_answered, send_little],
        after_model_callback=say_first_what_was_answered,
        on_tool_error_callback=explain_failure,
        on_model_error_callback=explain_silence,
    )


def _check_model(name: str) -> None:
    try:
        LLMRegistry.resolve(name)
    except ValueError as error:
        raise SettingsError(
            f"ASKHOUSE_MODEL = {name!r}: {str(error).splitlines()[0]}",
            "Name a model that ADK knows (a provider/model needs google-adk[extensions]), or unset it.",
        ) from error


def ask_what_was_chosen(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Put the question that a number chose into the request, where the person's words are only that number."""
    last = llm_request.contents[-1] if llm_request.contents else None
    if last is None or last.role != "user" or not (last.parts and last.parts[0].text):
        return
    offered = remembered(OFFERED, callback_context.state)
    if offered and (question := offered.chosen_by(last.parts[0].text)):
        llm_request.contents[-1] = types.Content(role="user", parts=[types.Part(text=question)])


def say_what_was_answered(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    """After the tools, say their messages in order of the calls; no model paraphrases checked words.

    Where one of the calls left no message, the model goes on, and its words come after the messages.
    """
    calls = _latest_calls(callback_context)
    messages = _messages(callback_context)
    if not calls or any(call not in messages for call in calls):
        return None
    return _said("\n\n".join(messages.values()))


def say_first_what_was_answered(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
    """Put the messages of this turn before a model's own last words."""
    parts = (llm_response.content.parts or []) if llm_response.content else []
    if llm_response.partial or not parts or any(part.function_call for part in parts):
        return None
    messages = _messages(callback_context)
    words = "".join(part.text or "" for part in parts if not part.thought)
    return _said("\n\n".join([*messages.values(), words])) if messages else None


def send_little(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Cut what earlier turns take of the model's context."""
    beside = sum(map(len, prompts.recalled(callback_context.state)))
    llm_request.contents = prompts.shortened(llm_request.contents, beside)


def explain_failure(
    tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception
) -> dict[str, Any] | None:
    """Let a tool's unexpected failure be this call's answer, so that the session stays usable."""
    if not isinstance(error, Exception):
        return None  # cancelled: nobody waits for words
    _log.error("%s failed", tool.name, exc_info=error)
    code, reason, remedy = _in_words(tool.name, error)
    text = _leave_failure(tool_context, call_of(tool_context), code, reason, remedy)
    MESSAGE.write(tool_context.state, call_of(tool_context), Message(text=text))
    return {"error": reason}


def explain_silence(callback_context: CallbackContext, llm_request: LlmRequest, error: Exception) -> LlmResponse:
    """Let a model's failure be the answer, so that the session stays usable."""
    _log.error("Model %s failed", llm_request.model, exc_info=error)
    reason = f"The model {llm_request.model} failed: {masked(' '.join(str(error).split()))[:300]}"
    remedy = f"Check ASKHOUSE_MODEL and its key, or unset it: {LOCAL_MODEL} needs none."
    return _said(_leave_failure(callback_context, "model", "model", reason, remedy))


def _leave_failure(context: CallbackContext, call: str, code: str, reason: str, remedy: str) -> str:
    failure = AnswerError(code=code, message=reason, remedy=remedy)
    answer = Answer(question=words_of(context), outcome="failed", complete=False, errors=[failure])
    ANSWER.write(context.state, call, answer)
    return f"{reason} {remedy}"


def _in_words(tool: str, error: Exception) -> tuple[str, str, str]:
    """Code, reason and remedy of a failure."""
    if isinstance(error, AskhouseError):
        return error.code, error.message, error.remedy
    if isinstance(error, ContractError):
        return "contract", str(error), "Update askhouse, or start a new conversation."
    reason = f"{tool} failed: {type(error).__name__}: {masked(str(error))}."
    return "internal", reason, "Ask again; if it stays, `askhouse doctor` may tell why."


def _messages(context: CallbackContext) -> dict[str, str]:
    """What this turn's calls left to say, in order of the calls."""
    said = dict(MESSAGE.items(context.state))
    return {call: said[call].text for call in _calls(context) if call in said}


def _calls(context: CallbackContext) -> list[str]:
    """The calls that the root made in this turn, in order."""
    return [call for step in _steps(context) for call in step]


def _latest_calls(context: CallbackContext) -> list[str]:
    steps = _steps(context)
    return steps[-1] if steps else []


def _steps(context: CallbackContext) -> list[list[str]]:
    events = context.session.events
    steps = [
        [item_of(call.id) for call in event.get_function_calls()]
        for event in events
        if event.invocation_id == context.invocation_id and event.author == context.agent_name and not event.partial
    ]
    return [calls for calls in steps if calls]


def _file_name(result: str, call: str) -> str:
    """A picture's name: readable, and another for each call."""
    return f"{item_of(result or 'chart')}-{call[-8:]}.png"


def _said(text: str) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), usage_metadata=NO_TOKENS)
