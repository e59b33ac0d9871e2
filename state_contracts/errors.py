"""Errors of the contracts.

ContractError            a key was used against its declaration
├── ContractKeyError     the key is not declared, or names no item of its family
├── ContractValueError   the value is not what the key holds, or too large for it
└── ContractVersionError the stored value was written by a newer version than this one
"""


class ContractError(Exception):
    """A state key was used against its declaration; `key` names it."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"State key {key!r}: {message}")
        self.key = key


class ContractKeyError(ContractError):
    """The key is not declared, or names no item of its family."""


class ContractValueError(ContractError):
    """The value is not what the key holds, or is too large for it."""


class ContractVersionError(ContractError):
    """The stored value was written by a newer version of the contract."""
