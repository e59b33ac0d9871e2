"""`askhouse preferences`: how you like answers."""

from __future__ import annotations

import click
from pydantic import ValidationError

from state_contracts import PREFERENCES, Preferences

from .sessions import in_store, store_option

NAMES = tuple(Preferences.model_fields)


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
    in_store(uri, lambda store: store.write(PREFERENCES, changed))
    click.echo(f"{name} is {getattr(changed, name)} from your next question on.")


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
