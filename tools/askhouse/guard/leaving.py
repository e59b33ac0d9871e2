"""What goes with a session when it is deleted: what a service remembers of it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from state_contracts import SERVICE_CONVERSATION, ContractError

from ..errors import AskhouseError
from ..settings import Settings, load_settings

if TYPE_CHECKING:
    from google.adk.sessions.session import Session


async def forget_in_service(session: Session, settings: Settings | None = None) -> None:
    """Let the service forget every conversation that it ever kept for the session.

    Raises ServiceError when it cannot; the session should stay then, since nothing else knows what is left there.
    """
    if conversations := _conversations(session):
        from ..insights.conversations import forget

        await forget(settings or load_settings().settings, conversations)


async def forget_for_client(session: Session) -> None:
    """As `forget_in_service`, for ADK's server: answered with HTTP 502 when the service cannot."""
    from starlette.exceptions import HTTPException

    try:
        await forget_in_service(session)
    except AskhouseError as error:
        raise HTTPException(502, f"The session was not deleted. {error}") from error


def _conversations(session: Session) -> list[str]:
    """The conversations that a service kept for a session: rewinds and failures leave several."""
    names: list[str] = []
    for state in [*(event.actions.state_delta for event in session.events), session.state]:
        with suppress(ContractError):
            found = SERVICE_CONVERSATION.read(state)
            names += [found.conversation] if found else []
    return list(dict.fromkeys(names))
