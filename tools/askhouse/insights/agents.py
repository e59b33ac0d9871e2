"""The data agents that may be asked, as the service describes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..settings import Settings
from .address import Address, address_of
from .refusals import translated
from .transport import CallError, Transport, transport_to

T = TypeVar("T")


async def list_accessible(settings: Settings) -> list[dict[str, Any]]:
    """Every data agent that the person may use, in the API's JSON form. Raises ServiceError and StorageError."""
    return await _call(settings, lambda transport, address: transport.list(address.parent))


async def get(settings: Settings, name: str) -> dict[str, Any]:
    """One data agent, by its id or resource name. Raises ServiceError and StorageError."""
    return await _call(settings, lambda transport, address: transport.get(address.agent_name(name)))


async def _call(settings: Settings, work: Callable[[Transport, Address], Awaitable[T]]) -> T:
    address = await address_of(settings)
    transport = await transport_to(address, settings)
    try:
        return await work(transport, address)
    except CallError as error:
        raise translated(error.failure) from error
    finally:
        await transport.close()
