"""Ways along the foreign keys: upwards, from a row to the rows that it points at, no row is counted twice."""

from __future__ import annotations

from collections.abc import Iterable

from .semantics import Link, SemanticLayer

Path = tuple[Link, ...]
_MOST_HOPS = 4


def paths_up(layer: SemanticLayer, start: str, goal: str, via: str = "") -> list[Path]:
    """The shortest ways from `start` up to `goal`, each a row of links; [()] when they are the same table.

    `via` keeps the ways whose last link leaves by that column.
    """
    if start == goal:
        return [()]
    frontier: list[Path] = [()]
    for _ in range(_MOST_HOPS):
        longer = [
            (*path, link)
            for path in frontier
            for link in layer.up.get(path[-1].parent if path else start, ())
            if link.parent != start and all(link.parent != done.parent for done in path)
        ]
        found = [path for path in longer if path[-1].parent == goal and (not via or path[-1].column == via)]
        if found:
            return found
        frontier = longer
    return []


def distance(layer: SemanticLayer, start: str, goal: str) -> int | None:
    """Links between the tables on the shortest way up, or None."""
    found = paths_up(layer, start, goal)
    return len(found[0]) if found else None


def base_for(layer: SemanticLayer, home: str, others: Iterable[str]) -> str | None:
    """The table, nearest to `home`, from which `home` and all the others can be reached upwards."""
    wanted = set(others)
    best: tuple[int, int, str] | None = None
    for order, start in enumerate(layer.entities):
        steps = [distance(layer, start, goal) for goal in (home, *wanted)]
        known = [step for step in steps if step is not None]
        if len(known) == len(steps) and (best is None or (sum(known), order) < best[:2]):
            best = (sum(known), order, start)
    if distance_all(layer, home, wanted):
        return home
    return best[2] if best else None


def distance_all(layer: SemanticLayer, start: str, goals: Iterable[str]) -> bool:
    """Whether every goal can be reached upwards."""
    return all(distance(layer, start, goal) is not None for goal in goals)


def children_of(layer: SemanticLayer, parent: str) -> list[str]:
    """Tables from which `parent` is reached upwards, the nearest first."""
    found = [(step, key) for key in layer.entities if (step := distance(layer, key, parent))]
    return [key for _, key in sorted(found)]


def unconnected(layer: SemanticLayer, first: str, second: str) -> str:
    """Why two tables cannot be brought together, in a sentence that names a key of several columns where one is."""
    names = [layer.entities[key].said for key in (first, second)]
    for entity in layer.entities.values():
        for key in entity.table.foreign_keys:
            ends = {entity.key, str(key.target)}
            if len(key.columns) > 1 and str(key.target) in layer.entities and ends & {first, second}:
                columns = " and ".join(key.columns)
                other = layer.entities[str(key.target)].said
                through = (
                    f"{entity.said} point at {other} by more than one column ({columns}), which I cannot follow yet"
                )
                return f"{through}, so I cannot bring {names[0]} and {names[1]} together."
    return f"{names[0]} and {names[1]} are not connected by any key, so I cannot bring them together."
