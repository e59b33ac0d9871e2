"""What is set, what works, and what to do about what does not: the report behind `askhouse doctor`."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from . import __version__
from .errors import AskhouseError, SettingsError
from .home import prepare_home
from .settings import LOCAL_MODEL, LoadedSettings, Settings, env_name, load_settings

State = Literal["works", "absent", "broken", "note"]

_STRAY = (
    "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI", "BIGQUERY_EMULATOR_HOST",
)  # fmt: skip
_PARTS = (
    ("altair", "charts are checked and drawn"),
    ("vl-convert-python", "charts become pictures"),
    ("asyncpg", "sessions can lie in PostgreSQL"),
)


_UNFORESEEN = "Try again; if it stays, tell the askhouse project, with this line."


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `remedy` says what to do where it does not work."""

    name: str
    state: State
    detail: str
    remedy: str = ""

    def line(self) -> str:
        return f"  {self.state:<7} {self.name:<20} {' '.join(f'{self.detail} {self.remedy}'.split())}"


@dataclass(frozen=True)
class Setting:
    """One setting as it is in force."""

    name: str
    value: str
    source: str

    def line(self) -> str:
        return f"  {self.name:<28} {self.value}  ({self.source})"


@dataclass(frozen=True)
class Report:
    """Everything that the doctor saw."""

    settings: list[Setting]
    checks: list[Check] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    """Names of the tables that may be asked, where they can be listed."""

    @property
    def healthy(self) -> bool:
        """Whether all that is needed works; what is only absent does not count."""
        return all(check.state != "broken" for check in self.checks)

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"askhouse {__version__}, Python {platform.python_version()}, google-adk {_version('google-adk')}"
        yield ""
        yield "Settings"
        yield from (setting.line() for setting in self.settings)
        yield ""
        yield "Checks"
        yield from (check.line() for check in self.checks)
        yield ""
        if self.tables:
            yield "Tables that may be asked"
            yield from (f"  {table}" for table in self.tables)
            yield ""
        broken = sum(check.state == "broken" for check in self.checks)
        yield "All that is needed works." if not broken else f"{broken} broken; the remedy stands beside it."


def examine(environ: Mapping[str, str] | None = None) -> Report:
    """Look at everything. Builds the sample warehouse when there is none; changes nothing else."""
    environ = os.environ if environ is None else environ
    try:
        loaded = load_settings(environ=environ)
    except SettingsError as error:
        return Report(_defaults(), [Check("settings", "broken", error.message, error.remedy)])
    settings = loaded.settings
    tables: list[str] = []
    data = list(_data(settings))
    usable = all(check.state != "broken" for check in data if check.name != "your tables")
    services = _services(settings, tables) if usable else ()
    return Report(_in_force(loaded), [*data, *services, *_parts(), *_stray(settings, environ)], tables)


def _in_force(loaded: LoadedSettings) -> list[Setting]:
    def source(name: str) -> str:
        found = loaded.sources[name]
        return str(loaded.env_file) if found == ".env" else found

    values = loaded.settings.model_dump()
    return [Setting(env_name(name), _shown(values[name]), source(name)) for name in Settings.model_fields]


def _defaults() -> list[Setting]:
    fields = Settings.model_fields.items()
    return [
        Setting(env_name(name), _shown(info.get_default(call_default_factory=True)), "default") for name, info in fields
    ]


def _shown(value: object) -> str:
    if value in (None, ()):
        return "not set"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def _checked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, "works", look())
    except AskhouseError as error:
        return Check(name, "broken", error.message, error.remedy or _UNFORESEEN)
    except Exception as error:  # the doctor reports whatever is wrong, also what nobody foresaw
        return Check(
            name, "broken", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else '?'}.", _UNFORESEEN
        )


def _data(settings: Settings) -> Iterator[Check]:
    home = _checked("data folder", lambda: f"{prepare_home(settings.home)} can be written.")
    yield home
    if home.state == "broken":
        return
    yield _checked("sample warehouse", lambda: _warehouse(settings))
    yield from _own_tables(settings.home)
    yield _sessions(settings.home / "sessions.db")
    yield _checked("session guard", _guard)


def _warehouse(settings: Settings) -> str:
    from .warehouse.duckdb import open_warehouse

    warehouse = open_warehouse(settings.home)
    warehouse.check()
    refs = warehouse.table_refs()
    own = [ref for ref in refs if ref.dataset == "my_data"]
    return f"{len(refs) - len(own)} sample tables, {len(own)} of your own."


def _own_tables(home: Path) -> Iterator[Check]:
    from .warehouse.load import damaged_tables, tables_folder

    for name in damaged_tables(home, thoroughly=True):
        row = tables_folder(home) / f"{name}.json"
        remedy = f"Load it again (askhouse load FILE --name {name}), or give it up by removing {row}."
        yield Check("your tables", "broken", f"local.my_data.{name} cannot be read and is left out.", remedy)


def _sessions(file: Path) -> Check:
    if not file.exists():
        return Check("conversations", "absent", "None yet.")

    def count() -> str:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
            (number,) = database.execute("SELECT count(*) FROM sessions").fetchone()
        return f"{number} kept in {file}."

    return _checked("conversations", count)


def _guard() -> str:
    """Whether what ADK loads beside the agents keeps sessions guarded."""
    from google.adk.cli.service_registry import get_service_registry, load_services_module

    from .web import agents_folder

    load_services_module(str(agents_folder()))
    if not getattr(get_service_registry().create_session_service("memory://"), "guarded", False):
        raise SettingsError(
            "Sessions of adk web and adk run are unguarded: a client can write any state.",
            f"Restore services.py in {agents_folder()}.",
        )
    return "adk web and adk run refuse state that a client writes."


def _services(settings: Settings, tables: list[str]) -> Iterator[Check]:
    """Checks of what answers questions; `tables` receives the names of those that may be asked."""
    from .connect import agents_answer, bigquery_answers, model_answers

    yield _checked("place", lambda: _place(settings, tables))
    yield _checked("data agents", lambda: agents_answer(settings))
    yield _checked("BigQuery", lambda: bigquery_answers(settings))
    yield _checked("model", lambda: model_answers(settings))


def _place(settings: Settings, tables: list[str]) -> str:
    from .place import place_of

    tables += [str(table) for table in place_of(settings).tables]
    if settings.embedded:
        return "this machine; nothing leaves it." if settings.model == LOCAL_MODEL else "this machine, save the model."
    return f"BigQuery project {settings.project}."


def _parts() -> Iterator[Check]:
    for package, what in _PARTS:
        found = _version(package)
        if found:
            yield Check(package, "works", f"{found}: {what}.")
        else:
            yield Check(package, "absent", f"Without it not: {what}.", f"Install it: pip install {package}.")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _stray(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """What lies around of Google, and that it chooses nothing here."""
    cloud = not settings.embedded or settings.model != LOCAL_MODEL
    effect = "chooses nothing, but Google's clients may read it" if cloud else "changes nothing"
    for name in _STRAY:
        if environ.get(name):
            yield Check(name, "note", f"present, {effect}.")
    credentials = Path(environ.get("HOME", "~")).expanduser() / ".config/gcloud/application_default_credentials.json"
    if credentials.exists():
        yield Check("Google credentials", "note", f"present, {effect}.")
