"""From a question in plain words to a plan and GoogleSQL, by rule; what is not understood is refused in words."""

from .clock import Clock
from .context import AuthoredContext, Example, GlossaryTerm
from .plan import Plan
from .planner import Planner
from .readings import Clarification, PastTurn, Planned, Reading, Refusal, RefusalReason
from .semantics import SemanticLayer, build_layer

__all__ = [
    "AuthoredContext",
    "Clarification",
    "Clock",
    "Example",
    "GlossaryTerm",
    "PastTurn",
    "Plan",
    "Planned",
    "Planner",
    "Reading",
    "Refusal",
    "RefusalReason",
    "SemanticLayer",
    "build_layer",
]
