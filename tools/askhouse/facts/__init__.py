"""Facts that follow from a result, and sentences made of them."""

from .compute import Fact, facts_of
from .narrate import summarize

__all__ = ["Fact", "facts_of", "summarize"]
