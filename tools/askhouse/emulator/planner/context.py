"""What people wrote about their tables, as the Conversational Analytics API's `Context` carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GlossaryTerm:
    """A word of the business, what it means, and other words for it.

    A description of the form "sum of sale_price" or "status = 'Complete'" is understood by rule.
    """

    term: str
    description: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """A question with the SQL that answers it; a question of the same words gets this SQL."""

    question: str
    sql: str


@dataclass(frozen=True)
class AuthoredContext:
    """Authored meaning. Keys are `project.dataset.table` or `project.dataset.table.column`."""

    system_instruction: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    glossary: tuple[GlossaryTerm, ...] = ()
    examples: tuple[Example, ...] = ()

    def token(self) -> str:
        """Changes whenever the context does."""
        return repr((sorted(self.descriptions.items()), sorted(self.synonyms.items()), self.glossary, self.examples))
