"""ADK's web page on our agents, for this machine alone."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .errors import StorageError
from .home import prepare_home
from .settings import Settings, env_name

HOST = "127.0.0.1"
USUAL_PORT = 8000


def serve_chat(settings: Settings, port: int | None, announce: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; `announce` is called with its address once it answers.

    Args:
        settings: in force for the agents too.
        port: 0 for any free one; None for the usual one, or a free one where that is taken.

    Raises StorageError when the data folder or the port cannot be used.
    """
    prepare_home(settings.home)
    listener = listen(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    if settings.today:
        os.environ[env_name("today")] = settings.today.isoformat()  # the agents read their settings themselves
    import uvicorn

    app = _page(settings, listener.getsockname()[1], lambda: announce(address))
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


def listen(port: int | None) -> socket.socket:
    """A listening socket on this machine. Raises StorageError naming the port when it is taken."""
    try:
        return _bound(USUAL_PORT if port is None else port)
    except OSError as error:
        if port is None:
            return _bound(0)
        raise StorageError(
            f"Port {port} cannot be used: {error.strerror}.",
            "Choose another by --port, or leave it out for a free one.",
        ) from error


def _bound(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def _page(settings: Settings, port: int, ready: Callable[[], None]) -> Any:
    from google.adk.cli.fast_api import get_fast_api_app

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        ready()
        yield

    from .guard.door import Door

    app = get_fast_api_app(
        agents_dir=str(agents_folder()),
        session_service_uri=settings.sessions_uri,
        artifact_service_uri=settings.artifacts_uri,
        web=True,
        host=HOST,
        bind_host=HOST,
        port=port,
        lifespan=lifespan,
    )
    return Door(app)


def agents_folder() -> Path:
    """What to give to ADK: the folder of agents in the sources, or the agent alone where it is installed among
    packages that are no agents."""
    spec = find_spec("data_analyst")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("data_analyst")
    agent = Path(spec.origin).parent
    return agent if (agent.parent / "askhouse").exists() else agent.parent
