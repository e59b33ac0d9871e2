"""`adk web` on our agents, and a browser in front of it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

# The machine's address is all that a page may use: no updates, no safe browsing, no component downloads.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
START_SECONDS = 60.0
expect.set_options(timeout=60_000)  # milliseconds; a first question on a busy machine


@dataclass
class Served:
    """A running `adk web`."""

    address: str
    home: Path
    log: Path


@pytest.fixture
def served(home: Path, repo: Path, tmp_path: Path) -> Iterator[Served]:
    """`adk web agents` as `make chat` starts it, on a free port, with a home folder of its own."""
    with serving(repo, home, tmp_path, f"sqlite:///{home / 'sessions.db'}") as page:
        yield page


@contextmanager
def serving(repo: Path, home: Path, folder: Path, sessions: str) -> Iterator[Served]:
    """Start the server and wait until it answers; stop it at the end."""
    user_home = folder / "user"
    (user_home / ".adk").mkdir(parents=True, exist_ok=True)
    (user_home / ".adk" / "config.json").write_text('{"telemetry": false}')  # else a dialog covers the page
    port, log = _free_port(), folder / "adk-web.log"
    command = [
        str(Path(sys.executable).with_name("adk")), "web", "agents", "--host", "127.0.0.1", "--port", str(port),
        "--session_service_uri", sessions, "--artifact_service_uri", (home / "artifacts").as_uri(),
    ]  # fmt: skip
    environ = {**os.environ, "HOME": str(user_home), "ASKHOUSE_HOME": str(home)}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=repo, env=environ, stdout=output, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/list-apps", process, log)
            yield Served(address, home, log)
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture
def browser(chromium: str) -> Iterator[Browser]:
    """Debian's chromium, driven by playwright; nothing is downloaded.

    One a test: playwright keeps an event loop running in this thread, in which asynchronous tests could not run.
    """
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield program
        program.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window of a desktop's size."""
    window = browser.new_page(viewport={"width": 1360, "height": 1700})
    window.set_default_timeout(60_000)
    yield window
    window.close()


@pytest.fixture(scope="session")
def artifacts(repo: Path) -> Path:
    """Where screenshots are kept: `ASKHOUSE_ARTIFACTS`, or artifacts/ of the repository."""
    folder = Path(os.environ.get("TEST_ARTIFACTS") or repo / "artifacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"adk web did not start:\n{log.read_text()[-4_000:]}")
