"""Session stores of every kind, PostgreSQL included: a throwaway cluster of this machine's own server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from google.adk.sessions.base_session_service import BaseSessionService

from askhouse.guard.sessions import guarded_session_service

STORES = ("memory", "sqlite", "database", "postgres")


def _postgres_program(name: str) -> str | None:
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    return str(versions[-1]) if versions else shutil.which(name)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running PostgreSQL, as `postgresql+asyncpg://…` without a database name."""
    initdb, pg_ctl = _postgres_program("initdb"), _postgres_program("pg_ctl")
    if not (initdb and pg_ctl):
        message = "needs PostgreSQL (Debian: apt-get install postgresql)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    folder = Path(tmp_path_factory.mktemp("postgres"))
    as_postgres: list[str] = []
    if os.getuid() == 0:  # the server refuses to run as root
        as_postgres = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
        for parent in list(folder.parents)[:2]:
            parent.chmod(0o755)
    data = folder / "data"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*command: str) -> None:
        done = subprocess.run([*as_postgres, *command], capture_output=True, text=True, check=False, cwd="/")
        assert done.returncode == 0, done.stderr + done.stdout

    run(str(initdb), "-D", str(data), "-A", "trust", "-U", "askhouse", "-E", "UTF8", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    run(str(pg_ctl), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql+asyncpg://askhouse@127.0.0.1:{port}"
    finally:
        run(str(pg_ctl), "-D", str(data), "-m", "immediate", "stop")


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A database of this test's own."""
    name = f"test_{uuid.uuid4().hex}"
    port = postgres_server.rpartition(":")[2]
    createdb = _postgres_program("createdb")
    subprocess.run([str(createdb), "-h", "127.0.0.1", "-p", port, "-U", "askhouse", name], check=True)
    return f"{postgres_server}/{name}"


@pytest.fixture(params=STORES)
def store_uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, as the flag of `adk web` names it."""
    return {
        "memory": lambda: "memory://",
        "sqlite": lambda: f"sqlite:///{tmp_path / 'sessions.db'}",
        "database": lambda: f"sqlite+aiosqlite:///{tmp_path / 'database.db'}",
        "postgres": lambda: request.getfixturevalue("postgres_url"),
    }[request.param]()


@pytest.fixture
async def sessions(store_uri: str) -> AsyncIterator[BaseSessionService]:
    """A guarded session service on each store."""
    service = guarded_session_service(store_uri)
    yield service
    if hasattr(service, "db_engine"):
        await service.db_engine.dispose()
