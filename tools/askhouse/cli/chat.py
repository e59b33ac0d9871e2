"""`askhouse chat`: ADK's web page on our agents."""

from __future__ import annotations

import click

from .options import settings_of, today_option


@click.command(short_help="Ask in the browser (ADK's web page).")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port of the page. [default: 8000, or else a free one]")
@today_option
def chat(port: int | None, today: str | None) -> None:
    """Ask questions in the browser (ADK's web page), on this machine alone."""
    settings = settings_of(today=today)
    from ..web import serve_chat

    serve_chat(settings, port, announce=lambda address: click.echo(f"Ready: open {address} (Ctrl-C stops)"))
