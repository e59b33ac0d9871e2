"""The chart agent: chooses the one honest chart of an answer, checks it, and draws it where somebody can see it."""

from __future__ import annotations

import asyncio

from google.adk.agents.context import Context

from askhouse.agent_tools.calls import call_of
from state_contracts import ANSWER, CHART, Answer, Chart, Result


async def chart_agent(ctx: Context) -> None:
    """Read the answer, leave its chart."""
    answer = ANSWER.read(ctx.state, call_of(ctx))
    result = _charted(answer) if answer else None
    if answer is None or result is None:
        return
    picture = ctx.get_invocation_context().artifact_service is not None
    question = answer.standalone_question or answer.question
    CHART.write(ctx.state, call_of(ctx), await asyncio.to_thread(_draw, question, result, picture))


def undrawn(ctx: Context, error: Exception) -> None:
    """Say that there is no chart and why, where drawing failed: the answer stands without it."""
    CHART.write(ctx.state, call_of(ctx), Chart(kind="none", reason=f"The chart could not be drawn: {error}"))


def _charted(answer: Answer) -> Result | None:
    """The result that the chart shows: the last one, which the service worked towards."""
    return answer.results[-1] if answer.results and answer.outcome == "answered" else None


def _draw(question: str, result: Result, picture: bool) -> Chart:
    from askhouse.charts.choose import choose

    chart = choose(question, result)
    if chart.spec is None or not picture:
        return chart
    from askhouse.charts.render import png

    return chart.model_copy(update={"png": png(chart.spec)})
