"""The address follows from the location, and nothing around decides it."""

from __future__ import annotations

import pytest

from askhouse.insights.address import address_of, google_url
from askhouse.settings import Settings


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("global", "https://geminidataanalytics.googleapis.com"),
        ("eu", "https://geminidataanalytics.eu.rep.googleapis.com"),
        ("us-central1", "https://geminidataanalytics-us-central1.googleapis.com"),
    ],
)
async def test_google(location: str, url: str) -> None:
    assert google_url(location) == url
    address = await address_of(Settings(project="example-project", location=location))
    assert (address.url, address.local) == (url, False)
    assert address.target == f"{url.removeprefix('https://')}:443"


async def test_a_given_address_is_taken() -> None:
    address = await address_of(Settings(chat_endpoint="http://127.0.0.1:8931"))
    assert (address.target, address.local) == ("127.0.0.1:8931", True)
    assert address.agent_name("flights") == "projects/local/locations/global/dataAgents/flights"
