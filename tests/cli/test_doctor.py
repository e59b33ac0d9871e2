"""`askhouse doctor`: each setting with its source, each thing that works or not with its remedy."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from askhouse.settings import Settings, env_name

Askhouse = Callable[..., subprocess.CompletedProcess[str]]


def test_a_fresh_machine_is_healthy(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("doctor")
    assert done.returncode == 0, done.stdout
    assert "All that is needed works." in done.stdout
    for name in Settings.model_fields:
        assert re.search(rf"^  {env_name(name)} .*\((default|environment)\)$", done.stdout, re.MULTILINE), name
    assert "broken" not in done.stdout
    assert "local.nycflights13.flights" in done.stdout


def test_each_value_shows_its_source(askhouse: Askhouse, home: Path) -> None:
    Path(".env").write_text("ASKHOUSE_USER=ana\nASKHOUSE_TODAY=2013-06-30\n")
    lines = askhouse("doctor", ASKHOUSE_USER="rui").stdout.splitlines()
    assert [line.split() for line in lines if "ASKHOUSE_USER" in line] == [["ASKHOUSE_USER", "rui", "(environment)"]]
    assert [line.split()[:2] for line in lines if "ASKHOUSE_TODAY" in line] == [["ASKHOUSE_TODAY", "2013-06-30"]]
    assert any("ASKHOUSE_TODAY" in line and str(Path(".env").absolute()) in line for line in lines)


def test_a_password_in_an_address_is_not_shown(askhouse: Askhouse) -> None:
    done = askhouse("doctor", ASKHOUSE_CHAT_ENDPOINT="http://ana:secret@127.0.0.1:9")
    assert "secret" not in done.stdout + done.stderr


def test_a_broken_setting_is_named_and_the_settings_are_listed(askhouse: Askhouse) -> None:
    done = askhouse("doctor", ASKHOUSE_PROJEKT="my-project")
    assert done.returncode == 1
    assert "ASKHOUSE_PROJEKT" in done.stdout and "ASKHOUSE_PROJECT " in done.stdout
    assert "1 broken" in done.stdout


def test_a_home_that_cannot_be_written(askhouse: Askhouse, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = askhouse("doctor", ASKHOUSE_HOME=str(tmp_path / "file/home"))
    assert done.returncode == 1
    assert re.search(r"broken +data folder .*Set ASKHOUSE_HOME", done.stdout)
    assert "Traceback" not in done.stdout + done.stderr


def test_services_that_do_not_answer(askhouse: Askhouse, home: Path) -> None:
    nobody = "http://127.0.0.1:9"
    done = askhouse(
        "doctor", ASKHOUSE_PROJECT="my-project", ASKHOUSE_TABLES="my-project.sales.*",
        ASKHOUSE_CHAT_ENDPOINT=nobody, ASKHOUSE_BIGQUERY_ENDPOINT=nobody,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.search(r"broken +data agents", done.stdout)
    assert re.search(r"broken +BigQuery", done.stdout)


def test_services_of_a_cloud_project(askhouse: Askhouse, home: Path, cloud: dict[str, str]) -> None:
    tables = "bigquery-public-data.thelook_ecommerce.*"
    done = askhouse("doctor", ASKHOUSE_PROJECT="my-project", ASKHOUSE_TABLES=tables, **cloud)
    assert done.returncode == 0, done.stdout
    assert "BigQuery project my-project" in done.stdout
    assert "bigquery-public-data.thelook_ecommerce.orders" in done.stdout
