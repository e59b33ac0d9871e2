"""The chat page's server: its developer routes change no agent, and requests have bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from askhouse.guard.door import MAX_BODY
from askhouse.settings import Settings
from askhouse.web import _page, agents_folder

APP = "/dev/apps/data_analyst"
SESSIONS = "/apps/data_analyst/users/ana/sessions"


@pytest.fixture
async def page(home: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = _page(Settings(home=home), 8000, lambda: None)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{APP}/builder/save"), ("POST", f"{APP}/builder/cancel"), ("GET", f"{APP}/builder"),
        ("GET", f"{APP}/deploy/defaults"), ("POST", f"{APP}/deploy/cloud_run"), ("POST", f"{APP}/tests/rebuild"),
        ("POST", f"{APP}/eval-sets"), ("PUT", f"{APP}/tests/x"), ("DELETE", f"{APP}/eval_sets/x/evals/y"),
    ],
)  # fmt: skip
async def test_routes_that_change_agents_are_not_there(page: httpx.AsyncClient, method: str, path: str) -> None:
    before = {file for file in agents_folder().rglob("*") if "__pycache__" not in file.parts}
    files = {"files": ("data_analyst/root_agent.yaml", b"name: other")} if method == "POST" else None
    assert (await page.request(method, path, files=files)).status_code == 404
    assert {file for file in agents_folder().rglob("*") if "__pycache__" not in file.parts} == before


async def test_the_page_and_its_graph_are_there(page: httpx.AsyncClient) -> None:
    assert (await page.get("/list-apps")).json() == ["data_analyst"]
    assert (await page.get("/dev-ui/")).status_code == 200
    assert (await page.get(f"{APP}/build_graph")).status_code == 200


async def test_a_request_that_is_too_large_is_refused(page: httpx.AsyncClient) -> None:
    assert (await page.post(SESSIONS, json={"sessionId": "small"})).status_code == 200
    body = b'{"sessionId": "large", "x": "' + b"x" * MAX_BODY + b'"}'
    headers = {"Content-Type": "application/json"}
    assert (await page.post(SESSIONS, content=body, headers=headers)).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    assert (await page.post(SESSIONS, content=pieces(), headers=headers)).status_code == 413
    assert (await page.get(f"{SESSIONS}/large")).status_code == 404


async def test_an_artifact_may_be_larger(page: httpx.AsyncClient) -> None:
    await page.post(SESSIONS, json={"sessionId": "s"})
    artifact = {"filename": "notes.txt", "artifact": {"text": "x" * MAX_BODY}}
    saved = await page.post(f"{SESSIONS}/s/artifacts", json=artifact)
    assert saved.status_code == 200, saved.text
