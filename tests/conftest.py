"""What every test stands on: a home of its own, no setting from outside, no network but this machine's loopback."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import settings as hypothesis_settings

_OUTSIDE = ("ASKHOUSE_", "GOOGLE_", "GEMINI_", "GCLOUD_", "CLOUDSDK_", "BIGQUERY_", "XDG_")


class ForbiddenAddressError(AssertionError):
    """A test reached for another machine."""


def _loopback_only(event: str, args: tuple[Any, ...]) -> None:
    """Audit hook. It sees Python's sockets; those of gRPC's own C core it does not."""
    if event == "socket.connect":
        address = args[1]
    elif event == "socket.getaddrinfo":
        address = args[:2]
    else:
        return
    if isinstance(address, tuple) and not _is_loopback(address[0]):
        raise ForbiddenAddressError(f"{event} to {address[0]}: tests talk to this machine only")


def _is_loopback(host: str | bytes | None) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback or ipaddress.ip_address(str(name)).is_unspecified
    except ValueError:
        return False


sys.addaudithook(_loopback_only)

# Examples are drawn anew on a developer's machine; in CI they are the same each time, so that a run can be repeated.
hypothesis_settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis_settings.register_profile("dev", deadline=None)
hypothesis_settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Nothing of the person's environment reaches a test, not even one that a session's fixture starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_OUTSIDE)]:
            patch.delenv(name)
        patch.setenv("NO_GCE_CHECK", "true")  # google.auth would look for a metadata server
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "100")
        yield


@pytest.fixture(autouse=True)
def _own_home(_no_settings_from_outside: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of this test alone. The working folder too: a `.env` is searched upwards from it."""
    for name, folder in (("HOME", "user"), ("XDG_DATA_HOME", "user/share"), ("XDG_CONFIG_HOME", "user/config")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("ASKHOUSE_HOME", str(tmp_path / "askhouse"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def sample_home(_no_settings_from_outside: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the sample warehouse, built once a run. Shared: read it, never write to it."""
    from askhouse.warehouse.duckdb import open_warehouse

    folder = tmp_path_factory.mktemp("sample") / "askhouse"
    open_warehouse(folder)
    return folder


@pytest.fixture
def home(sample_home: Path, tmp_path: Path) -> Path:
    """This test's ASKHOUSE_HOME, with the sample already built (linked, not copied)."""
    folder = tmp_path / "askhouse"
    shutil.copytree(sample_home, folder, copy_function=_link, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program. Without one the test skips, but not in CI, which installs it."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or _missing("a browser (Debian: apt-get install chromium)")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a running PostgreSQL, as `postgresql+asyncpg://…` without a database name."""
    initdb, pg_ctl = _postgres_program("initdb"), _postgres_program("pg_ctl")
    if not (initdb and pg_ctl):
        _missing("PostgreSQL (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="askhouse-postgres-"))  # pytest's own folders are closed to other users
    as_postgres: list[str] = []
    if os.getuid() == 0:  # the server refuses to run as root
        as_postgres = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
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
        shutil.rmtree(folder)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A database of this test's own."""
    name = f"test_{uuid.uuid4().hex}"
    port = postgres_server.rpartition(":")[2]
    createdb = _postgres_program("createdb")
    subprocess.run([str(createdb), "-h", "127.0.0.1", "-p", port, "-U", "askhouse", name], check=True)
    return f"{postgres_server}/{name}"


def _postgres_program(name: str) -> str | None:
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    return str(versions[-1]) if versions else shutil.which(name)


def _missing(part: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{part} is missing; .ci/run installs it")
    pytest.skip(f"needs {part}")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
