"""The gRPC door: Google's services by their own names, as generic handlers over the shared core."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc

from ..errors import StorageError
from .core import Core
from .errors import ApiError, api_error
from .methods import Method, agent_methods, conversation_methods, operation_methods
from .wire import ChatRequest

VERSIONS = ("v1", "v1beta", "v1alpha")
_PACKAGE = "google.cloud.geminidataanalytics"
_OPTIONS = (("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


async def serve(core: Core, port: int) -> tuple[grpc.aio.Server, int]:
    """Start serving on the loopback interface; port 0 takes a free one. Raises StorageError when it is busy."""
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers(_handlers(core))
    try:
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
    except RuntimeError as error:
        raise StorageError(
            f"Port {port} of 127.0.0.1 cannot be bound.", "Choose another, or stop the program that has it."
        ) from error
    await server.start()
    return server, bound


def _handlers(core: Core) -> list[grpc.GenericRpcHandler[Any, Any]]:
    chat = _unary_handlers(conversation_methods(core.conversations))
    chat["Chat"] = grpc.unary_stream_rpc_method_handler(_chat(core), ChatRequest.FromString, _serialize)
    agents = _unary_handlers(agent_methods(core.agents))
    handlers = [
        grpc.method_handlers_generic_handler(f"{_PACKAGE}.{version}.{service}", methods)
        for version in VERSIONS
        for service, methods in (("DataChatService", chat), ("DataAgentService", agents))
    ]
    operations = _unary_handlers(operation_methods(core.agents))
    return [*handlers, grpc.method_handlers_generic_handler("google.longrunning.Operations", operations)]


def _unary_handlers(methods: Mapping[str, Method]) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
    return {
        name: grpc.unary_unary_rpc_method_handler(_unary(method), method.request.FromString, _serialize)
        for name, method in methods.items()
    }


def _unary(method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    async def handle(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        try:
            return await asyncio.to_thread(method.work, request)
        except Exception as error:
            await _refuse(context, api_error(error))

    return handle


def _chat(core: Core) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def handle(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        try:
            async for message in core.chat.reply(request):
                yield message
        except Exception as error:
            await _refuse(context, api_error(error))

    return handle


async def _refuse(context: grpc.aio.ServicerContext[Any, Any], error: ApiError) -> None:
    await context.abort(grpc.StatusCode[error.status], error.message)


def _serialize(message: Any) -> bytes:
    return message.SerializeToString()  # type: ignore[no-any-return]
