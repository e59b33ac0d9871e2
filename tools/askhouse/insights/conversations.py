"""Conversations that the service remembers, made for a session and forgotten with it."""

from __future__ import annotations

from collections.abc import Iterable

from ..settings import Settings
from .address import address_of
from .refusals import is_missing, translated
from .transport import CallError, transport_to


async def start(settings: Settings, agent: str) -> str:
    """Open a conversation with a data agent, given by its resource name; the conversation's name.

    Raises ServiceError and StorageError.
    """
    address = await address_of(settings)
    transport = await transport_to(address, settings)
    try:
        created = await transport.create_conversation(address.parent, {"agents": [agent]})
    except CallError as error:
        raise translated(error.failure) from error
    finally:
        await transport.close()
    return str(created["name"])


async def forget(settings: Settings, names: Iterable[str]) -> None:
    """Let the service forget conversations; one that it does not know is none. Raises ServiceError and StorageError."""
    address = await address_of(settings)
    transport = await transport_to(address, settings)
    try:
        for name in names:
            try:
                await transport.delete_conversation(name)
            except CallError as error:
                if not is_missing(error.failure):
                    raise translated(error.failure) from error
    finally:
        await transport.close()
