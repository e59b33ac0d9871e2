"""A state key, declared once: what it holds, who writes it, who reads it, how large it may get."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, get_origin

from pydantic import TypeAdapter, ValidationError

from .errors import ContractKeyError, ContractValueError, ContractVersionError

T = TypeVar("T")
Scope = Literal["temp", "session", "user", "app"]
"""How long a value lives: one invocation, one conversation, one person, or the whole application."""

Migration = Callable[[Any], Any]
"""Stored JSON of one version in, of the next version out."""


class State(Protocol):
    """What a state can be read through: a dict, or ADK's `State`, which is not a mapping."""

    def get(self, key: str, /) -> Any: ...
    def __getitem__(self, key: str, /) -> Any: ...


class MutableState(State, Protocol):
    """A state that can be written."""

    def __setitem__(self, key: str, value: Any, /) -> None: ...


VERSION, VALUE = "contract_version", "value"
"""How a stored value says its version. Version 1 stands bare, so that `{user:key?}` in an instruction reads well."""

_PREFIX: dict[Scope, str] = {"temp": "temp:", "session": "", "user": "user:", "app": "app:"}
_ITEM = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, kw_only=True)
class _Declaration(Generic[T]):
    name: str
    """The key without its scope's prefix."""
    scope: Scope
    holds: type[T]
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    purpose: str
    max_bytes: int = 4_096
    """Limit of the stored JSON, in bytes of UTF-8; `temp:` values are passed by reference and not measured."""
    version: int = 1
    """Version of the stored form. A change that an older value would not survive raises it and adds a migration."""
    migrations: Mapping[int, Migration] = field(default_factory=dict)
    """For each older version, the function that turns its stored JSON into that of the next version."""

    def __post_init__(self) -> None:
        missing = [old for old in range(1, self.version) if old not in self.migrations]
        if missing:
            raise ContractKeyError(self.name, f"has no migration from version {missing[0]}.")

    @property
    def persisted(self) -> bool:
        """Whether a value outlives the invocation (and so must be JSON)."""
        return self.scope != "temp"

    def _dump(self, key: str, value: T) -> Any:
        if not isinstance(value, get_origin(self.holds) or self.holds):
            raise ContractValueError(key, f"holds {self._held}, got {type(value).__name__}.")
        if not self.persisted:
            return value
        adapter = _adapter(cast(Hashable, self.holds))
        try:
            plain = adapter.dump_python(adapter.validate_python(value, strict=True), mode="json")
        except ValidationError as error:
            raise ContractValueError(key, f"does not hold a {self._held}: {_first(error)}") from error
        return plain if self.version == 1 else {VERSION: self.version, VALUE: plain}

    def _load(self, key: str, stored: Any) -> T:
        if not self.persisted:
            if not isinstance(stored, get_origin(self.holds) or self.holds):
                raise ContractValueError(key, f"holds {self._held}, found {type(stored).__name__}.")
            return cast(T, stored)
        version, plain = _unwrapped(stored)
        if version > self.version:
            reason = f"was written by version {version}, newer than this one, {self.version}."
            raise ContractVersionError(key, reason)
        try:
            return cast(T, _adapter(cast(Hashable, self.holds)).validate_python(self._migrated(plain, version)))
        except ValidationError as error:
            raise ContractValueError(key, f"does not hold a {self._held}: {_first(error)}") from error

    @property
    def _held(self) -> str:
        return str(self.holds) if get_origin(self.holds) else self.holds.__name__

    def _migrated(self, value: Any, version: int) -> Any:
        for old in range(version, self.version):
            value = self.migrations[old](value)
        return value

    def problem(self, key: str, stored: Any) -> str | None:
        """Why `stored` may not stand under `key`, in one sentence, or None."""
        if stored is None:
            return None  # a cleared key: ADK cannot delete one
        try:
            self._load(key, stored)
            if self.persisted and (size := json_size(stored)) > self.max_bytes:
                return f"is {size:,} bytes, the limit is {self.max_bytes:,}."
        except ContractVersionError as error:
            return str(error)
        except ContractValueError as error:
            return str(error)
        except (TypeError, ValueError):
            return "is not JSON."
        return None

    def _checked(self, key: str, value: T) -> Any:
        stored = self._dump(key, value)
        if self.persisted and (size := json_size(stored)) > self.max_bytes:
            raise ContractValueError(key, f"would be {size:,} bytes, the limit is {self.max_bytes:,}.")
        return stored


@dataclass(frozen=True, kw_only=True)
class StateKey(_Declaration[T]):
    """One typed key of the state.

    >>> who = {"writers": ("root",), "readers": ("root",)}
    >>> greeted = StateKey(name="greeted", scope="session", holds=bool, purpose="Greet once.", **who)
    >>> state = {}
    >>> greeted.write(state, True)
    >>> greeted.read(state)
    True
    """

    @property
    def key(self) -> str:
        """The key as it stands in the state, prefix included."""
        return _PREFIX[self.scope] + self.name

    def matches(self, key: str) -> bool:
        return key == self.key

    def write(self, state: MutableState, value: T) -> None:
        """Store `value`. Raises ContractValueError when it has the wrong type or is too large."""
        state[self.key] = self._checked(self.key, value)

    def read(self, state: State) -> T | None:
        """The value, or None where nothing is stored. Raises ContractError when what is stored is not this key's."""
        stored = state.get(self.key)
        return None if stored is None else self._load(self.key, stored)

    def clear(self, state: MutableState) -> None:
        """Forget the value. A null is stored, since a key of the state cannot be deleted."""
        state[self.key] = None


@dataclass(frozen=True, kw_only=True)
class StateFamily(_Declaration[T]):
    """Typed keys of one kind, one for each item: `temp:answer.<call>`, `user:data_agent.<slug>`."""

    item: str
    """What tells the items apart, for the documentation: `call`, `slug`."""

    @property
    def key(self) -> str:
        """The pattern of the keys, prefix included."""
        return f"{_PREFIX[self.scope]}{self.name}.<{self.item}>"

    def key_of(self, item: str) -> str:
        """The key of one item. Raises ContractKeyError when `item` is not letters, digits, `_` and `-`."""
        if not _ITEM.fullmatch(item):
            raise ContractKeyError(self.key, f"{item!r} cannot name an item: use letters, digits, '_' and '-'.")
        return f"{_PREFIX[self.scope]}{self.name}.{item}"

    def matches(self, key: str) -> bool:
        stem = f"{_PREFIX[self.scope]}{self.name}."
        return key.startswith(stem) and _ITEM.fullmatch(key[len(stem) :]) is not None

    def write(self, state: MutableState, item: str, value: T) -> None:
        """Store one item. Raises ContractError when the item's name or the value is not this family's."""
        key = self.key_of(item)
        state[key] = self._checked(key, value)

    def read(self, state: State, item: str) -> T | None:
        """One item, or None where nothing is stored under that name."""
        key = self.key_of(item)
        stored = state.get(key)
        return None if stored is None else self._load(key, stored)

    def clear(self, state: MutableState, item: str) -> None:
        """Forget one item. A null is stored, since a key of the state cannot be deleted."""
        state[self.key_of(item)] = None

    def items(self, state: State) -> Iterator[tuple[str, T]]:
        """The stored items by name, cleared ones left out."""
        stem = f"{_PREFIX[self.scope]}{self.name}."
        for key in sorted(key for key in _keys(state) if self.matches(key)):
            if state[key] is not None:
                yield key[len(stem) :], self._load(key, state[key])


def _keys(state: Any) -> list[str]:
    """The keys of a mapping, or of ADK's `State`, which is not iterable."""
    return list(state.to_dict() if hasattr(state, "to_dict") else state)


def _unwrapped(stored: Any) -> tuple[int, Any]:
    """A stored value's version and its JSON."""
    if isinstance(stored, Mapping) and set(stored) == {VERSION, VALUE} and isinstance(stored[VERSION], int):
        return stored[VERSION], stored[VALUE]
    return 1, stored


@cache
def _adapter(holds: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, holds))


def json_size(value: Any) -> int:
    """Bytes of a value as JSON in UTF-8: what the limits of the keys count."""
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else detail["msg"]
