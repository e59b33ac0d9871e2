"""`askhouse preferences`: how you like answers."""

from __future__ import annotations

import re

import click
from pydantic import ValidationError

from state_contracts import PREFERENCES, Preferences

from .sessions import in_store, store_option

NAMES = tuple(Preferences.model_fields)
OBEYED = ("locale",)
"""Preferences that answers follow; the others are kept, and may be read by a model."""
_AGENT = re.compile(r"(projects/[^/\s]+/locations/[^/\s]+/dataAgents/)?[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@click.group()
def preferences() -> None:
    """How you like answers: language, locale, currency, time zone, calendar, chart."""


@preferences.command()
@store_option
def show(uri: str | None) -> None:
    """Print each preference and its value."""
    found = _read(uri)
    for name in NAMES:
        value = getattr(found, name)
        click.echo(f"{name:<18} {'not set' if value is None else value}")


@preferences.command("set")
@click.argument("name", type=click.Choice(NAMES))
@click.argument("value")
@store_option
def set_(name: str, value: str, uri: str | None) -> None:
    """Set the preference NAME to VALUE."""
    try:
        changed = Preferences.model_validate({**_read(uri).model_dump(exclude_none=True), name: value})
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ").rstrip(".")
        raise click.BadParameter(f"{value!r} does not fit {name}: {reason}.") from error
    if reason := _unknown(name, value):
        raise click.BadParameter(f"{value!r} does not fit {name}: {reason}.")
    in_store(uri, lambda store: store.write(PREFERENCES, changed))
    when = "from your next question on" if name in OBEYED else "kept; answers do not use it yet"
    click.echo(f"{name} is {getattr(changed, name)}{' ' if name in OBEYED else ': '}{when}.")


def _unknown(name: str, value: str) -> str:
    """What is wrong with a value of the right form that names nothing, or nothing."""
    match name:
        case "locale":
            return "" if _is_locale(value) else "no such CLDR locale; pt_BR is one"
        case "currency":
            from babel.numbers import list_currencies

            return "" if value in list_currencies() else "no such ISO 4217 currency; EUR is one"
        case "default_agent":
            return "" if _AGENT.fullmatch(value) else "write a data agent's id, as `askhouse agents list` shows it"
    return ""


def _is_locale(value: str) -> bool:
    from babel import Locale, UnknownLocaleError

    try:
        Locale.parse(value)
    except (ValueError, UnknownLocaleError):
        return False
    return True


@preferences.command()
@click.argument("name", type=click.Choice(NAMES), required=False)
@store_option
def reset(name: str | None, uri: str | None) -> None:
    """Forget the preference NAME, or all of them."""
    left = None if name is None else _read(uri).model_copy(update={name: None})
    in_store(uri, lambda store: store.write(PREFERENCES, left))
    click.echo(f"Forgot {name or 'all preferences'}.")


def _read(uri: str | None) -> Preferences:
    found: Preferences | None = in_store(uri, lambda store: store.read(PREFERENCES))
    return found or Preferences()
