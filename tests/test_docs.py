"""The documents tell the truth: the reference is the code's, and what the README shows is what the commands print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from askhouse.cli import main as askhouse
from askhouse.cli.docs import commands, errors, reference
from askhouse.settings import Settings
from state_contracts import CONTRACTS

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"make", "git", "cd", "pip"}
"""Commands shown in the documents that other tests, or nobody here, can run."""


def test_the_reference_is_up_to_date() -> None:
    written = (ROOT / "docs/reference.md").read_text("utf-8")
    assert written == reference(), "docs/reference.md is stale: run `make docs`"


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=lambda value: str(value))
def test_every_command_and_option_says_what_it_is_for(path: str, command: click.Command) -> None:
    assert command.help, path
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_every_setting_says_what_it_means() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_state_key_says_what_it_is_for() -> None:
    assert [contract.key for contract in CONTRACTS if not (contract.purpose and contract.writers)] == []


def test_every_error_says_when_and_has_a_code_of_its_own() -> None:
    kinds = list(errors())
    assert [kind.__name__ for kind in kinds if not kind.__dict__.get("__doc__")] == []
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_documents_link_to_files_that_are_there() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def sessions() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The ```console blocks of each document: commands with the output that is shown below each."""
    for document in DOCUMENTS:
        blocks = re.findall(r"^```console\n(.*?)^```", document.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        steps = [step for block in blocks for step in shown(block)]
        if steps:
            yield document.name, steps


def shown(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def parse(arguments: list[str]) -> None:
    """Hold a command that is shown without output to its options. Raises UsageError where it has no such option."""
    command: click.Command = askhouse
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.commands[name]
    command.make_context(name, arguments)


def pattern(output: str) -> str:
    """The shown output as a pattern. A line of `…` alone stands for any lines, `…` within a line for any words."""
    lines = [
        r"(?:.*\n)*?" if line.strip() in ("…", "...") else re.escape(line).replace("…", ".*") + r"[ \t]*\n"
        for line in output.rstrip("\n").split("\n")
    ]
    return "".join(lines)


@pytest.mark.parametrize(
    ("document", "steps"), list(sessions()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_shown_commands_print_what_is_shown(document: str, steps: list[tuple[str, str]], home: Path) -> None:
    """In order, in one home, so that a conversation can be continued as it is shown."""
    programs = Path(sys.executable).parent
    for command, output in steps:
        program = command.split()[0].removeprefix(".venv/bin/")
        if program in ELSEWHERE:
            continue
        assert program == "askhouse", f"{document} shows `{command}`, which this test cannot run"
        if not output.strip():
            parse(shlex.split(command, comments=True)[1:])
            continue
        done = subprocess.run(
            command.removeprefix(".venv/bin/"), shell=True,
            env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        )  # fmt: skip
        said = "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip("\n").split("\n"))
        assert re.fullmatch(pattern(output), said), f"$ {command}\n{said}\ninstead of\n{output}"


def test_a_command_without_output_is_held_to_its_options() -> None:
    parse(["connect", "PROJECT", "--dataset", "D"])
    with pytest.raises(click.NoSuchOption):
        parse(["connect", "PROJECT", "--datasets", "D"])
    with pytest.raises(KeyError):
        parse(["disconnect"])


def test_the_pattern_of_an_output_knows_right_from_wrong() -> None:
    assert re.fullmatch(pattern("a … c\n…\nend\n"), "a b c\nx\ny\nend\n")
    assert re.fullmatch(pattern("a … c\n…\nend\n"), "a b c\nend\n")
    assert not re.fullmatch(pattern("a\n"), "b\n")
    assert not re.fullmatch(pattern("a\n…\nend\n"), "a\nx\n")
