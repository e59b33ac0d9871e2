"""The application that ADK loads: `adk web agents`, `adk run agents/data_analyst`, or a deployed image."""

from __future__ import annotations

from google.adk.apps.app import App

from askhouse.guard.plugin import ContractsGuard
from askhouse.guard.serial import OneTurnAtATime
from askhouse.settings import Settings, load_settings

from .root import NAME, build_root


def build_app(settings: Settings) -> App:
    """The application for these settings. Agents have one parent, so each application has agents of its own."""
    guard = ContractsGuard(strict=settings.contracts == "strict")
    return App(name=NAME, root_agent=build_root(settings), plugins=[OneTurnAtATime(), guard])


app = build_app(load_settings().settings)
root_agent = app.root_agent
