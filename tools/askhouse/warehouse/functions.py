"""Which functions a query may call, and what they become: nothing passes through to DuckDB by its own name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..errors import InvalidQueryError
from .guard import nearest
from .kinds import NUMBERS, Kind, Value, array_of, cast_to, common_kind, fits, no_signature

_LINE = re.compile(r"(\w+)\((.*?)\) (\S+) = (.*)")
_VARIABLES = ("N", "T")


@dataclass(frozen=True)
class Signature:
    """One form of a function."""

    parameters: tuple[Kind, ...]
    result: Kind
    template: str


@cache
def signatures() -> dict[str, list[Signature]]:
    """The forms of each function of the table, by name."""
    table: dict[str, list[Signature]] = {}
    for line in files(__package__).joinpath("data/functions.txt").read_text("utf-8").splitlines():
        if not line or line.startswith(("#", "!")):
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        name, parameters, result, template = match.groups()
        kinds = tuple(_kind(part) for part in parameters.split(", ") if part)
        table.setdefault(name, []).append(Signature(kinds, _kind(result), template))
    return table


@cache
def unsupported() -> frozenset[str]:
    """Functions that BigQuery has and this warehouse has not."""
    lines = files(__package__).joinpath("data/functions.txt").read_text("utf-8").splitlines()
    return frozenset(name for line in lines if line.startswith("! ") for name in line.split()[1:])


def _kind(written: str) -> Kind:
    inner = re.fullmatch(r"ARRAY<(\w+)>", written)
    return array_of(Kind(inner.group(1))) if inner else Kind(written)


def call(name: str, arguments: Sequence[Value]) -> Value:
    """A call of a function of the table. Raises InvalidQueryError when it has no such form."""
    forms = [form for form in signatures()[name] if len(form.parameters) == len(arguments)]
    for form in sorted(forms, key=lambda form: -_exact(form, arguments)):
        variable = _variable(form, arguments)
        kinds = [_bound(parameter, variable) for parameter in form.parameters]
        if None not in kinds and all(fits(a, k) for a, k in zip(arguments, kinds, strict=True) if k):
            cast = [cast_to(a, k) for a, k in zip(arguments, kinds, strict=True) if k]
            result = _bound(form.result, variable)
            assert result is not None
            return Value(form.template.format(*(value.sql for value in cast)), result)
    if not forms:
        counts = sorted({len(form.parameters) for form in signatures()[name]})
        wanted = " or ".join(map(str, counts))
        raise InvalidQueryError(f"Number of arguments does not match for function {name}: it takes {wanted}.")
    raise no_signature(f"function {name}", arguments)


def _exact(form: Signature, arguments: Sequence[Value]) -> int:
    """How many arguments have the very type that the form takes: the best form is tried first."""
    return sum(p == a.kind for p, a in zip(form.parameters, arguments, strict=True))


def _variable(form: Signature, arguments: Sequence[Value]) -> Kind | None:
    """What N or T stands for in this call, if the form has one and the arguments agree."""
    pairs = list(zip(form.parameters, arguments, strict=True))
    bare = [argument for parameter, argument in pairs if parameter.name in _VARIABLES]
    inner = [
        argument.kind.element
        for parameter, argument in pairs
        if parameter.element is not None and parameter.element.name in _VARIABLES and argument.kind.element
    ]
    kind = inner[0] if inner else common_kind(bare) if bare else None
    if kind is not None and any(parameter.name == "N" for parameter in form.parameters) and kind.name not in NUMBERS:
        return None
    return kind


def _bound(parameter: Kind, variable: Kind | None) -> Kind | None:
    if parameter.name in _VARIABLES:
        return variable
    if parameter.element is not None and parameter.element.name in _VARIABLES:
        return array_of(variable) if variable else None
    return parameter


def unknown_function(name: str, known: Sequence[str]) -> InvalidQueryError:
    """The error for a function that this warehouse does not have."""
    return InvalidQueryError(f"Function not found: {name}{nearest(name, known)}", "Use a function of GoogleSQL.")
