"""What a chat is about: the tables that a request names, and what people wrote about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..warehouse.base import TableRef
from .agents import Agents
from .errors import ApiError, invalid
from .planner.context import AuthoredContext, Example, GlossaryTerm

_STAGING = 1
_PROVIDERS = (
    "Give exactly one of inlineContext, dataAgentContext, conversationReference and clientManagedResourceContext."
)


@dataclass(frozen=True)
class ChatContext:
    """The tables in question and their authored meaning. `max_billed_bytes` is None for no limit."""

    refs: tuple[TableRef, ...]
    authored: AuthoredContext
    max_billed_bytes: int | None = None

    def example_question(self, sql: str) -> str:
        """The question of the example whose query this is."""
        return next((example.question for example in self.authored.examples if example.sql == sql), "")


def context_of(request: Any, agents: Agents) -> ChatContext:
    """The context that a ChatRequest names. Raises INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, UNIMPLEMENTED."""
    provider = request.WhichOneof("context_provider")
    if provider is None:
        raise invalid(f"The request has no context. {_PROVIDERS}")
    if provider == "inline_context":
        return read_context(request.inline_context)
    if provider == "data_agent_context":
        return _agent_context(request.data_agent_context, agents)
    if provider == "client_managed_resource_context":
        return read_context(request.client_managed_resource_context.inline_context)
    return _agent_context(request.conversation_reference.data_agent_context, agents)


def read_context(context: Any) -> ChatContext:
    """The tables and the meaning in a `Context`. Raises INVALID_ARGUMENT when it names no BigQuery table."""
    references = context.datasource_references
    if references.WhichOneof("references") not in (None, "bq"):
        raise ApiError("UNIMPLEMENTED", "Only BigQuery tables are served here: use datasourceReferences.bq.")
    tables = references.bq.table_references
    if not tables:
        raise invalid("The context names no table: list them in datasourceReferences.bq.tableReferences.")
    refs = tuple(dict.fromkeys(_ref(table) for table in tables))
    limit = context.options.datasource
    billed = limit.big_query_max_billed_bytes.value if limit.HasField("big_query_max_billed_bytes") else None
    return ChatContext(refs, _authored(context), billed)


def _agent_context(reference: Any, agents: Agents) -> ChatContext:
    if not reference.data_agent:
        raise invalid("dataAgentContext.dataAgent is empty: write projects/P/locations/L/dataAgents/ID.")
    analytics = agents.live(reference.data_agent).data_analytics_agent
    version = "staging_context" if reference.context_version == _STAGING else "published_context"
    if not analytics.HasField(version):
        raise ApiError("FAILED_PRECONDITION", f"The data agent '{reference.data_agent}' has no {version}: give it one.")
    return read_context(getattr(analytics, version))


def _ref(table: Any) -> TableRef:
    ref = TableRef(table.project_id, table.dataset_id, table.table_id)
    if not (ref.project and ref.dataset and ref.table):
        raise invalid(f"The table reference '{ref}' needs a projectId, a datasetId and a tableId.")
    return ref


def _authored(context: Any) -> AuthoredContext:
    descriptions: dict[str, str] = {}
    synonyms: dict[str, tuple[str, ...]] = {}
    for table in context.datasource_references.bq.table_references:
        for key, item in _described(str(_ref(table)), table.schema):
            if item.description:
                descriptions[key] = item.description
            if item.synonyms:
                synonyms[key] = tuple(item.synonyms)
    return AuthoredContext(
        system_instruction=context.system_instruction,
        descriptions=descriptions,
        synonyms=synonyms,
        glossary=tuple(
            GlossaryTerm(term.display_name, term.description, tuple(term.labels)) for term in context.glossary_terms
        ),
        examples=tuple(
            Example(example.natural_language_question, example.sql_query) for example in context.example_queries
        ),
    )


def _described(key: str, schema: Any) -> Iterator[tuple[str, Any]]:
    yield key, schema
    for field in schema.fields:
        yield f"{key}.{field.name}", field
