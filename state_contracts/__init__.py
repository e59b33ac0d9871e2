"""What the agents leave for each other: every state key, declared once, written and read only through here.

Depends on pydantic and nothing else, so that it can ship with any agent.
"""

from .answer import (
    Answer,
    AnswerError,
    Block,
    ChartBlock,
    Citation,
    Column,
    Cost,
    Job,
    NoticeBlock,
    Outcome,
    Result,
    SqlOrigin,
    TableBlock,
    TextBlock,
)
from .app_config import AppConfig
from .chart import Chart, ChartKind, LastChart
from .check import Contract, Violation, check_delta
from .conversation import Conversation, LastResult, Message, Offered, ServiceConversation, Turn
from .declared import (
    ANSWER,
    CHART,
    CONFIG,
    CONTRACTS,
    CONVERSATION,
    DATA_AGENT,
    LAST_CHART,
    LAST_RESULT,
    MESSAGE,
    OFFERED,
    PREFERENCES,
    PROFILE,
    SERVICE_CONVERSATION,
    SUMMARY,
    contract_of,
)
from .errors import ContractError, ContractKeyError, ContractValueError, ContractVersionError
from .keys import Scope, StateFamily, StateKey
from .preferences import Preferences
from .profile import AnalystProfile
from .saved_agent import SavedAgent
from .summary import Claim, ClaimKind, Summary

__all__ = [
    "ANSWER",
    "AnalystProfile",
    "Answer",
    "AnswerError",
    "AppConfig",
    "Block",
    "CHART",
    "CONFIG",
    "CONTRACTS",
    "CONVERSATION",
    "Chart",
    "ChartBlock",
    "ChartKind",
    "Citation",
    "Claim",
    "ClaimKind",
    "Column",
    "Contract",
    "ContractError",
    "ContractKeyError",
    "ContractValueError",
    "ContractVersionError",
    "Conversation",
    "Cost",
    "DATA_AGENT",
    "Job",
    "LAST_CHART",
    "LAST_RESULT",
    "LastChart",
    "LastResult",
    "MESSAGE",
    "Message",
    "NoticeBlock",
    "OFFERED",
    "Offered",
    "Outcome",
    "PREFERENCES",
    "PROFILE",
    "Preferences",
    "Result",
    "SERVICE_CONVERSATION",
    "SUMMARY",
    "SavedAgent",
    "Scope",
    "ServiceConversation",
    "SqlOrigin",
    "StateFamily",
    "StateKey",
    "Summary",
    "TableBlock",
    "TextBlock",
    "Turn",
    "Violation",
    "check_delta",
    "contract_of",
]
