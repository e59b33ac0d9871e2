"""How one question is answered: data_agent, then summarizer and chart_agent side by side, then finish.

    START → data_agent ┬→ summarizer  ┬→ join → finish
                       └→ chart_agent ┘

Rows travel in `temp:` state, never in a node's output, which would be stored and shown as JSON.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import wraps
from typing import Any

from google.adk.agents.context import Context
from google.adk.workflow import JoinNode, Workflow, node

from askhouse.agent_tools.calls import ANALYZE, call_of
from askhouse.errors import AskhouseError
from askhouse.settings import Settings
from state_contracts import ANSWER, CHART, LAST_CHART, MESSAGE, SUMMARY, Answer, AnswerError, LastChart, NoticeBlock

from .chart_agent import chart_agent, undrawn
from .data_agent import Asked, build_data_agent
from .remembered import UNREADABLE, are_unreadable, preferences_of
from .summarizer import summarizer, unsummarized

_log = logging.getLogger(__name__)

Step = Callable[[Context], Awaitable[None]]


class SilentJoin(JoinNode):
    """A join that passes nothing on: what the branches left is in the state."""

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        return
        yield


def build_workflow(settings: Settings) -> Workflow:
    """The workflow that the root calls as its tool `analyze`."""
    branches = (
        node(isolated(summarizer, unsummarized, "summary"), name="summarizer"),
        node(isolated(chart_agent, undrawn, "chart"), name="chart_agent"),
    )
    return Workflow(
        name=ANALYZE,
        description=(
            "Answers one question about the data by querying it: counts, sums, averages, trends, comparisons, "
            "rankings. The person is shown the answer with its table, chart and SQL; do not repeat it."
        ),
        input_schema=Asked,
        edges=[
            (
                "START",
                node(build_data_agent(settings), name="data_agent"),
                branches,
                SilentJoin(name="join"),
                node(finish, name="finish"),
            )
        ],
    )


def isolated(step: Step, otherwise: Callable[[Context, Exception], None], what: str) -> Step:
    """A step whose failure costs nobody else's work: it is logged and noticed, and `otherwise` takes its place."""

    @wraps(step)
    async def run(ctx: Context) -> None:
        try:
            await step(ctx)
        except Exception as error:  # whatever it is: a failing node would cancel its siblings and lose the answer
            _log.exception("No %s for call %s", what, call_of(ctx))
            otherwise(ctx, error)
            if answer := ANSWER.read(ctx.state, call_of(ctx)):
                reason = f": {error}" if isinstance(error, AskhouseError) else "."  # others say nothing to a person
                answer.blocks.append(NoticeBlock(text=f"The {what} of this answer could not be made{reason}"))

    return run


async def finish(ctx: Context) -> str:
    """Compose the one message of this call."""
    from askhouse.message import compose

    call = call_of(ctx)
    answer = ANSWER.read(ctx.state, call) or _lost()
    chart = CHART.read(ctx.state, call)
    if are_unreadable(ctx.state):
        answer.blocks.append(NoticeBlock(text=UNREADABLE))
    message = compose(answer, SUMMARY.read(ctx.state, call), chart, preferences_of(ctx.state))
    MESSAGE.write(ctx.state, call, message)
    if chart is not None and chart.kind != "none":
        LAST_CHART.write(ctx.state, LastChart(kind=chart.kind, result=chart.result))
    return ""


def _lost() -> Answer:
    error = AnswerError(code="internal", message="No answer arrived.", remedy="Ask again.")
    return Answer(question="", outcome="failed", complete=False, errors=[error])
