"""Every key that an agent of this application reads or writes."""

from typing import Any

from .answer import Answer
from .app_config import AppConfig
from .chart import Chart, LastChart
from .check import Contract
from .conversation import MAX_BYTES, Conversation, LastResult, Message, Offered, ServiceConversation
from .keys import StateFamily, StateKey
from .preferences import Preferences
from .profile import AnalystProfile
from .saved_agent import SavedAgent
from .summary import Summary

ANSWER = StateFamily(
    name="answer", item="call", scope="temp", holds=Answer,
    writers=("data_agent", "describe_data", "ask_data_insights", "ask_data_agent", "root"),
    readers=("summarizer", "chart_agent", "finish"),
    purpose="The answer to one question: ordered blocks, typed results, SQL with its origin.",
)  # fmt: skip
SUMMARY = StateFamily(
    name="summary", item="call", scope="temp", holds=Summary,
    writers=("summarizer",), readers=("finish",),
    purpose="The summary with its claims and the rows they come from.",
)  # fmt: skip
CHART = StateFamily(
    name="chart", item="call", scope="temp", holds=Chart,
    writers=("chart_agent",), readers=("finish", "root"),
    purpose="The chart's specification and picture.",
)  # fmt: skip
MESSAGE = StateFamily(
    name="message", item="call", scope="temp", holds=Message,
    writers=("finish", "describe_data", "root"), readers=("root",),
    purpose="The message that the person reads.",
)  # fmt: skip
CONVERSATION = StateKey(
    name="conversation", scope="session", holds=Conversation, max_bytes=MAX_BYTES,
    writers=("data_agent",), readers=("root", "data_agent"),
    purpose="The turns that a stateless service is sent again, so that it can follow up.",
)  # fmt: skip
SERVICE_CONVERSATION = StateKey(
    name="service_conversation", scope="session", holds=ServiceConversation, max_bytes=2_048,
    writers=("data_agent",), readers=("data_agent", "operator"),
    purpose="The conversation that the service remembers for this session, continued and deleted with it.",
)  # fmt: skip
OFFERED = StateKey(
    name="offered", scope="session", holds=Offered,
    writers=("data_agent", "describe_data"), readers=("root", "data_agent"),
    purpose="The numbered questions that were last shown, so that a number asks one.",
)  # fmt: skip
LAST_RESULT = StateKey(
    name="last_result", scope="session", holds=LastResult, max_bytes=16_384,
    writers=("data_agent",), readers=("root", "data_agent", "chart_agent"),
    purpose="Where the last answer's rows can be read again.",
)  # fmt: skip
LAST_CHART = StateKey(
    name="last_chart", scope="session", holds=LastChart, max_bytes=16_384,
    writers=("finish",), readers=("root", "chart_agent"),
    purpose="The last chart without its data.",
)  # fmt: skip
DATA_AGENT = StateFamily(
    name="data_agent", item="slug", scope="user", holds=SavedAgent,
    writers=("save_data_agent", "forget_data_agent"), readers=("root", "data_agent"),
    purpose="A data agent that the person saved, one key each so that two saves cannot lose one another.",
)  # fmt: skip
PREFERENCES = StateKey(
    name="preferences", scope="user", holds=Preferences,
    writers=("set_preference",), readers=("root", "data_agent", "summarizer", "chart_agent", "finish"),
    purpose="How the person likes answers.",
)  # fmt: skip
PROFILE = StateKey(
    name="profile", scope="user", holds=AnalystProfile,
    writers=("load_profile",), readers=("root", "data_agent"),
    purpose="What Memory Bank knows of the person, cached.",
)  # fmt: skip
CONFIG = StateKey(
    name="config", scope="app", holds=AppConfig, max_bytes=65_536,
    writers=("operator",), readers=("root", "data_agent"),
    purpose="What an operator shares with everybody.",
)  # fmt: skip

CONTRACTS: tuple[Contract, ...] = (
    ANSWER, SUMMARY, CHART, MESSAGE, CONVERSATION, SERVICE_CONVERSATION, OFFERED, LAST_RESULT, LAST_CHART,
    DATA_AGENT, PREFERENCES, PROFILE, CONFIG,
)  # fmt: skip


def contract_of(key: str) -> StateKey[Any] | StateFamily[Any] | None:
    """The declaration that `key` belongs to, or None."""
    return next((contract for contract in CONTRACTS if contract.matches(key)), None)
