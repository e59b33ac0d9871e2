"""Loaded by ADK before any agent: sessions are kept by services that check what comes from outside a run."""

from askhouse.guard.sessions import register_session_services

register_session_services()
