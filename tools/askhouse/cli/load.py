"""`askhouse load`: the person's own files become tables."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from .options import settings_of


@click.command(short_help="Make tables of your CSV, Parquet or JSON files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the table. [default: the file's]")
def load(files: tuple[Path, ...], name: str | None) -> None:
    """Make tables of CSV, Parquet or JSON files, to be asked as local.my_data.NAME.

    The files are copied, and read only once. Loading a file again replaces its table.
    """
    if name and len(files) > 1:
        raise UsageError(f"--name names one table, but {len(files)} files were given.", "Load them one by one.")
    settings = settings_of()
    from ..warehouse.load import load_file

    for file in files:
        table = load_file(settings.home, file, name)
        click.echo(f"{table.ref}: {table.row_count:,} rows, {len(table.columns)} columns")
