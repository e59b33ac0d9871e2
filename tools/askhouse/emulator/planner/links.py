"""How tables point at each other: declared foreign keys, and those that names and values tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from .profile import Asked, batches, table_node

if TYPE_CHECKING:
    from .semantics import Entity, Field, Link

LEAST_MATCH = 0.5
"""A guessed link of which fewer values are found is dropped."""


def links_of(warehouse: Asked, entities: Mapping[str, Entity]) -> tuple[Link, ...]:
    """Declared links, then guessed ones whose values bear them out."""
    declared = list(_declared(entities))
    taken = {(link.child, link.column) for link in declared}
    guessed = [link for link in _guessed(entities) if (link.child, link.column) not in taken]
    return tuple(declared + _borne_out(warehouse, entities, guessed))


def _declared(entities: Mapping[str, Entity]) -> list[Link]:
    from .semantics import Link

    found = []
    for entity in entities.values():
        for key in entity.table.foreign_keys:
            target = str(key.target)
            if len(key.columns) == 1 and target in entities:
                found.append(Link(entity.key, key.columns[0], target, key.target_columns[0]))
    return found


def _guessed(entities: Mapping[str, Entity]) -> list[Link]:
    from .semantics import Link

    found = []
    for child in entities.values():
        for one in child.fields.values():
            if one.type not in ("INT64", "STRING"):
                continue
            candidates = [
                (score, parent, key)
                for parent in entities.values()
                if parent is not child
                for key in _unique_fields(parent)
                if key.type == one.type and (score := _likeness(child, one, parent, key)) > 0
            ]
            if candidates:
                best = max(candidates, key=lambda found: found[0])
                if one.role == "key" and list(child.fields).index(one.ref.column) == 0 and best[0] < 3:
                    continue
                found.append(Link(child.key, one.ref.column, best[1].key, best[2].ref.column, declared=False))
    return found


def _unique_fields(parent: Entity) -> list[Field]:
    rows = parent.rows or max((one.stats.rows for one in parent.fields.values()), default=0)
    return [
        one
        for one in parent.fields.values()
        if rows > 0 and one.stats.distinct == rows and not one.stats.nulls and one.type in ("INT64", "STRING")
    ]


def _likeness(child: Entity, one: Field, parent: Entity, key: Field) -> float:
    own, wanted = one.names[0].forms, key.names[0].forms
    words, key_words = list(one.words), list(key.words)
    if words[-1] == key_words[-1] == "id" and len(words) > 1 and _names(own[:-1], parent):
        return 4 + (key.role == "key")
    alike = len(own) == len(wanted) and all(first & second for first, second in zip(own, wanted, strict=True))
    if alike and words not in (["id"], ["name"], ["title"]) and key.ref.column in parent.identifier:
        return 3 if one.role != "key" else 1
    if alike and words[-1] == "id" and len(words) > 1:
        return 2
    if (
        one.role == "text"
        and key.ref.column in parent.identifier
        and any(_names(name.forms, parent) for name in one.names)
    ):
        return 1.5
    return 0


def _names(forms: Sequence[frozenset[str]], parent: Entity) -> bool:
    """Whether the words are the parent's own name ("carrier", "cust" for customer)."""
    return any(
        len(name.forms) == len(forms) and all(first & second for first, second in zip(forms, name.forms, strict=True))
        for name in parent.names
    )


def _borne_out(warehouse: Asked, entities: Mapping[str, Entity], guessed: list[Link]) -> list[Link]:
    from .semantics import Link

    by_child: dict[str, list[Link]] = defaultdict(list)
    for link in guessed:
        by_child[link.child].append(link)
    kept = []
    for links in (some for found in by_child.values() for some in batches(found)):
        shares = warehouse.query(_containment(links[0].child, links)).rows[0]
        for link, share in zip(links, shares, strict=True):
            if share is not None and float(share) >= LEAST_MATCH:
                kept.append(Link(link.child, link.column, link.parent, link.parent_column, False, float(share)))
    return kept


def _containment(child: str, links: Sequence[Link]) -> str:
    shares = []
    for position, link in enumerate(links):
        values = exp.select(exp.alias_(exp.column(link.column, quoted=True), "v")).distinct().from_(table_node(child))
        values = values.where(exp.Not(this=exp.Is(this=exp.column(link.column, quoted=True), expression=exp.null())))
        parents = exp.select(exp.column(link.parent_column, quoted=True)).from_(table_node(link.parent))
        found = exp.CountIf(this=exp.In(this=exp.column("v"), query=exp.Subquery(this=parents)))
        share = exp.Div(
            this=found, expression=exp.Nullif(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
        )
        select = exp.select(exp.alias_(share, "s")).from_(values.subquery(f"c{position}"))
        shares.append(exp.alias_(exp.Subquery(this=select), f"s{position}"))
    return exp.select(*shares).sql(dialect="bigquery")
