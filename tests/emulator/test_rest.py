"""The REST door: raw bytes, Google's generated client, and errors in Google's shape."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from google.cloud import geminidataanalytics_v1 as api

from askhouse.emulator.local import Emulator

from .conftest import PARENT, kinds, request, rest_options, rows

TABLES = {"bq": {"tableReferences": [{"projectId": "local", "datasetId": "nycflights13", "tableId": "flights"}]}}
BODY: dict[str, Any] = {
    "messages": [{"userMessage": {"text": "How many flights by origin?"}}],
    "inlineContext": {"datasourceReferences": TABLES},
}


def _post(emulator: Emulator, body: Any, version: str = "v1") -> httpx.Response:
    return httpx.post(f"{emulator.rest}/{version}/{PARENT}:chat", json=body, trust_env=False, timeout=60)


@pytest.mark.parametrize("version", ["v1", "v1beta", "v1alpha"])
def test_the_bytes_have_the_recorded_layout(emulator: Emulator, version: str) -> None:
    response = _post(emulator, BODY, version)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    assert response.text.startswith('[{\n  "timestamp": ')
    assert response.text.endswith("}\n]")
    assert "\n}\n,\n{\n" in response.text
    messages = response.json()
    assert [kind for message in messages for kind in message["systemMessage"].get("data", {})][-1] == "result"


def test_googles_generated_client(emulator: Emulator) -> None:
    with api.DataChatServiceClient(**rest_options(emulator)) as client:
        messages = list(client.chat(request=request("How many flights by origin?")))
    assert "data.result" in kinds(messages)
    assert len(rows(messages)) == 3


def test_snake_case_and_unknown_fields(emulator: Emulator) -> None:
    body = {
        "messages": [{"user_message": {"text": "How many flights by origin?"}}],
        "inline_context": {
            "datasource_references": {
                "bq": {
                    "table_references": [{"project_id": "local", "dataset_id": "nycflights13", "table_id": "flights"}]
                }
            }
        },
        "clientIdEnum": "GOOGLE_ADK",
        "thinkingMode": 1,
    }
    assert _post(emulator, body).status_code == 200


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({**BODY, "dataAgentContext": {"dataAgent": f"{PARENT}/dataAgents/flights"}}, "context_provider"),
        ({"messages": BODY["messages"]}, "exactly one"),
        ({**BODY, "messages": []}, "userMessage"),
        ({**BODY, "messages": "no list"}, "Invalid JSON payload"),
        ([], "object"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(emulator: Emulator, body: Any, words: str) -> None:
    response = _post(emulator, body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert words in error["message"]


def test_errors_have_googles_shape_everywhere(emulator: Emulator) -> None:
    with httpx.Client(base_url=emulator.rest, trust_env=False) as client:
        missing = client.get(f"/v1/{PARENT}/dataAgents/none")
        nowhere = client.get("/v1/nowhere")
        broken = client.post(f"/v1/{PARENT}:chat", content=b"{", headers={"content-type": "application/json"})
    assert missing.status_code == 404
    assert missing.json()["error"]["status"] == "NOT_FOUND"
    assert nowhere.status_code == nowhere.json()["error"]["code"] == 404
    assert broken.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_an_agent_that_is_missing_is_refused_before_the_stream(emulator: Emulator) -> None:
    body = {"messages": BODY["messages"], "dataAgentContext": {"dataAgent": f"{PARENT}/dataAgents/none"}}
    response = _post(emulator, body)
    assert (response.status_code, response.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_it_answers_this_machine_only(emulator: Emulator) -> None:
    """A page that was made to resolve to this machine gets nothing."""
    assert httpx.get(f"{emulator.rest}/healthz", trust_env=False).json() == {"status": "ok"}
    other = httpx.get(f"{emulator.rest}/healthz", trust_env=False, headers={"host": "evil.example.com"})
    assert other.status_code == 400


def test_pages_of_other_sites_are_refused(emulator: Emulator) -> None:
    for origin, status in (("https://evil.example.com", 403), ("null", 403), ("http://127.0.0.1:8000", 200)):
        response = httpx.get(
            f"{emulator.rest}/v1/{PARENT}/dataAgents/flights", trust_env=False, headers={"origin": origin}
        )
        assert response.status_code == status


def test_the_body_is_json_whatever_the_words(emulator: Emulator) -> None:
    asked = {**BODY, "messages": [{"userMessage": {"text": 'Was heißt "}{" \\ auf 日本語?'}}]}
    assert isinstance(json.loads(_post(emulator, asked).content), list)
