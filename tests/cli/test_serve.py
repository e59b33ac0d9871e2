"""`askhouse serve`: Google's own clients, in another process, are answered until Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the line by which it says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "askhouse", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, line
    finally:
        process.kill()
        process.communicate()


def test_one_line_tells_both_addresses(home: Path) -> None:
    with running("serve") as (_, line):
        rest, grpc = re.findall(r"http://127\.0\.0\.1:\d+", line)
        assert urllib.request.urlopen(f"{rest}/healthz").status == 200
        assert [agent["name"].rsplit("/", 1)[-1] for agent in agents_over_grpc(grpc)] == ["flights", "thelook"]


def agents_over_grpc(address: str) -> list[dict[str, str]]:
    import grpc
    from google.cloud import geminidataanalytics_v1 as api
    from google.cloud.geminidataanalytics_v1.services.data_agent_service import transports

    with grpc.insecure_channel(address.removeprefix("http://")) as channel:
        client = api.DataAgentServiceClient(transport=transports.DataAgentServiceGrpcTransport(channel=channel))
        listed = client.list_data_agents(parent="projects/local/locations/global")
        return sorted((api.DataAgent.to_dict(agent) for agent in listed), key=lambda agent: str(agent["name"]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly(home: Path, number: signal.Signals) -> None:
    with running("serve") as (process, _):
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "", "")


def test_chat_serves_the_page_with_our_app_alone(home: Path) -> None:
    with running("chat", "--port", "0") as (process, line):
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+", line)
        assert "Ready" in line
        assert json.load(urllib.request.urlopen(f"{address}/list-apps")) == ["data_analyst"]
        assert b"<html" in urllib.request.urlopen(f"{address}/dev-ui/").read().lower()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Traceback" not in err


def test_chat_keeps_conversations_where_every_door_finds_them(home: Path) -> None:
    with running("chat", "--port", "0") as (_, line):
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+", line)
        request = urllib.request.Request(f"{address}/apps/data_analyst/users/user/sessions", data=b"{}", method="POST")
        request.add_header("Content-Type", "application/json")
        assert json.load(urllib.request.urlopen(request))["id"]
    assert (home / "sessions.db").exists()
    assert not list(Path.cwd().rglob(".adk"))
