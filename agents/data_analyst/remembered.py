"""What a person or a session left earlier, where doing without it costs less than the answer."""

from __future__ import annotations

import logging
from typing import TypeVar

from state_contracts import PREFERENCES, ContractError, Preferences, StateKey
from state_contracts.keys import State

T = TypeVar("T")
UNREADABLE = "Your preferences could not be read and were left out; `askhouse preferences reset` forgets them."

_log = logging.getLogger(__name__)


def remembered(key: StateKey[T], state: State) -> T | None:
    """What the key holds, or None where it holds nothing that this version can read."""
    try:
        return key.read(state)
    except ContractError as error:
        _log.warning("Left out: %s", error)
        return None


def preferences_of(state: State) -> Preferences:
    """How the person likes answers."""
    return remembered(PREFERENCES, state) or Preferences()


def are_unreadable(state: State) -> bool:
    """Whether preferences are kept that this version cannot read."""
    return state.get(PREFERENCES.key) is not None and remembered(PREFERENCES, state) is None
