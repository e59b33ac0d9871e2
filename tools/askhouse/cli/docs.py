"""The reference, written from the code: commands, settings, state keys, errors, exit codes.

`python -m askhouse.cli.docs FILE` writes it; a test fails while the file is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ..errors import AskhouseError
from ..settings import Settings, env_name
from . import main as askhouse
from .markdown import table
from .state import contract_table

WIDTH = 100


def reference() -> str:
    """The whole reference as Markdown."""
    parts = [
        "# Reference",
        "Written from the code by `make docs`; a test fails while it is stale.",
        *_section("Commands", _commands()),
        *_section("The JSON object of `askhouse ask --format json`", _json()),
        *_section("Settings", _settings()),
        *_section("State keys", _state_keys()),
        *_section("Errors", _errors()),
        *_section("Exit codes", _exit_codes()),
    ]
    return "\n\n".join(parts) + "\n"


def commands(group: click.Group = askhouse, path: str = "askhouse") -> Iterator[tuple[str, click.Command]]:
    """Every command under its full name, the groups themselves included."""
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def errors(kind: type[AskhouseError] = AskhouseError) -> Iterator[type[AskhouseError]]:
    """Every kind of error of `askhouse.errors`, parents first."""
    yield kind
    for deeper in kind.__subclasses__():
        if deeper.__module__ == kind.__module__:
            yield from errors(deeper)


def _section(title: str, body: Iterable[str]) -> list[str]:
    return [f"## {title}", *body]


def _commands() -> Iterator[str]:
    for path, command in commands():
        context = click.Context(command, info_name=path, terminal_width=WIDTH, help_option_names=["-h", "--help"])
        yield f"### {path}"
        yield f"```text\n{command.get_help(context)}\n```"


def _json() -> Iterator[str]:
    from ..export.record import Record

    yield "Fields may be added; none changes its meaning. Rows are arrays in column order."
    schema = Record.model_json_schema()
    yield table(("Field", "Type", "Meaning"), _fields(schema))
    for name, part in schema["$defs"].items():
        yield f"### {name}"
        if description := part.get("description"):
            yield " ".join(description.split())
        if "properties" in part:
            yield table(("Field", "Type", "Meaning"), _fields(part))


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, field in schema["properties"].items():
        yield f"`{name}`", _type(field), " ".join(field.get("description", "").split())


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if kinds := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(map(_type, kinds))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"array of {_type(field['items'])}"
    return str(field.get("format") or field.get("type") or "any")


def _settings() -> Iterator[str]:
    yield (
        "From the command line, then the environment, then the `.env` nearest above the working folder, "
        "then the default. An unknown `ASKHOUSE_` variable is an error."
    )
    rows = (
        (f"`{env_name(name)}`", _default(name), " ".join((info.description or "").split()))
        for name, info in Settings.model_fields.items()
    )
    yield table(("Variable", "Default", "Meaning"), rows)


def _default(name: str) -> str:
    info = Settings.model_fields[name]
    if info.default_factory is not None:
        return "`askhouse` in the user's data folder"
    return "not set" if info.default in (None, ()) else f"`{info.default}`"


def _state_keys() -> Iterator[str]:
    yield "What the agents leave for each other. `temp:` lasts one invocation; the others are kept as JSON."
    yield contract_table()


def _errors() -> Iterator[str]:
    rows = (
        (f"`{kind.__name__}`", f"`{kind.code}`", str(kind.exit_code), " ".join((kind.__doc__ or "").split()))
        for kind in errors()
    )
    yield table(("Error", "Code", "Exit code", "Meaning"), rows)


def _exit_codes() -> Iterator[str]:
    rows = (
        ("0", "answered"),
        ("1", "the command, a file or the set-up is at fault; nothing was changed"),
        ("2", "refused, or asked back, in words on stdout"),
        ("3", "the service or the query failed"),
        ("130", "interrupted (Ctrl-C)"),
    )
    yield table(("Code", "Meaning"), rows)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
