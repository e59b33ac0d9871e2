"""The conversation that the service remembers for a session, where the settings ask for that."""

from __future__ import annotations

import asyncio

from google.adk.agents.context import Context

from askhouse.place import place_of
from askhouse.settings import Settings
from state_contracts import SERVICE_CONVERSATION, ServiceConversation

from .remembered import remembered


async def continued(settings: Settings, ctx: Context) -> tuple[ServiceConversation | None, bool]:
    """The conversation to go on with, and whether it is new to the service; None where turns are resent.

    A new one is opened for a session that has none, after a rewind, which the service cannot follow, and for another
    data agent. Raises AskhouseError.
    """
    if settings.history != "service":
        return None, True
    place = await asyncio.to_thread(place_of, settings)
    if place.agent is None:
        return None, True
    rewinds = sum(bool(event.actions.rewind_before_invocation_id) for event in ctx.session.events)
    known = remembered(SERVICE_CONVERSATION, ctx.state)
    if known and (known.agent, known.rewinds) == (place.agent, rewinds):
        return known, False
    from askhouse.insights.conversations import start

    name = await start(place.settings, place.agent)
    return ServiceConversation(conversation=name, agent=place.agent, rewinds=rewinds), True


def remember(ctx: Context, service: ServiceConversation | None, *, failed: bool) -> None:
    """Keep the conversation for the next turn, unless this one failed: the service may then hold half a turn."""
    if failed and service is not None:
        SERVICE_CONVERSATION.clear(ctx.state)
    elif service is not None and service != remembered(SERVICE_CONVERSATION, ctx.state):
        SERVICE_CONVERSATION.write(ctx.state, service)
