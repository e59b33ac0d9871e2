"""Who the person is to Google: application default credentials, found once per process."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from .stream import Failure
from .transport import CallError

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


async def google_credentials() -> Any:
    """Application default credentials. Raises CallError when there are none."""
    return await asyncio.to_thread(_default)


async def authorization() -> dict[str, str]:
    """The headers that say who asks, with a token that is still valid. Raises CallError."""
    return await asyncio.to_thread(_headers)


def _headers() -> dict[str, str]:
    import google.auth.exceptions
    from google.auth.transport.requests import Request

    credentials = _default()
    if not credentials.valid:
        try:
            credentials.refresh(Request())
        except google.auth.exceptions.GoogleAuthError as error:
            raise CallError(Failure(str(error), "UNAUTHENTICATED")) from error
    headers = {"Authorization": f"Bearer {credentials.token}"}
    quota_project = getattr(credentials, "quota_project_id", None)
    return {**headers, "x-goog-user-project": quota_project} if quota_project else headers


@cache
def _default() -> Any:
    import google.auth
    import google.auth.exceptions

    try:
        credentials, _ = google.auth.default(scopes=_SCOPES)
    except google.auth.exceptions.GoogleAuthError as error:
        raise CallError(Failure(str(error), "UNAUTHENTICATED")) from error
    return credentials
