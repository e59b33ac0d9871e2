"""The API over REST, for networks that let no gRPC through."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx

from .address import Address
from .credentials import authorization
from .splitter import NotAStreamError, Splitter
from .stream import Failure, Message, failure_of, from_json
from .transport import CallError

_CONNECT_SECONDS = 20.0
_NOT_JSON = "what came is not its usual form, JSON; a proxy or a wrong address may have answered"


class RestTransport:
    """One HTTP client, opened at the first call."""

    def __init__(self, address: Address, silence_seconds: float) -> None:
        self._address = address
        timeout = httpx.Timeout(silence_seconds, connect=_CONNECT_SECONDS)
        self._client = httpx.AsyncClient(
            base_url=address.url, timeout=timeout, trust_env=not address.local, verify=not address.local
        )

    async def chat(self, request: dict[str, Any]) -> AsyncGenerator[Message]:
        """Stream the reply to a ChatRequest."""
        headers = await self._headers()
        path = f"/v1/{request['parent']}:chat"
        try:
            async with self._client.stream("POST", path, json=request, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    raise CallError(_refusal(response, await response.aread()))
                async for message in messages_of(response.aiter_bytes()):
                    yield message
        except httpx.HTTPError as error:
            raise CallError(_broken(error)) from error

    async def get(self, name: str) -> dict[str, Any]:
        """A data agent."""
        return await self._call("GET", f"/v1/{name}")

    async def list(self, parent: str) -> list[dict[str, Any]]:
        """The data agents that the person may use."""
        agents: list[dict[str, Any]] = []
        token = ""
        while True:
            page = await self._call(
                "GET", f"/v1/{parent}/dataAgents:listAccessible", params={"pageToken": token} if token else {}
            )
            agents += page.get("dataAgents", [])
            token = page.get("nextPageToken", "")
            if not token:
                return agents

    async def create_conversation(self, parent: str, conversation: dict[str, Any]) -> dict[str, Any]:
        """A new conversation that the service remembers."""
        return await self._call("POST", f"/v1/{parent}/conversations", json=conversation)

    async def delete_conversation(self, name: str) -> None:
        """Let the service forget a conversation."""
        await self._call("DELETE", f"/v1/{name}")

    async def close(self) -> None:
        """Close the connections; a call that is under way is cancelled."""
        await self._client.aclose()

    async def _call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        try:
            response = await self._client.request(method, path, headers=await self._headers(), **options)
        except httpx.HTTPError as error:
            raise CallError(_broken(error)) from error
        if response.status_code != httpx.codes.OK:
            raise CallError(_refusal(response, response.content))
        body: dict[str, Any] = response.json()
        return body

    async def _headers(self) -> dict[str, str]:
        return {} if self._address.local else await authorization()


async def messages_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[Message]:
    """The messages in a REST reply's bytes. Raises CallError when they stop being one, or stop too early."""
    splitter = Splitter()
    try:
        async for chunk in chunks:
            for element in splitter.feed(chunk):
                yield _read(element)
        splitter.close()
    except NotAStreamError as error:
        raise CallError(Failure(_NOT_JSON, "INTERNAL")) from error
    if not splitter.ended:
        raise CallError(Failure("the reply stopped in the middle", "UNAVAILABLE"))


def _read(element: Any) -> Message:
    message = from_json(element)
    if isinstance(message, Failure) and message.status:
        raise CallError(message)
    return message


def _refusal(response: httpx.Response, body: bytes) -> Failure:
    """What a reply that is not OK says; streaming methods wrap it in an array."""
    try:
        parsed = json.loads(body)
        parsed = parsed[0] if isinstance(parsed, list) and parsed else parsed
        failure = failure_of(parsed["error"])
    except (ValueError, KeyError, TypeError):
        failure = Failure(f"HTTP {response.status_code} {response.reason_phrase}", str(response.status_code))
    wait = response.headers.get("Retry-After", "")
    if failure.retry_after is None and wait.isdecimal():
        return Failure(failure.message, failure.status, float(wait))
    return failure


def _broken(error: httpx.HTTPError) -> Failure:
    return Failure(str(error) or type(error).__name__, "UNAVAILABLE")
