"""Options that several commands share, and the settings that come of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..settings import Settings, load_settings

F = TypeVar("F", bound=Callable[..., Any])


def today_option(command: F) -> F:
    """`--today DATE`, a setting for this command alone."""
    return click.option(
        "--today", metavar="DATE", help="The day that counts as today (2025-12-31), for relative periods."
    )(command)


def settings_of(**overrides: Any) -> Settings:
    """The settings, with the command line's before the environment's and `.env`'s."""
    return load_settings({name: value for name, value in overrides.items() if value not in (None, ())}).settings
