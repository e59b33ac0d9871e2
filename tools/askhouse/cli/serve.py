"""`askhouse serve`: the embedded services alone, for any Google client."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from .options import settings_of, today_option


@click.command(short_help="Serve Google's APIs on this machine, for any client.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, show_default="any free one", help="Port of the REST addresses."
)
@click.option(
    "--grpc-port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default="any free one",
    help="Port of the gRPC address.",
)
@today_option
def serve(port: int, grpc_port: int, today: str | None) -> None:
    """Serve the Conversational Analytics API and BigQuery on this machine, for any Google client.

    The addresses are of this machine alone (127.0.0.1). Ctrl-C stops.
    """
    settings = settings_of(today=today)
    from ..emulator.local import Emulator
    from ..home import prepare_home

    prepare_home(settings.home)
    with _told_to_stop() as stop, Emulator(settings, grpc_port=grpc_port, rest_port=port) as emulator:
        click.echo(f"Ready: REST {emulator.rest}  gRPC {emulator.grpc}  (Ctrl-C stops)")
        stop.wait()


@contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
