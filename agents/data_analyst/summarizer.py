"""The summarizer: says in a few sentences what the answer's rows show, each number from a fact."""

from __future__ import annotations

import asyncio

from google.adk.agents.context import Context

from askhouse.agent_tools.calls import call_of
from state_contracts import ANSWER, SUMMARY, Summary

from .remembered import preferences_of


async def summarizer(ctx: Context) -> None:
    """Read the answer, leave its summary."""
    answer = ANSWER.read(ctx.state, call_of(ctx))
    if answer is None or answer.outcome != "answered":
        return
    from askhouse.facts.narrate import summarize

    summary = await asyncio.to_thread(summarize, answer, preferences_of(ctx.state))
    SUMMARY.write(ctx.state, call_of(ctx), summary)


def unsummarized(ctx: Context, error: Exception) -> None:
    """Leave an empty summary, where a summary failed: the answer stands without it."""
    SUMMARY.write(ctx.state, call_of(ctx), Summary(text=""))
