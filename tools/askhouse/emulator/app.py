"""The REST door: the same core over HTTP, with the service's paths, its streamed arrays and its errors."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .bigquery_rest import routes as bigquery_routes
from .core import Core
from .errors import HTTP_STATUS, ApiError, api_error, invalid
from .methods import Method, agent_methods, conversation_methods, operation_methods
from .wire import ChatRequest, body_chunk, body_end, to_json

VERSIONS = ("v1", "v1beta", "v1alpha")
_AGENTS = "projects/{project}/locations/{location}/dataAgents"
_CONVERSATIONS = "projects/{project}/locations/{location}/conversations"
_PARENT = "projects/{project}/locations/{location}"

# path, HTTP method, RPC, the request's field that the path fills, the field that the body fills
_UNARY = (
    (_AGENTS, "GET", "ListDataAgents", "parent", ""),
    (_AGENTS, "POST", "CreateDataAgent", "parent", "data_agent"),
    (f"{_AGENTS}:createSync", "POST", "CreateDataAgentSync", "parent", "data_agent"),
    (f"{_AGENTS}:listAccessible", "GET", "ListAccessibleDataAgents", "parent", ""),
    (f"{_AGENTS}/{{id}}:updateSync", "PATCH", "UpdateDataAgentSync", "data_agent.name", "data_agent"),
    (f"{_AGENTS}/{{id}}:deleteSync", "DELETE", "DeleteDataAgentSync", "name", ""),
    (f"{_AGENTS}/{{id}}", "GET", "GetDataAgent", "name", ""),
    (f"{_AGENTS}/{{id}}", "PATCH", "UpdateDataAgent", "data_agent.name", "data_agent"),
    (f"{_AGENTS}/{{id}}", "DELETE", "DeleteDataAgent", "name", ""),
    (_CONVERSATIONS, "GET", "ListConversations", "parent", ""),
    (_CONVERSATIONS, "POST", "CreateConversation", "parent", "conversation"),
    (f"{_CONVERSATIONS}/{{id}}", "GET", "GetConversation", "name", ""),
    (f"{_CONVERSATIONS}/{{id}}", "PATCH", "UpdateConversation", "conversation.name", "conversation"),
    (f"{_CONVERSATIONS}/{{id}}", "DELETE", "DeleteConversation", "name", ""),
    (f"{_CONVERSATIONS}/{{id}}/messages", "GET", "ListMessages", "parent", ""),
    (f"{_PARENT}/operations/{{id}}", "GET", "GetOperation", "name", ""),
)

_OWN_ORIGIN = re.compile(r"https?://(127\.0\.0\.1|localhost)(:\d+)?")

Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(core: Core) -> Starlette:
    """The application, for any ASGI server. It answers this machine only."""
    methods = {
        **agent_methods(core.agents), **conversation_methods(core.conversations), **operation_methods(core.agents)
    }  # fmt: skip
    routes = [Route("/healthz", _health)]
    for version in VERSIONS:
        routes.append(Route(f"/{version}/{_PARENT}:chat", _chat(core), methods=["POST"]))
        for path, verb, name, path_field, body_field in _UNARY:
            endpoint = _unary(methods[name], path_field, body_field)
            routes.append(Route(f"/{version}/{path}", endpoint, methods=[verb]))
    return Starlette(
        routes=[*routes, *bigquery_routes(core.warehouse, core.jobs)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
            Middleware(OwnPagesOnly),
        ],
        exception_handlers={ApiError: _refuse, HTTPException: _no_such_path},
    )


class OwnPagesOnly:
    """Refuses what a page of another site sends: browsers let it write to this machine, though not read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        origin = Headers(scope=scope).get("origin", "") if scope["type"] == "http" else ""
        if origin and not _OWN_ORIGIN.fullmatch(origin):
            error = ApiError("PERMISSION_DENIED", f"Pages of {origin} may not use this service.")
            await JSONResponse(error.body(), error.http_status)(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _chat(core: Core) -> Endpoint:
    async def chat(request: Request) -> Response:
        message = _parse({**await _json_body(request), "parent": _resource(request, ":chat")}, ChatRequest)
        replies = core.chat.reply(message)
        try:
            first = await anext(replies, None)
        except Exception as error:
            raise api_error(error) from error
        return StreamingResponse(_stream(first, replies), media_type="application/json; charset=UTF-8")

    return chat


async def _stream(first: Any, rest: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    if first is None:
        yield body_end(empty=True)
        return
    yield body_chunk(to_json(first), first=True)
    try:
        async for message in rest:
            yield body_chunk(await asyncio.to_thread(to_json, message), first=False)
    except Exception as error:
        yield body_chunk(api_error(error).body(), first=False)
    yield body_end(empty=False)


def _unary(method: Method, path_field: str, body_field: str) -> Endpoint:
    async def handle(request: Request) -> Response:
        values: dict[str, Any] = _query(request)
        if body_field:
            values[body_field] = await _json_body(request)
        resource = _resource(request, ":")
        _fill(values, path_field, resource.rsplit("/", 1)[0] if path_field == "parent" else resource)
        try:
            reply = await asyncio.to_thread(method.work, _parse(values, method.request))
        except Exception as error:
            raise api_error(error) from error
        return JSONResponse(to_json(reply))

    return handle


def _resource(request: Request, suffix: str) -> str:
    """The resource, or the collection, that the path names: without the version and the verb."""
    path = request.url.path.split("/", 2)[2]
    path = path.rsplit(suffix, 1)[0] if suffix in path.rsplit("/", 1)[-1] else path
    return path


def _query(request: Request) -> dict[str, Any]:
    pairs = ((key, value) for key, value in request.query_params.items() if not key.startswith("$") and key != "alt")
    return {key: {"true": True, "false": False}.get(value, value) for key, value in pairs}


def _fill(values: dict[str, Any], path: str, value: str) -> None:
    outer, _, inner = path.partition(".")
    if inner:
        values[outer] = {**values.get(outer, {}), inner: value}
    else:
        values[outer] = value


async def _json_body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body() or b"{}")
    except ValueError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from error
    if not isinstance(body, dict):
        raise invalid("Invalid JSON payload received. An object was expected.")
    return body


def _parse(values: dict[str, Any], request_type: type[Any]) -> Any:
    try:
        return json_format.ParseDict(values, request_type(), ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from error


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.http_status)


async def _no_such_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = next((name for name, code in HTTP_STATUS.items() if code == error.status_code), "NOT_FOUND")
    message = f"{request.method} {request.url.path} is not served here: {error.detail}."
    return JSONResponse({"error": {"code": error.status_code, "message": message, "status": status}}, error.status_code)
