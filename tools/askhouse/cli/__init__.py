"""The command `askhouse`: one small file a command; what a person did wrong is told in one sentence with its remedy.

The commands' modules import nothing heavy at their top, so that a cold start is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from .. import __version__
from .agents import agents
from .ask import ask
from .chat import chat
from .connect import connect
from .doctor import doctor
from .load import load
from .preferences import preferences
from .problems import check_text, exit_status, keep_quiet, write_any_text
from .quick import QuickExit
from .serve import serve
from .sessions import sessions
from .state import state


class _Commands(click.Group):
    """A group that ends with our exit codes, and with a sentence in place of a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        run = partial(super().main, args, prog_name, complete_var, False, **extra)
        if not standalone_mode:
            return run()
        write_any_text()
        leaving = QuickExit() if args is None else None  # None: called by the program, not by a test

        def checked() -> Any:
            check_text(sys.argv[1:] if args is None else args)
            return run()

        code = exit_status(checked)
        if leaving:
            leaving.code = code
        raise SystemExit(code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="askhouse")
@click.option("--verbose", is_flag=True, help="Show the logs of all parts on stderr.")
@click.pass_context
def main(context: click.Context, verbose: bool) -> None:
    """Ask data in plain language; every number can be traced to a query.

    Without any setting all runs on this machine, on sample data. `askhouse connect` chooses Google Cloud instead.

    Exit codes: 0 answered, 2 refused or asked back, 3 the service failed, 1 the command or set-up is at fault.
    """
    if not verbose:
        keep_quiet(logs=context.invoked_subcommand == chat.name)  # a server's terminal is where one looks


for command in (ask, chat, load, agents, preferences, sessions, state, serve, connect, doctor):
    main.add_command(command)

__all__ = ["main"]
