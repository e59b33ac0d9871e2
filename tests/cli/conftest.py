"""How the command's tests run it: in a process of its own, as a person does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from askhouse.emulator.local import Emulator

Askhouse = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def askhouse(_own_home: None) -> Askhouse:
    """Run `askhouse …` to its end. Its environment is this test's."""

    def run(
        *arguments: str | Path, stdin: str | None = None, before: Sequence[str] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, sys.executable, "-m", "askhouse", *map(str, arguments)],
            env={**os.environ, **environment}, capture_output=True, text=True, timeout=120,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def service(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """Google's services on loopback, as a cloud project's endpoints."""
    from askhouse.emulator.local import Emulator
    from askhouse.settings import Settings

    folder = tmp_path_factory.mktemp("service") / "askhouse"
    shutil.copytree(sample_home, folder)
    with Emulator(Settings(home=folder), grpc_port=0, rest_port=0) as emulator:
        yield emulator


@pytest.fixture
def cloud(service: Emulator) -> dict[str, str]:
    """The environment in which Google's addresses are those of `service`."""
    return {"ASKHOUSE_CHAT_ENDPOINT": service.grpc, "ASKHOUSE_BIGQUERY_ENDPOINT": service.rest}
