"""`askhouse connect`: all checks first, then the `.env`; against the embedded services as a cloud project."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from askhouse.settings import load_settings

Askhouse = Callable[..., subprocess.CompletedProcess[str]]
DATASET = "bigquery-public-data.thelook_ecommerce"
BEFORE = "# mine\nOTHER='x y'\nASKHOUSE_USER=ana\n"


def test_a_dataset_is_checked_and_written(askhouse: Askhouse, cloud: dict[str, str]) -> None:
    done = askhouse("connect", "my-project", "--dataset", DATASET, **cloud)
    assert done.returncode == 0, done.stderr
    assert "7 tables" in done.stdout
    assert "To Google Cloud project my-project" in done.stdout
    settings = load_settings(environ={}).settings
    assert (settings.project, settings.tables, settings.agent) == ("my-project", (f"{DATASET}.*",), None)


def test_other_lines_of_the_file_stay(askhouse: Askhouse, cloud: dict[str, str]) -> None:
    Path(".env").write_text(BEFORE + "ASKHOUSE_AGENT=old\n")
    Path(".env").chmod(0o640)
    assert askhouse("connect", "my-project", "--dataset", DATASET, **cloud).returncode == 0
    lines = Path(".env").read_text().splitlines()
    assert lines[:3] == BEFORE.splitlines()
    assert lines[3:] == ["ASKHOUSE_PROJECT=my-project", f"ASKHOUSE_TABLES={DATASET}.*"]
    assert Path(".env").stat().st_mode & 0o777 == 0o640


def test_the_file_of_a_folder_above_is_changed(
    askhouse: Askhouse, cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(".env").absolute()
    file.write_text(BEFORE)
    Path("deep").mkdir()
    monkeypatch.chdir("deep")
    assert askhouse("connect", "my-project", "--dataset", DATASET, **cloud).returncode == 0
    assert "ASKHOUSE_PROJECT=my-project" in file.read_text()
    assert not Path(".env").exists()


def test_local_returns_to_this_machine(askhouse: Askhouse) -> None:
    chosen = "ASKHOUSE_PROJECT=my-project\nASKHOUSE_AGENT=a\nASKHOUSE_ENGINE=1\nASKHOUSE_MODEL=gemini-x\n"
    Path(".env").write_text(BEFORE + chosen)
    done = askhouse("connect", "--local")
    assert done.returncode == 0
    assert Path(".env").read_text() == BEFORE


def test_local_without_a_file_makes_none(askhouse: Askhouse) -> None:
    assert askhouse("connect", "--local").returncode == 0
    assert not Path(".env").exists()


def test_the_environment_goes_before_the_file_and_that_is_said(askhouse: Askhouse) -> None:
    done = askhouse("connect", "--local", ASKHOUSE_PROJECT="my-project")
    assert "ASKHOUSE_PROJECT is set in the environment" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("My Project", "--dataset", DATASET), "is not a Google Cloud project id"),
        (("my-project",), "Nothing was chosen"),
        (("my-project", "--dataset", "nosuchdata"), "nosuchdata"),
        (("my-project", "--dataset", DATASET, "--location", "europe-west4"), "europe-west4"),
        (("my-project", "--agent", "nosuchagent"), "nosuchagent"),
        (("my-project", "--dataset", DATASET, "--model", "nosuchmodel"), "nosuchmodel"),
        (("my-project", "--dataset", DATASET, "--agent", "flights"), "exclude one another"),
        ((), "Give a project, or --local."),
        (("my-project", "--local"), "Give a project, or --local."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_failed_check_writes_nothing(
    askhouse: Askhouse, cloud: dict[str, str], arguments: tuple[str, ...], words: str
) -> None:
    Path(".env").write_text(BEFORE)
    done = askhouse("connect", *arguments, **cloud)
    assert done.returncode in (1, 3)
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: ") and words in line
    assert Path(".env").read_text() == BEFORE


def test_nobody_answers(askhouse: Askhouse) -> None:
    nobody = "http://127.0.0.1:9"  # the discard port: nothing listens
    done = askhouse(
        "connect", "my-project", "--dataset", DATASET, ASKHOUSE_CHAT_ENDPOINT=nobody, ASKHOUSE_BIGQUERY_ENDPOINT=nobody
    )
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: ") and "127.0.0.1:9" in line
    assert not Path(".env").exists()


def test_a_file_that_cannot_be_written(askhouse: Askhouse, cloud: dict[str, str]) -> None:
    Path(".env").mkdir()
    done = askhouse("connect", "my-project", "--dataset", DATASET, **cloud)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_what_lies_around_of_google_chooses_nothing(askhouse: Askhouse, home: Path) -> None:
    credentials = Path(os.environ["HOME"], ".config/gcloud/application_default_credentials.json")
    credentials.parent.mkdir(parents=True)
    credentials.write_text('{"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "t"}')
    stray = {
        "GOOGLE_API_KEY": "secret-of-somebody",
        "GEMINI_API_KEY": "secret-of-somebody",
        "GOOGLE_CLOUD_PROJECT": "somebodys-project",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "BIGQUERY_EMULATOR_HOST": "http://127.0.0.1:9",
    }
    done = askhouse("ask", "How many flights left each airport?", **stray)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("Sample data on this machine.")
    seen = askhouse("doctor", **stray)
    assert seen.returncode == 0, seen.stdout
    assert "secret-of-somebody" not in seen.stdout
    for name in (*stray, "Google credentials"):
        assert f"{name}" in seen.stdout
    assert seen.stdout.count("changes nothing") == len(stray) + 1
