"""The steps of an application in their order, read from its agents, for the static check of the contracts."""

from __future__ import annotations

from google.adk.apps.app import App

from state_contracts.flow import Edge

from .plugin import ROOT

START = "__START__"


def edges_of(app: App) -> list[Edge]:
    """Which step follows which within one invocation.

    The root comes first and last: it calls its tools, and it speaks after them. A workflow among the tools is taken
    apart into its nodes.
    """
    edges: list[Edge] = []
    for tool in getattr(app.root_agent, "tools", []):
        name = str(getattr(tool, "name", None) or getattr(tool, "__name__", "tool"))
        graph = getattr(getattr(tool, "node", None), "graph", None)
        if graph is None:
            edges += [(ROOT, name), (name, ROOT)]
        else:
            edges += _inside(name, [(edge.from_node.name, edge.to_node.name) for edge in graph.edges])
    return edges


def drawn(edges: list[Edge]) -> str:
    """The graph in Mermaid, as GitHub and `adk web` draw it."""
    lines = [f"    {before} --> {after}" for before, after in edges]
    return "\n".join(["flowchart TD", *lines])


def _inside(workflow: str, steps: list[Edge]) -> list[Edge]:
    ends = {after for _, after in steps} - {before for before, _ in steps}
    inner = [(workflow if before == START else before, after) for before, after in steps]
    return [(ROOT, workflow), *inner, *((end, ROOT) for end in sorted(ends))]
