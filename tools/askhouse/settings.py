"""Every setting, with its environment variable, default and meaning.

The place is chosen, never guessed: data goes to Google only when `ASKHOUSE_PROJECT` is set, memory when
`ASKHOUSE_ENGINE` is, words to a model only when `ASKHOUSE_MODEL` names one. Credentials or project variables that
lie around change nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from dotenv import dotenv_values, find_dotenv
from platformdirs import user_data_path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .errors import SettingsError

Transport = Literal["grpc", "rest"]
Source = Literal["default", "environment", ".env", "command line"]
LOCAL_MODEL = "local/analyst"

_PROJECT = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")
_FIRST_YEAR, _LAST_YEAR = 1900, 2200
_TABLE = re.compile(r"[^.\s]+\.[^.\s]+\.([^.\s]+|\*)")


def _project(value: str | None) -> str | None:
    if value is not None and not _PROJECT.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a Google Cloud project id (6 to 30 lower-case letters, digits and hyphens)."
        )
    return value


def _tables(value: tuple[str, ...]) -> tuple[str, ...]:
    for table in value:
        if not _TABLE.fullmatch(table):
            raise ValueError(f"{table!r} is not a table: write project.dataset.table, or project.dataset.* for all.")
    return value


def _endpoint(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"https?://[^/\s@]+", value):
        raise ValueError(f"{value!r} is not an address: write http://127.0.0.1:PORT or https://HOST, and no password.")
    return value


def _home(value: Path) -> Path:
    """The whole path: what is relative would lie elsewhere for a process that runs elsewhere."""
    try:
        return value.expanduser().resolve()
    except (RuntimeError, OSError, ValueError) as error:
        raise ValueError(f"the folder cannot be found: {error}.") from error


def _day(value: date | None) -> date | None:
    if value is not None and not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise ValueError(f"write a day of the years {_FIRST_YEAR} to {_LAST_YEAR}.")
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError("no such IANA time zone; America/Sao_Paulo is one.") from error
    return value


Endpoint = Annotated[str | None, AfterValidator(_endpoint)]


class Settings(BaseModel):
    """How askhouse runs. Read once per process by `load_settings`; every field has a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    home: Annotated[Path, AfterValidator(_home)] = Field(default_factory=lambda: user_data_path("askhouse"))
    """Folder of everything local: the sample warehouse, your tables, sessions, charts, data agents."""
    user: str = Field(default="user", min_length=1, max_length=128)
    """Who asks, where no sign-in tells; the same at every door, so that what one made is there at the next."""
    project: Annotated[str | None, AfterValidator(_project)] = None
    """Google Cloud project that is asked. Unset: the embedded services on this machine."""
    location: str = Field(default="global", pattern=r"^[a-z][a-z0-9-]*$")
    """Location of the Conversational Analytics API: global, us, eu or a region."""
    agent: str | None = None
    """Data agent to ask: its id, or its full resource name. Unset: the tables are asked directly."""
    tables: Annotated[tuple[str, ...], AfterValidator(_tables)] = ()
    """Tables that may be asked, comma separated: project.dataset.table, or project.dataset.* for all of a dataset."""
    engine: str | None = None
    """Agent Engine whose Memory Bank keeps profiles. Unset: profiles stay on this machine."""
    model: str = LOCAL_MODEL
    """Model of the root agent, by any name that ADK knows. The default decides by rule on this machine."""
    today: Annotated[date | None, AfterValidator(_day)] = None
    """The day that counts as today. Unset: the real day, and for sample tables the day on which the sample ends."""
    time_zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    """IANA time zone that decides when a day begins."""
    transport: Transport = "grpc"
    """How the Conversational Analytics API is spoken to."""
    history: Literal["resend", "service"] = "resend"
    """Who remembers a conversation with a saved data agent: the session, which sends its turns again (resend), or the
    service, which keeps it until the session is deleted (service). Tables are always asked with resent turns."""
    max_billed_bytes: int = Field(default=10 * 2**30, ge=0)
    """Limit of the bytes that one query may bill; 0 for no limit."""
    confirm_bytes: int = Field(default=0, ge=0)
    """A query that would bill more is not run before this limit was raised or the question narrowed; 0 for no limit
    beside ASKHOUSE_MAX_BILLED_BYTES."""
    daily_questions: int = Field(default=0, ge=0)
    """How many questions a user may ask the service in a day (UTC), counted in the data folder; 0 for no limit."""
    daily_bytes: int = Field(default=0, ge=0)
    """How many bytes the questions of a user may bill in a day (UTC), counted in the data folder; 0 for no limit."""
    chats_per_minute: int = Field(default=30, ge=0)
    """How many questions a minute this process asks of Google, shared fairly between users; 0 for no limit. The
    services on this machine have none."""
    reply_seconds: float = Field(default=600.0, ge=1.0)
    """How long a whole reply may take, repetitions included, before what has arrived counts as all there is."""
    silence_seconds: float = Field(default=90.0, ge=1.0)
    """How long the service may say nothing before its reply counts as lost."""
    contracts: Literal["serve", "strict"] = "serve"
    """What happens to a state change against its contract: undone, logged and said (serve), or the turn stops
    (strict)."""
    chat_endpoint: Endpoint = None
    """Address of the Conversational Analytics API where it is not the usual one."""
    bigquery_endpoint: Endpoint = None
    """Address of BigQuery where it is not the usual one."""

    @property
    def embedded(self) -> bool:
        """Whether data is asked of the services on this machine."""
        return self.project is None

    @cached_property
    def sessions_uri(self) -> str:
        """ADK session service of a laptop. ADK unquotes the path, so any character of it is safe."""
        return f"sqlite:///{quote(str(self.home / 'sessions.db'))}"

    @cached_property
    def artifacts_uri(self) -> str:
        """ADK artifact service of a laptop."""
        return (self.home / "artifacts").as_uri()


ENV_PREFIX = "ASKHOUSE_"


def env_name(field: str) -> str:
    """The environment variable of a setting."""
    return ENV_PREFIX + field.upper()


class LoadedSettings(BaseModel):
    """Settings and where each value came from."""

    settings: Settings
    sources: dict[str, Source]
    env_file: Path | None = None


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    env_file: Path | None = None,
) -> LoadedSettings:
    """Settings from the command line, then the environment, then `.env` (searched upwards from the working folder).

    Raises SettingsError naming the variable, its value and what it takes. An unknown ASKHOUSE_ variable is an error
    too: a misspelt setting must not pass unnoticed.
    """
    environ = os.environ if environ is None else environ
    found = env_file or (Path(path) if (path := find_dotenv(usecwd=True)) else None)
    file_values = {key: value for key, value in dotenv_values(found).items() if value is not None} if found else {}
    values: dict[str, Any] = {}
    sources: dict[str, Source] = dict.fromkeys(Settings.model_fields, "default")
    layers: tuple[tuple[Source, Mapping[str, str]], ...] = ((".env", file_values), ("environment", environ))
    for source, layer in layers:
        for field, text in _ours(layer, source):
            values[field], sources[field] = _split(field, text), source
    for field, value in (overrides or {}).items():
        if value is not None:
            values[field], sources[field] = value, "command line"
    try:
        return LoadedSettings(settings=Settings(**values), sources=sources, env_file=found)
    except ValidationError as error:
        raise _settings_error(error, sources) from error


def _ours(layer: Mapping[str, str], source: Source) -> list[tuple[str, str]]:
    pairs = []
    for key, text in layer.items():
        if not key.startswith(ENV_PREFIX) or not text.strip():
            continue
        if text != text.encode("utf-8", "replace").decode():
            raise SettingsError(f"{key} (from {source}) is not UTF-8 text.", "Correct it there.")
        field = key.removeprefix(ENV_PREFIX).lower()
        if field not in Settings.model_fields:
            raise SettingsError(f"{key} (from {source}) is not a setting.", "`askhouse doctor` lists the settings.")
        pairs.append((field, text.strip()))
    return pairs


def _split(field: str, text: str) -> Any:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if field == "tables" else text


def _settings_error(error: ValidationError, sources: Mapping[str, Source]) -> SettingsError:
    detail = error.errors(include_url=False)[0]
    field = str(detail["loc"][0])
    reason = detail["msg"].removeprefix("Value error, ").rstrip(".")
    said = f"{env_name(field)} = {str(detail['input'])!r} (from {sources.get(field, 'default')}): {reason}."
    return SettingsError(_without_password(said), "Correct it there, or unset it to take the default.")


def _without_password(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//…@", text)
