"""`make bench`: every benchmark of this folder, each in a process of its own, against the budgets of the design.

One readable line for each figure, then one line of JSON: a list of {name, value, unit, budget, within}. A budget is
the most that a value may be; where the design sets none it is null. The times are medians by the clock, so a busy
machine shows larger ones; "work" beside a time is what this process computed in it.

`run.py NAME…` runs some of them (`parser` for bench_parser.py); `--slow` adds what takes minutes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from measure import Figure, Place

FOLDER = Path(__file__).parent
_OUTSIDE = ("ASKHOUSE_", "GOOGLE_", "GEMINI_", "GCLOUD_", "CLOUDSDK_", "BIGQUERY_", "XDG_", "PYTHON")


def main() -> int:
    """Run, print, and return the exit code: 0 when everything could be measured, within its budget or not."""
    arguments = _arguments()
    figures: list[Figure] = []
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="askhouse-bench-") as folder:
        home = _prepare(Path(folder))
        for name in arguments.names or _all_names():
            own = Path(folder) / name
            shutil.copytree(home, own)
            try:
                for figure in _figures_of(name, Place(own, arguments.slow)):
                    figures.append(figure)
                    _say(figure.line())
            except RuntimeError as error:
                failed.append(name)
                _say(str(error))
    _say(f"Load of this machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    if failed:
        _say(f"Not measured: {', '.join(failed)}.")
    _say(json.dumps([figure.as_json() for figure in figures], ensure_ascii=False))
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", choices=[[], *_all_names()], metavar="NAME", help="which benchmarks; all by default"
    )
    parser.add_argument("--slow", action="store_true", help="also what takes minutes")
    return parser.parse_args()


def _all_names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _prepare(folder: Path) -> Path:
    """A data folder with the sample and a loaded table, and nothing of the person's settings around it."""
    for name in [name for name in os.environ if name.startswith(_OUTSIDE)]:
        del os.environ[name]
    home, user = folder / "prepared", folder / "user"
    user.mkdir()
    os.environ.update(HOME=str(user), NO_GCE_CHECK="true", NO_COLOR="1", COLUMNS="100")
    os.chdir(user)
    _in_another_process(_build, home, folder)
    return home


def _build(home: Path, folder: Path) -> None:
    from served import write_readings

    from askhouse.warehouse.duckdb import open_warehouse
    from askhouse.warehouse.load import load_file

    open_warehouse(home)
    load_file(home, write_readings(folder / "readings.csv"))


def _figures_of(name: str, place: Place) -> Iterator[Figure]:
    """Run one file in a process of its own; its figures as they come. Raises RuntimeError when it breaks off."""
    os.environ["ASKHOUSE_HOME"] = str(place.home)
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_measure, args=(name, place, sending))
    process.start()
    sending.close()
    try:
        while True:
            message = receiving.recv()
            if isinstance(message, str):
                raise RuntimeError(f"bench_{name} broke off:\n{message}")
            yield message
    except EOFError:
        process.join()
        if process.exitcode:
            raise RuntimeError(f"bench_{name} ended with exit code {process.exitcode}") from None
    finally:
        process.join()


def _measure(name: str, place: Place, sending: Connection) -> None:
    warnings.simplefilter("ignore")  # ADK marks its own parts as experimental, whoever uses them
    try:
        for figure in importlib.import_module(f"bench_{name}").figures(place):
            sending.send(figure)
    except Exception:
        sending.send(traceback.format_exc())


def _in_another_process(function: object, *arguments: object) -> None:
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)  # type: ignore[arg-type]
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("The data folder of the benchmarks could not be prepared.")


if __name__ == "__main__":
    sys.exit(main())
