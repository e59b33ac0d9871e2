"""The catalogue's answers, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from typing import Any

from rapidfuzz import process

from state_contracts import Block, Column, Result, TableBlock, TextBlock

from ..place import Place
from ..warehouse.base import Column as TableColumn
from ..warehouse.base import Rows, Table, TableRef, Warehouse
from . import starters

FIRST_ROWS = 5
MAX_ROWS = 100
MAX_TABLES = 50
OFFERS = 8


@dataclass
class Told:
    """What the catalogue says, and the questions that may come next."""

    blocks: list[Block]
    results: list[Result] = field(default_factory=list)
    offers: list[str] = field(default_factory=list)
    """Questions about the data, best first; whether they can be answered is not tried yet."""
    certain: list[str] = field(default_factory=list)
    """Questions that the catalogue itself answers."""
    found: bool = True


def describe(
    place: Place, topic: str, table: str | None = None, column: str | None = None, rows: int | None = None
) -> Told:
    """Tell about the data of a place. Blocks: call it off the event loop.

    Raises AskhouseError where the place cannot be reached.
    """
    with closing(place.warehouse()) as warehouse:
        return _told(Catalogue(place, warehouse), topic, table, column, rows)


def _told(catalogue: Catalogue, topic: str, table: str | None, column: str | None, rows: int | None) -> Told:
    if topic == "column" and column:
        return _column(catalogue, column, table)
    chosen = catalogue.named(table) if table else None
    if table and chosen is None:
        return _no_such_table(catalogue, table)
    match topic:
        case "columns" if chosen:
            return _columns(catalogue, chosen)
        case "rows":
            return _rows(catalogue, chosen or catalogue.main[0], rows)
        case "dates":
            return _dates(catalogue, [chosen] if chosen else catalogue.main)
        case "tables" | "columns":
            return _tables(catalogue)
        case _:
            return _overview(catalogue)


class Catalogue:
    """The tables of a place, with their meaning."""

    def __init__(self, place: Place, warehouse: Warehouse) -> None:
        self.place = place
        self.warehouse = warehouse
        with ThreadPoolExecutor(8) as pool:
            self.tables = list(pool.map(self.warehouse.table, place.tables[:MAX_TABLES]))
        self.main = starters.main_tables(self.tables)

    def named(self, name: str) -> Table | None:
        """The table that a person named: whole reference, last part, singular or with blanks."""
        wanted = _plain(name)
        forms = {table.ref: _names(table.ref) for table in self.main}
        for rank in range(3):
            if found := next((table for table in self.main if forms[table.ref][rank] == wanted), None):
                return found
        return None

    def nearest(self, name: str) -> list[Table]:
        """Tables whose names come close."""
        names = {index: table.ref.table for index, table in enumerate(self.main)}
        return [self.main[index] for _, _, index in process.extract(name, names, limit=2, score_cutoff=60)]


def _overview(catalogue: Catalogue) -> Told:
    lines = []
    for project, dataset in dict.fromkeys((table.ref.project, table.ref.dataset) for table in catalogue.main):
        within = [t.ref.table for t in catalogue.main if (t.ref.project, t.ref.dataset) == (project, dataset)]
        lines.append(f"- {project}.{dataset}: {', '.join(within)}")
    text = (
        "Hello. Ask about the data in plain language: you get a table, a chart, a summary in which every number is "
        'computed, and the SQL. Follow up as in a conversation ("and by month?").\n\n'
        f"{len(catalogue.place.tables)} tables may be asked:\n\n" + "\n".join(lines) + "\n\n"
        f'"What is in {catalogue.main[0].ref.table}?" tells what a table holds.'
    )
    return Told([TextBlock(text=text)], offers=_offers(starters.one_per_dataset(catalogue.main)))


def _tables(catalogue: Catalogue) -> Told:
    spans = _spans(catalogue, catalogue.tables)
    rows = [
        (str(table.ref), table.row_count, *spans.get(table.ref, (None, None)), table.description)
        for table in catalogue.tables
    ]
    columns = [("table", "STRING"), ("rows", "INT64"), ("from", "DATE"), ("to", "DATE"), ("description", "STRING")]
    shown = f"{len(catalogue.place.tables)} tables may be asked"
    left_out = f"; the first {MAX_TABLES} are" if len(catalogue.place.tables) > MAX_TABLES else ":"
    offers = _offers(starters.one_per_dataset(catalogue.main))
    return _with_table("tables", columns, rows, f"{shown}{left_out}", offers)


def _columns(catalogue: Catalogue, table: Table) -> Told:
    span = _spans(catalogue, [table]).get(table.ref)
    period = f", from {span[0]} to {span[1]}" if span else ""
    text = f"{table.ref}: {_sentence(table.description)}{table.row_count:,} rows{period}."
    columns = [("column", "STRING"), ("type", "STRING"), ("description", "STRING")]
    rows = [(column.name, _type(column), column.description) for column in table.columns]
    return _with_table(table.ref.table, columns, rows, text, _offers([table]))


def _rows(catalogue: Catalogue, table: Table, count: int | None) -> Told:
    number = min(max(count or FIRST_ROWS, 1), MAX_ROWS)
    sql = f"SELECT *\nFROM `{table.ref}`\nLIMIT {number}"
    rows = catalogue.warehouse.query(sql, max_rows=number)
    result = Result(
        name=table.ref.table,
        columns=[Column(name=c.name, type=c.type, mode=c.mode) for c in rows.columns],
        rows=[tuple(_cell(cell) for cell in row) for row in rows.rows],
        row_count=len(rows.rows),
        sql=sql,
        sql_origin="catalogue",
        read_as=f"The first {len(rows.rows)} rows of {table.ref.table}, in no particular order.",
    )
    text = f"{len(rows.rows)} of the {table.row_count:,} rows of {table.ref}, in no particular order:"
    return Told([TextBlock(text=text), TableBlock(result=result.name)], [result], _offers([table]))


def _column(catalogue: Catalogue, name: str, table: str | None) -> Told:
    within = catalogue.named(table) if table else None
    if table and within is None:
        return _no_such_table(catalogue, table)
    having = [
        (t, c) for t in ([within] if within else catalogue.main) for c in t.columns if _plain(c.name) == _plain(name)
    ]
    if not having:
        return _no_such_column(catalogue, name, within)
    rows = [(str(t.ref), c.name, _type(c), c.description) for t, c in having]
    columns = [("table", "STRING"), ("column", "STRING"), ("type", "STRING"), ("description", "STRING")]
    meaning = next((c.description for _, c in having if c.description), "The catalogue has no description of it.")
    offers = [question for t, c in having for question in starters.about_column(t, c)]
    return _with_table("column", columns, rows, f"{having[0][1].name}: {meaning}", offers[:OFFERS])


def _dates(catalogue: Catalogue, tables: Sequence[Table]) -> Told:
    spans = _spans(catalogue, tables)
    rows = [(str(ref), *span) for ref, span in spans.items()]
    columns = [("table", "STRING"), ("from", "DATE"), ("to", "DATE")]
    offers = _offers(starters.one_per_dataset(tables))
    if not rows:
        return Told([TextBlock(text="No table here has a column of dates.")], offers=offers)
    sample = (
        ""
        if not any(catalogue.place.sample_end(table.ref) for table in tables)
        else " Over sample tables the day on which the sample ends counts as today."
    )
    return _with_table("dates", columns, rows, f"The days that the data covers.{sample}", offers)


def _no_such_table(catalogue: Catalogue, name: str) -> Told:
    known = ", ".join(table.ref.table for table in catalogue.main)
    near = [f"What is in {table.ref.table}?" for table in catalogue.nearest(name)]
    return Told([TextBlock(text=f"There is no table {name}. The tables are {known}.")], certain=near, found=False)


def _no_such_column(catalogue: Catalogue, name: str, table: Table | None) -> Told:
    where = f"{table.ref.table} has no column" if table else "No table has a column"
    tables = [table] if table else catalogue.main
    names = list(dict.fromkeys(column.name for t in tables for column in t.columns))
    near = [match for match, _, _ in process.extract(name, names, limit=3, score_cutoff=60)]
    hint = f" Close to it: {', '.join(near)}." if near else ""
    questions = [f"What does {column} mean?" for column in near]
    return Told([TextBlock(text=f"{where} {name}.{hint}")], certain=questions, found=False)


def _spans(catalogue: Catalogue, tables: Iterable[Table]) -> dict[TableRef, tuple[date, date]]:
    """First and last day of each table that has a column of dates, in one query."""
    dated = [(table, columns[0].name) for table in tables if (columns := starters.times(table)) and table.row_count]
    if not dated:
        return {}
    selects = [
        f"SELECT {index} AS at, DATE(MIN(`{column}`)) AS first, DATE(MAX(`{column}`)) AS last FROM `{table.ref}`"
        for index, (table, column) in enumerate(dated)
    ]
    rows: Rows = catalogue.warehouse.query("\nUNION ALL\n".join(selects))
    spans = {dated[at][0].ref: (first, last) for at, first, last in sorted(rows.rows) if first is not None}
    # A sample's last hours fall on the next day in UTC.
    return {ref: (first, min(last, catalogue.place.sample_end(ref) or last)) for ref, (first, last) in spans.items()}


def _with_table(
    name: str, columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Any, ...]], text: str, offers: list[str]
) -> Told:
    result = Result(
        name=name,
        columns=[Column(name=column, type=kind) for column, kind in columns],
        rows=[tuple(_cell(cell) for cell in row) for row in rows],
        row_count=len(rows),
        sql_origin="catalogue",
    )
    return Told([TextBlock(text=text), TableBlock(result=name)], [result], offers)


def _offers(tables: Iterable[Table]) -> list[str]:
    return list(islice(starters.interleaved(tables), OFFERS))


def _cell(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, (date, datetime)) else cell


def _type(column: TableColumn) -> str:
    return f"ARRAY<{column.type}>" if column.mode == "REPEATED" else column.type


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}. " if text else ""


def _names(ref: TableRef) -> tuple[str, str, str]:
    """What a table may be called, most exact first: whole reference, name, singular."""
    name = _plain(ref.table)
    return _plain(str(ref)), name, name.removesuffix("s")


def _plain(name: str) -> str:
    return name.casefold().replace("`", "").replace(" ", "_")
