"""Secrets that others repeat are made unreadable; other words stay as they are."""

from __future__ import annotations

import pytest

from askhouse.insights.refusals import translated
from askhouse.insights.stream import Failure
from askhouse.secrets import masked

SECRETS = (
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "ya29.a0AfH6SMBx-abc_DEF.123",
    "GOCSPX-abcdefghijklmnop",
    "sk-proj-abcdefghijklmnop1234",
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl",
    "1//0gabcdefghijklmnop",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "words", ["{}", "Bad token {}, try again", "GET https://h/v1?key={}&alt=sse", '{{"token": "{}"}}']
)
def test_known_forms_are_masked_wherever_they_stand(secret: str, words: str) -> None:
    said = masked(words.format(secret))
    assert secret not in said and secret[-8:] not in said and "…" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Authorization: Bearer abcdef123456.xyz was refused", "Authorization: Bearer … was refused"),
        ("API key=hunter2secret&x=1", "API key=…&x=1"),
        ("client_secret: 'topsecretvalue'", "client_secret: '…'"),
        ("postgresql://ana:pass:word@host/db", "postgresql://ana:…@host/db"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "…"),
    ],
)
def test_what_names_it_stays(text: str, said: str) -> None:
    assert masked(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "Not found: Table local:shop.orders was not found in location US.",
        "Unrecognized name: order_key at [1:8]",
        "Query exceeded limit for bytes billed: 1. 10485760 or higher required.",
        "The primary key is id, and the token count is 12.",
        "Unrecognized name: key = customer_id at [1:8]",
        "SELECT key, value FROM `p.d.t` WHERE key = 'a'",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("status", ["", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNAVAILABLE", "INTERNAL", "NOT_FOUND"])
def test_what_the_service_says_is_masked(status: str) -> None:
    error = translated(Failure(f"Request with key={SECRETS[0]} and Bearer {SECRETS[1]} failed", status))
    assert not any(secret in str(error) for secret in SECRETS)
