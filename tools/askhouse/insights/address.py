"""Where the Conversational Analytics API is: its address and the project, from the settings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..emulator.names import LOCAL_LOCATION, LOCAL_PROJECT
from ..settings import Settings

_MULTI_REGIONS = ("us", "eu")


@dataclass(frozen=True)
class Address:
    """`url` begins with http:// (this machine, no credentials) or https://."""

    url: str
    project: str
    location: str

    @property
    def parent(self) -> str:
        """The resource under which agents and chats live."""
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def local(self) -> bool:
        """Whether the address needs neither TLS nor credentials."""
        return self.url.startswith("http://")

    @property
    def target(self) -> str:
        """The address as gRPC writes it."""
        host = self.url.split("://", 1)[1]
        return host if ":" in host else f"{host}:443"

    def agent_name(self, agent: str) -> str:
        """The resource name of a data agent that is given by its id or its name."""
        return agent if "/" in agent else f"{self.parent}/dataAgents/{agent}"


def google_url(location: str) -> str:
    """Google's address for a location."""
    if location == "global":
        return "https://geminidataanalytics.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"https://geminidataanalytics.{location}.rep.googleapis.com"
    return f"https://geminidataanalytics-{location}.googleapis.com"


async def address_of(settings: Settings) -> Address:
    """The address that the settings choose; starts the embedded services where they are it. Raises StorageError."""
    if settings.project is not None:
        url = settings.chat_endpoint or google_url(settings.location)
        return Address(url, settings.project, settings.location)
    if settings.chat_endpoint is not None:
        return Address(settings.chat_endpoint, LOCAL_PROJECT, LOCAL_LOCATION)
    return Address(await asyncio.to_thread(_embedded_url, settings), LOCAL_PROJECT, LOCAL_LOCATION)


def _embedded_url(settings: Settings) -> str:
    from ..emulator.local import embedded

    endpoints = embedded(settings)
    return endpoints.grpc if settings.transport == "grpc" else endpoints.rest
