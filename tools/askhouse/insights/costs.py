"""What an answer costs: limits before it is asked, and what was billed after."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from state_contracts import Answer, Cost

from ..settings import Settings
from .address import Address
from .jobs import cost_of
from .transport import CallError, transport_to

_AGENT_KNOWN_SECONDS = 600.0
_MOST_JOBS = 8
_COST_SECONDS = 3.0
_limited: dict[tuple[str, str], tuple[float, bool]] = {}


def byte_limit(settings: Settings) -> int:
    """The bytes that one query may bill without anybody being asked; 0 for no limit."""
    limits = [limit for limit in (settings.max_billed_bytes, settings.confirm_bytes) if limit]
    return min(limits, default=0)


def how_to_go_on(settings: Settings) -> str:
    """What to do after a query was not run because of `byte_limit`."""
    asks = settings.confirm_bytes and settings.confirm_bytes == byte_limit(settings)
    name = "ASKHOUSE_CONFIRM_BYTES" if asks else "ASKHOUSE_MAX_BILLED_BYTES"
    return (
        f"It was not run. To run it all the same, set {name} (now {byte_limit(settings):,}) to the bytes that it needs "
        "and ask again; or ask for less: a shorter period, fewer columns."
    )


async def bill(answer: Answer, settings: Settings) -> None:
    """Write into the answer what its jobs cost, where that is known."""
    jobs = {result.job.job_id: result.job for result in answer.results if result.job}
    if not jobs or len(jobs) > _MOST_JOBS:
        return
    try:
        async with asyncio.timeout(_COST_SECONDS):
            costs = await asyncio.gather(*(cost_of(settings, job) for job in jobs.values()))
    except TimeoutError:
        return
    billed = [cost.bytes_billed for cost in costs if cost and cost.bytes_billed is not None]
    hits = [cost.cache_hit for cost in costs if cost and cost.cache_hit is not None]
    answer.cost = Cost(
        bytes_billed=sum(billed) if len(billed) == len(jobs) else None,
        cache_hit=all(hits) if len(hits) == len(jobs) else None,
        model_chars=answer.cost.model_chars,
    )


async def unlimited_agent(settings: Settings, address: Address, agent: str) -> str:
    """What to say of a saved agent whose queries nothing limits; empty where something does, or nobody tells."""
    known = _limited.get((address.url, agent))
    if known is None or time.monotonic() - known[0] > _AGENT_KNOWN_SECONDS:
        transport = await transport_to(address, settings)
        try:
            known = time.monotonic(), _is_limited(await transport.get(agent))
        except CallError:
            return ""
        finally:
            await transport.close()
        _limited[address.url, agent] = known
    if known[1]:
        return ""
    return (
        f"The data agent {agent.rsplit('/', 1)[-1]} sets no limit of the bytes that a query may bill "
        "(bigQueryMaxBilledBytes), and the limits of ASKHOUSE_… hold for tables only: its owner can set one."
    )


def _is_limited(agent: dict[str, Any]) -> bool:
    context = agent.get("dataAnalyticsAgent", {}).get("publishedContext", {})
    limit = context.get("options", {}).get("datasource", {}).get("bigQueryMaxBilledBytes")
    return int(limit or 0) > 0
