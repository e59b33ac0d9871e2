"""`askhouse doctor`: what is set, what works, and what to do about what does not."""

from __future__ import annotations

import click


@click.command(short_help="Show what is set, and what works or not.")
def doctor() -> None:
    """Show each setting, its value and where it came from, and check what works.

    Exit code 1 when something that is needed does not work.
    """
    from ..doctor import examine

    report = examine()
    for line in report.lines():
        click.echo(line)
    click.get_current_context().exit(0 if report.healthy else 1)
