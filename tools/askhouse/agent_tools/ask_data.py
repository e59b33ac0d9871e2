"""Ask the data: over tables, or of a data agent.

`ask` is the whole of it, thoughts first and the typed answer last. `ask_data_insights` and `ask_data_agent` are the
same as tools, with the names and arguments of ADK's own, for any agent; the rows stay in `temp:answer.<call>`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from google.adk.tools.tool_context import ToolContext

from state_contracts import ANSWER, Answer, AnswerError, ServiceConversation, Turn

from ..emulator.names import LOCAL_PROJECT
from ..errors import AskhouseError, TableNotFoundError
from ..place import Place, agent_name, place_of
from ..settings import Settings, load_settings
from ..warehouse.base import TableRef
from .calls import call_of

if TYPE_CHECKING:
    from ..insights.client import AgentContext, ConversationContext, TablesContext, Thought

PREVIEW_ROWS = 10


async def ask(
    settings: Settings,
    question: str,
    *,
    words: str = "",
    history: Sequence[Turn] = (),
    tables: Sequence[TableRef] | None = None,
    agent: str | None = None,
    conversation: ServiceConversation | None = None,
    user: str = "",
) -> AsyncIterator[Thought | Answer]:
    """Ask one question and yield the service's thoughts as they come, then the answer.

    Args:
        settings: where and whom to ask.
        question: the text that is sent.
        words: the person's own words, where `question` is their completion.
        history: earlier turns, oldest first, which the service resolves a follow-up from.
        tables: ask these, instead of what the settings choose; each must be allowed by them.
        agent: ask this data agent, instead of what the settings choose.
        conversation: go on with this conversation, which the service remembers.
        user: who asks, where that is not the settings' user.

    What goes wrong is an answer too, of outcome "failed", with the sentence that a person can act on.
    """
    from ..insights.client import InsightsClient, Question

    place: Place | None = None
    try:
        place = await asyncio.to_thread(place_of, settings)
        context = _remembered(conversation) if conversation else _context(place, tables, agent)
        asked = Question(question, context, history, original=words, user=user)
        async for part in InsightsClient(place.settings).ask(asked):
            yield _placed(part, place) if isinstance(part, Answer) else part
    except AskhouseError as error:
        yield failed(words or question, error, place)


def failed(question: str, error: AskhouseError, place: Place | None = None) -> Answer:
    """The answer of a question that could not be answered."""
    reason = AnswerError(code=error.code, message=error.message, remedy=error.remedy)
    return Answer(
        question=question, outcome="failed", complete=False, errors=[reason], place=place.name if place else ""
    )


async def ask_data_insights(
    user_query_with_context: str,
    table_references: list[dict[str, str]],
    tool_context: ToolContext,
    project_id: str = "",
) -> dict[str, Any]:
    """Answers a question about tables in natural language, with the SQL and the rows that it rests on.

    Args:
      user_query_with_context: The person's question, with what it needs from the conversation.
      table_references: The tables to ask, each with projectId, datasetId and tableId.
      project_id: The project that the inquiry is performed in; only the configured one is allowed.

    Returns:
      A dictionary with 'status', and either 'response' (the generated SQL, the first rows, the answer) or
      'error_details'.
    """
    settings = load_settings().settings
    if project_id not in ("", settings.project or LOCAL_PROJECT):
        return _error(f"Project {project_id} is not the one that was chosen, {settings.project or LOCAL_PROJECT}.")
    try:
        tables = [TableRef(ref["projectId"], ref["datasetId"], ref["tableId"]) for ref in table_references]
    except KeyError as missing:
        return _error(f"A table reference lacks {missing}: give projectId, datasetId and tableId.")
    return await _as_tool(
        ask(settings, user_query_with_context, tables=tables, user=tool_context.user_id), tool_context
    )


async def ask_data_agent(data_agent_name: str, query: str, tool_context: ToolContext) -> dict[str, Any]:
    """Asks a question of a data agent.

    Args:
      data_agent_name: The agent's resource name, projects/…/locations/…/dataAgents/…
      query: The question.

    Returns:
      A dictionary with 'status', and either 'response' (the generated SQL, the first rows, the answer) or
      'error_details'.
    """
    return await _as_tool(
        ask(load_settings().settings, query, agent=data_agent_name, user=tool_context.user_id), tool_context
    )


def _context(place: Place, tables: Sequence[TableRef] | None, agent: str | None) -> TablesContext | AgentContext:
    from ..insights.client import AgentContext, TablesContext

    if tables is not None:
        return TablesContext(_checked(tables, place))
    chosen = agent_name(place.settings, agent) if agent else place.agent
    return AgentContext(chosen) if chosen else TablesContext(place.tables)


def _remembered(conversation: ServiceConversation) -> ConversationContext:
    from ..insights.client import ConversationContext

    return ConversationContext(conversation.conversation, conversation.agent)


def _checked(tables: Sequence[TableRef], place: Place) -> tuple[TableRef, ...]:
    forbidden = next((table for table in tables if table not in place.tables), None)
    if forbidden:
        allowed = ", ".join(map(str, place.tables)) or "none"
        raise TableNotFoundError(f"{forbidden} may not be asked.", f"Allowed tables: {allowed}.")
    return tuple(tables)


def _placed(answer: Answer, place: Place) -> Answer:
    read = place.read_by([result.sql for result in answer.results])
    return answer.model_copy(update={"place": place.name_for(read)})


async def _as_tool(parts: AsyncIterator[Thought | Answer], tool_context: ToolContext) -> dict[str, Any]:
    answer = [part async for part in parts if isinstance(part, Answer)][-1]
    ANSWER.write(tool_context.state, call_of(tool_context), answer)
    if answer.failure:
        return _error(f"{answer.failure.message} {answer.failure.remedy}".strip())
    return {"status": "SUCCESS", "response": [*_steps(answer), {"Answer": "\n\n".join(answer.texts)}]}


def _steps(answer: Answer) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for result in answer.results:
        shown = [[str(cell) for cell in row] for row in result.rows[:PREVIEW_ROWS]]
        headers = [column.name for column in result.columns]
        summary = f"Showing {len(shown)} of {result.row_count} rows."
        steps += [{"SQL Generated": result.sql}]
        steps += [{"Data Retrieved": {"headers": headers, "rows": shown, "summary": summary}}]
    return steps


def _error(details: str) -> dict[str, Any]:
    return {"status": "ERROR", "error_details": details}
