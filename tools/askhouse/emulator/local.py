"""The emulator on this machine: in the process, started when it is first needed, or alone for `askhouse serve`."""

from __future__ import annotations

import asyncio
import atexit
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StorageError
from ..settings import Settings

if TYPE_CHECKING:
    import grpc
    import uvicorn

_GRACE_SECONDS = 2.0


class Emulator:
    """Google's APIs on 127.0.0.1, in a daemon thread with an event loop of its own.

    Args:
        settings: where the data lies, and which day counts as today.
        grpc_port: the port of the gRPC door; 0 takes a free one.
        rest_port: the port of the REST door; 0 takes a free one, None opens the door when `rest` is first read.
    """

    def __init__(self, settings: Settings, *, grpc_port: int = 0, rest_port: int | None = None) -> None:
        self.settings = settings
        self._ports = _Ports(grpc_port, rest_port)
        self._lock = threading.Lock()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="askhouse-emulator", daemon=True)
        self._doors: _Doors | None = None

    def start(self) -> Emulator:
        """Open the doors. Builds the sample warehouse when there is none. Raises StorageError."""
        self._thread.start()
        self._ready.result()
        return self

    def stop(self) -> None:
        """Close the doors; what is being answered has two seconds to finish."""
        if self._doors is not None and self._thread.is_alive():
            self._doors.loop.call_soon_threadsafe(self._doors.closing.set)
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Emulator:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def grpc(self) -> str:
        """Address of the gRPC door."""
        return f"http://127.0.0.1:{self._ports.grpc}"

    @property
    def rest(self) -> str:
        """Address of the REST door."""
        with self._lock:
            doors = self._open_doors()
            if doors.rest is None:
                asyncio.run_coroutine_threadsafe(self._open_rest(doors), doors.loop).result()
        return f"http://127.0.0.1:{self._ports.rest}"

    def billed(self, job_id: str) -> int | None:
        """What one of its jobs would be billed, or None where it knows no such job."""
        doors = self._doors
        billed: int | None = doors.core.jobs.billed(job_id) if doors is not None else None
        return billed

    def _open_doors(self) -> _Doors:
        if self._doors is None:
            raise StorageError("The emulator is not running.", "Start it first.")
        return self._doors

    def _run(self) -> None:
        try:
            with _built_core(self.settings) as core:
                _run_until_done(self._serve(core))
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _serve(self, core: Any) -> None:
        from .grpc import serve

        server, self._ports.grpc = await serve(core, self._ports.grpc)
        doors = _Doors(asyncio.get_running_loop(), asyncio.Event(), core, server)
        try:
            if self._ports.rest is not None:
                await self._open_rest(doors)
            self._doors = doors
            self._ready.set_result(None)
            await doors.closing.wait()
        finally:
            self._doors = None
            await doors.close()

    async def _open_rest(self, doors: _Doors) -> None:
        import uvicorn

        from .app import build_app

        listener = _listen(self._ports.rest or 0)
        self._ports.rest = listener.getsockname()[1]
        config = uvicorn.Config(
            build_app(doors.core), log_config=None, access_log=False, lifespan="off", ws="none", http="h11",
            timeout_graceful_shutdown=int(_GRACE_SECONDS),
        )  # fmt: skip
        doors.rest = uvicorn.Server(config)
        doors.rest_task = asyncio.create_task(doors.rest.serve(sockets=[listener]))


def _run_until_done(work: Coroutine[Any, Any, None]) -> None:
    """As asyncio.run, but for the new thread with which that ends: Python 3.12 allows none while the process ends."""
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(work)
        loop.run_until_complete(_cancel_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@dataclass
class _Ports:
    grpc: int
    rest: int | None


@dataclass
class _Doors:
    """What runs in the emulator's loop."""

    loop: asyncio.AbstractEventLoop
    closing: asyncio.Event
    core: Any
    grpc: grpc.aio.Server
    rest: uvicorn.Server | None = None
    rest_task: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self.rest is not None and self.rest_task is not None:
            self.rest.should_exit = True
            await self.rest_task
        await self.grpc.stop(_GRACE_SECONDS)


@contextmanager
def _built_core(settings: Settings) -> Iterator[Any]:
    from ..warehouse.duckdb import open_warehouse
    from .core import Core, clock_of

    with closing(open_warehouse(settings.home)) as warehouse:
        yield Core(settings.home, warehouse, clock_of(settings))


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise StorageError(
            f"Port {port} of 127.0.0.1 cannot be bound: {error.strerror}.",
            "Choose another, or stop the program that has it.",
        ) from error
    return listener


@dataclass
class Endpoints:
    """Addresses of the embedded services."""

    _emulator: Emulator = field(repr=False)

    @property
    def grpc(self) -> str:
        """The Conversational Analytics API over gRPC."""
        return self._emulator.grpc

    @property
    def rest(self) -> str:
        """The same over REST, and BigQuery's. The door opens at the first reading."""
        return self._emulator.rest


_Key = tuple[Path, object, str]
_running: dict[_Key, Emulator] = {}
_lock = threading.Lock()


def embedded(settings: Settings) -> Endpoints:
    """The services of this process, started at the first call; the same settings share them.

    Blocks while they start (and, once per machine, while the sample warehouse is built): call it off the event loop.
    Raises StorageError.
    """
    key = (settings.home, settings.today, settings.time_zone)
    with _lock:
        emulator = _running.get(key)
        if emulator is None:
            emulator = _running[key] = Emulator(settings).start()
            _at_exit(stop_embedded)
    return Endpoints(emulator)


def billed_by(job_id: str) -> int | None:
    """Bytes that a job of this process's embedded services would be billed, or None for a job of another's."""
    with _lock:
        running = list(_running.values())
    return next((billed for emulator in running if (billed := emulator.billed(job_id)) is not None), None)


def stop_embedded() -> None:
    """Stop every embedded service of this process."""
    with _lock:
        emulators = list(_running.values())
        _running.clear()
    for emulator in emulators:
        emulator.stop()


def _at_exit(function: Callable[[], None]) -> None:
    atexit.unregister(function)
    atexit.register(function)
