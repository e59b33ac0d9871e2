"""What a result's BigQuery job knows and the reply does not say: its size, its cost, its exact values."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from state_contracts import Job

from ..errors import AskhouseError
from ..settings import Settings

_SECONDS = 20.0
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class JobCost:
    """What a query billed, and whether its rows came from the cache."""

    bytes_billed: int | None
    cache_hit: bool | None


async def count_rows(settings: Settings, job: Job) -> int | None:
    """Rows of the whole result, or None where BigQuery does not say."""
    return await asyncio.to_thread(_of_job, settings, job, _count)


async def cost_of(settings: Settings, job: Job) -> JobCost | None:
    """What a job cost, or None where nobody tells, or asking would cost more time than it is worth."""
    if settings.embedded:
        from ..emulator.local import billed_by

        billed = billed_by(job.job_id)
        if billed is not None:
            return JobCost(billed, cache_hit=False)
        if settings.bigquery_endpoint is None:
            return None
    return await asyncio.to_thread(_of_job, settings, job, _cost)


async def read_rows(settings: Settings, job: Job, count: int) -> list[dict[str, Any]] | None:
    """The first rows of a job's result with the client's exact values, or None where BigQuery does not give them."""
    return await asyncio.to_thread(_of_job, settings, job, lambda found: _rows(found, count))


def _count(found: Any) -> int | None:
    rows: int | None = found.result(max_results=0, timeout=_SECONDS).total_rows
    return rows


def _cost(found: Any) -> JobCost:
    return JobCost(getattr(found, "total_bytes_billed", None), getattr(found, "cache_hit", None))


def _rows(found: Any, count: int) -> list[dict[str, Any]]:
    return [dict(row.items()) for row in found.result(max_results=count, timeout=_SECONDS)]


def _of_job(settings: Settings, job: Job, read: Callable[[Any], T]) -> T | None:
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError

    from ..warehouse.bigquery import bigquery_client, retry

    try:
        with bigquery_client(settings) as client:
            place = {"project": job.project, "location": job.location or None}
            return read(client.get_job(job.job_id, **place, timeout=_SECONDS, retry=retry()))
    except (AskhouseError, GoogleAPIError, GoogleAuthError, OSError):
        return None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        _log.warning("BigQuery's job %s is not as expected: %r", job.job_id, error)
        return None
