"""What went wrong, put before the person: one line on stderr and an exit code."""

from __future__ import annotations

import errno
import io
import logging
import os
import sqlite3
import sys
import warnings
from collections.abc import Callable, Sequence

import click

from state_contracts import ContractError

from ..errors import AskhouseError, UsageError

USAGE = 1
INTERRUPTED = 130

_REMEDIES = {
    errno.EACCES: "Allow it, or set ASKHOUSE_HOME to a folder that you may write.",
    errno.EPERM: "Allow it, or set ASKHOUSE_HOME to a folder that you may write.",
    errno.EROFS: "Set ASKHOUSE_HOME to a folder that can be written.",
    errno.ENOTDIR: "Set ASKHOUSE_HOME to a folder.",
    errno.ENOSPC: "Free some space, or set ASKHOUSE_HOME to a folder on another disk.",
    errno.EDQUOT: "Free some space, or set ASKHOUSE_HOME to a folder on another disk.",
}


def exit_status(run: Callable[[], object]) -> int:
    """Run a command and give its exit code. Errors that a person can act on become a line on stderr; others, which
    are defects of ours, keep their traceback."""
    try:
        code = run()
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        tell(*_of_click(error))
        return USAGE
    except AskhouseError as error:
        tell(error.message, error.remedy)
        return error.exit_code
    except ContractError as error:
        tell(str(error), "Start a new conversation (without -c or --session).")
        return USAGE
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        tell(f"{error.filename or 'The data folder'}: {error.strerror}.", _REMEDIES[error.errno])
        return USAGE
    except sqlite3.OperationalError as error:
        tell(f"The data folder cannot be used: {error}.", "`askhouse doctor` tells what is wrong with it.")
        return USAGE
    return code if isinstance(code, int) else 0


def check_text(arguments: Sequence[str]) -> None:
    """Raises UsageError when an argument is not text: Python keeps bytes that are not UTF-8 as halves of characters,
    which nothing can write down again."""
    for argument in arguments:
        if not _is_text(argument):
            shown = argument.encode("utf-8", "replace").decode()
            raise UsageError(f"{shown!r} is not UTF-8 text.", "Type it again, or give the file another name.")


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_any_text() -> None:
    """Let a terminal that cannot show a character show another in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def keep_quiet(*, logs: bool) -> None:
    """Let no warnings of the libraries reach the terminal, and no logs but where they are wanted."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # read by its C core when that is loaded
    if not logs:
        logging.getLogger().addHandler(logging.NullHandler())


def tell(message: str, remedy: str = "") -> None:
    """Write "Error: what is wrong. What to do." on stderr."""
    click.echo(f"Error: {' '.join(f'{message} {remedy}'.split())}", err=True)


def _of_click(error: click.ClickException) -> tuple[str, str]:
    message = error.format_message()
    if not message.endswith((".", "?", "!")):
        message += "."
    context = getattr(error, "ctx", None)
    return message, f"`{context.command_path} --help` shows how it is used." if context else ""
