"""What a result's BigQuery job knows and the reply does not say."""

from __future__ import annotations

import asyncio

from state_contracts import Job

from ..errors import AskhouseError
from ..settings import Settings

_SECONDS = 20.0


async def count_rows(settings: Settings, job: Job) -> int | None:
    """Rows of the whole result, or None where BigQuery does not say."""
    return await asyncio.to_thread(_count, settings, job)


def _count(settings: Settings, job: Job) -> int | None:
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError

    from ..warehouse.bigquery import bigquery_client

    try:
        with bigquery_client(settings) as client:
            found = client.get_job(job.job_id, project=job.project, location=job.location or None, timeout=_SECONDS)
            rows: int | None = found.result(max_results=0, timeout=_SECONDS).total_rows
            return rows
    except (AskhouseError, GoogleAPIError, GoogleAuthError, OSError):
        return None
