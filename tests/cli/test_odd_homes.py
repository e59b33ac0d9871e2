"""A data folder may have any name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from askhouse.settings import Settings

Askhouse = Callable[..., subprocess.CompletedProcess[str]]

ODD = ("a#b", "what?", "100%2Fday", "two words", "year=2024", "it's [new] {x}", "semi;colon&co", "día", "star*")


@pytest.mark.parametrize("name", ["a#b?c", "100%2Fday two;&", "year=2024", "it's [new] {x}*"])
def test_asking_continuing_and_loading_in_a_folder_with_an_odd_name(
    name: str, askhouse: Askhouse, home: Path, tmp_path: Path
) -> None:
    odd = tmp_path / name / "data"
    odd.parent.mkdir()
    home.rename(odd)
    (tmp_path / "work/pets.csv").write_text("pet,age\ncat,3\ndog,4\n")
    environment = {"ASKHOUSE_HOME": str(odd)}
    assert askhouse("load", "pets.csv", **environment).returncode == 0
    asked = askhouse("ask", "How many pets are there?", "--format", "json", **environment)
    assert asked.returncode == 0, asked.stderr
    (result,) = json.loads(asked.stdout)["results"]
    assert [value for row in result["rows"] for value in (row.values() if isinstance(row, dict) else row)] == [2]
    assert {path.name for path in tmp_path.iterdir()} == {"user", "work", name}
    assert (odd / "sessions.db").is_file()
    assert askhouse("ask", "-c", "average age of pets?", **environment).returncode == 0
    listed = askhouse("sessions", "list", **environment)
    assert len(listed.stdout.splitlines()) == 1
    assert askhouse("doctor", **environment).returncode == 0


@pytest.mark.parametrize("name", ODD)
def test_adk_opens_the_same_places_from_the_uris(name: str, tmp_path: Path, repo: Path) -> None:
    from google.adk.cli.service_registry import get_service_registry, load_services_module

    load_services_module(str(repo / "agents"))
    settings = Settings(home=tmp_path / name)
    registry = get_service_registry()
    sessions = registry.create_session_service(settings.sessions_uri)
    artifacts = registry.create_artifact_service(settings.artifacts_uri)
    assert sessions is not None and artifacts is not None
    assert Path(sessions._db_connect_path) == tmp_path / name / "sessions.db"  # type: ignore[attr-defined]
    assert artifacts.root_dir == tmp_path / name / "artifacts"  # type: ignore[attr-defined]


def test_a_folder_is_found_from_home_and_from_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(home=Path("~/data")).home == (Path.home() / "data").resolve()
    assert Settings(home=Path("data")).home == (Path.cwd() / "data").resolve()
