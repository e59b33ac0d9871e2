"""The shape of the distribution: what the wheel holds, what ADK lists, what an import costs, how large things get."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NAMES = {"askhouse", "data_analyst", "state_contracts"}
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80


def tracked(repo: Path, pattern: str = "") -> list[Path]:
    """The files that git has, and new ones that it would take."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *([pattern] if pattern else [])],
        cwd=repo, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return [path for name in listing.split("\0") if name and (path := repo / name).is_file()]


@pytest.fixture(scope="session")
def wheel(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=repo, check=True, capture_output=True,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == NAMES
    assert {f"{name}/py.typed" for name in NAMES} <= set(names)
    assert not [name for name in names if "/tests/" in name or "/.adk/" in name or name.endswith(".env")]


def test_the_wheel_holds_every_file_of_the_sources(repo: Path, wheel: Path) -> None:
    """A word list or a template that git has but the wheel lacks would break only at a user's."""
    roots = {"agents/data_analyst": "data_analyst", "tools/askhouse": "askhouse", "state_contracts": "state_contracts"}
    expected = {
        f"{package}/{path.relative_to(repo / folder).as_posix()}"
        for folder, package in roots.items()
        for path in tracked(repo, folder)
        if "tests" not in path.relative_to(repo / folder).parts
    }
    assert expected - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_agent_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """Without the repository on the path: what an engineer's image holds."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import askhouse, data_analyst.agent as a; print(askhouse.__file__, a.app.name)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "site/askhouse/__init__.py"), "data_analyst"]


def test_adk_lists_exactly_our_app(repo: Path) -> None:
    from google.adk.cli.utils._nested_agent_loader import NestedAgentLoader
    from google.adk.cli.utils.agent_loader import AgentLoader

    for loader in (AgentLoader, NestedAgentLoader):
        assert loader(str(repo / "agents")).list_agents() == ["data_analyst"]


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("statement", ["import askhouse", "import askhouse.settings", "from askhouse.cli import main"])
def test_a_cold_start_loads_nothing_heavy(statement: str) -> None:
    heavy = {"google.cloud", "google.adk", "google.genai", "grpc", "pandas", "numpy", "duckdb", "altair", "sqlglot"}
    assert loaded_by(statement) & heavy == set()


def test_the_contracts_import_pydantic_and_nothing_else(repo: Path) -> None:
    allowed = sys.stdlib_module_names | {"pydantic", "state_contracts"}
    imported = {
        (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name.split(".")[0]
        for path in tracked(repo, "state_contracts/*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.level == 0)
    }
    assert imported - allowed == set()


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.name}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def test_files_and_functions_stay_readable(repo: Path) -> None:
    sources = tracked(repo, "*.py")
    assert len(sources) > 10
    files = {path.name: lines for path in sources if (lines := len(path.read_text().splitlines())) > MAX_FILE_LINES}
    long_functions = {name: n for path in sources for name, n in functions(path) if n > MAX_FUNCTION_LINES}
    assert (files, long_functions) == ({}, {})


def test_the_repository_names_no_machine_and_no_package_index(repo: Path) -> None:
    """A path that exists on one machine only, or the address of an index, would be somebody's and not everybody's."""
    machine = re.compile(
        r"(?<![\w.])/(?:home|Users|root|work|srv)/\w+/|(?:https?|file)://[^\s\"'`)]*(?:simple|pypi|pythonhosted)"
        r"|--(?:extra-)?index-url|--find-links"
    )
    found = [
        f"{path.relative_to(repo)}:{number}: {line.strip()}"
        for path in tracked(repo)
        if path != Path(__file__) and path.suffix not in {".png", ".parquet", ".gz"}
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if machine.search(line)
    ]
    assert found == []


def test_the_lock_pins_every_package_by_version_and_hash(repo: Path) -> None:
    text = (repo / "requirements.lock").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+( ; [^\\]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n)?)+$", entry), entry
