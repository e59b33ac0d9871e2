"""Starting and stopping, alone and in the process; two processes on one data folder."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from askhouse.emulator.local import Emulator, embedded, stop_embedded
from askhouse.errors import StorageError
from askhouse.insights.client import InsightsClient, Question, TablesContext
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from state_contracts import Answer

TABLES = TablesContext((TableRef("local", "nycflights13", "flights"),))
QUESTION = Question("How many flights by origin?", TABLES)


async def _ask(settings: Settings) -> Answer:
    parts = [part async for part in InsightsClient(settings).ask(QUESTION)]
    assert isinstance(parts[-1], Answer)
    return parts[-1]


def test_it_starts_once_and_is_shared(home: Path) -> None:
    settings = Settings(home=home)
    try:
        first, second = embedded(settings), embedded(settings)
        assert (first.grpc, first.rest) == (second.grpc, second.rest)
        assert embedded(Settings(home=home, time_zone="Asia/Tokyo")).grpc != first.grpc
        for _ in range(3):  # a new event loop each time
            answer = asyncio.run(_ask(settings))
            assert (answer.outcome, answer.complete, answer.results[0].row_count) == ("answered", True, 3)
        assert sum(answer.results[0].column(answer.results[0].columns[-1].name)) > 300_000
    finally:
        stop_embedded()


@pytest.mark.parametrize("door", ["grpc_port", "rest_port"])
def test_a_busy_port_is_said(home: Path, door: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StorageError, match=f"Port {port}"):
            Emulator(Settings(home=home), **{door: port}).start()


def test_two_emulators_do_not_share_a_port(home: Path) -> None:
    with Emulator(Settings(home=home)) as first:
        port = int(first.grpc.rsplit(":", 1)[1])
        with pytest.raises(StorageError, match=f"Port {port}"):
            Emulator(Settings(home=home), grpc_port=port).start()


def test_chosen_ports_are_taken(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
    with Emulator(Settings(home=home), grpc_port=ports[0], rest_port=ports[1]) as running:
        assert (running.grpc, running.rest) == tuple(f"http://127.0.0.1:{port}" for port in ports)


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match="ASKHOUSE_HOME"):
        Emulator(Settings(home=tmp_path / "file" / "home")).start()


PROCESS = """
import asyncio, sys, warnings
from pathlib import Path
from askhouse.emulator.local import embedded
from askhouse.insights.client import InsightsClient, Question, TablesContext
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef

async def main(transport):
    settings = Settings(home=Path(sys.argv[1]), transport=transport)
    tables = TablesContext((TableRef("local", "nycflights13", "flights"),))
    for _ in range(5):
        question = Question("How many flights by origin?", tables)
        *_, answer = [part async for part in InsightsClient(settings).ask(question)]
        assert answer.outcome == "answered", answer
    print(answer.results[0].row_count, [name for name in ("pandas", "google.cloud.bigquery") if name in sys.modules])

for transport in ("grpc", "rest"):
    asyncio.run(main(transport))
"""


async def test_two_processes_on_one_folder_end_without_a_word(home: Path) -> None:
    """Both answer; nothing is written to stderr, not even at exit; pandas is never imported."""
    command = [sys.executable, "-W", "error", "-c", PROCESS, str(home)]
    pipe = asyncio.subprocess.PIPE
    running = [await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe) for _ in range(2)]
    outputs = await asyncio.gather(*(process.communicate() for process in running))
    assert outputs == [(b"3 []\n3 []\n", b"")] * 2
    assert [process.returncode for process in running] == [0, 0]
