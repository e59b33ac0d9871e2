"""What tells apart the answers of one invocation: the call that asked for each."""

from __future__ import annotations

import re

from google.adk.agents.context import Context

ANALYZE = "analyze"


def item_of(call_id: str | None) -> str:
    """A function-call id as the name of an item of a state family; models make ids of any characters."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id or "")[:128] or "1"


def call_of(ctx: Context) -> str:
    """The call that a node or tool works for: the tool's own, or the one that runs the node's workflow."""
    at: Context | None = ctx
    while at is not None and not at.function_call_id:
        if at.node is not None and at.node.name == ANALYZE:
            return item_of(at.run_id)
        at = at.parent_ctx
    return item_of(at.function_call_id if at else None)


def words_of(ctx: Context, otherwise: str = "") -> str:
    """The person's own words of this turn."""
    content = ctx.user_content
    parts = (content.parts or []) if content else []
    return "".join(part.text for part in parts if part.text).strip() or otherwise
