"""The same rules over schemas that the planner has never seen: keys guessed, fan-out guarded, names quoted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest
from same import same
from scratch import ScratchWarehouse

from askhouse.emulator.planner import AuthoredContext, Clock, Example, GlossaryTerm, Planned, Planner, build_layer

CLINIC = """
CREATE TABLE doctors (doctor_id INTEGER, name VARCHAR, specialty VARCHAR);
INSERT INTO doctors VALUES (1, 'Ana Souza', 'Cardiology'),
  (2, 'Budi Hartono', 'Surgery'), (3, 'Chloé Petit', 'Surgery');
CREATE TABLE patients (patient_id INTEGER, full_name VARCHAR, city VARCHAR, birth_date DATE, weight DOUBLE);
INSERT INTO patients VALUES (10, 'Udo', 'Köln', '1960-05-01', 80.5), (11, 'Rita', 'Bonn', '1990-02-01', 61),
  (12, 'Ayu', 'Köln', '2001-03-09', 55), (13, 'Tom', 'Bonn', '1980-01-01', 90);
CREATE TABLE visits (id INTEGER, doctor_id INTEGER, patient_id INTEGER, visit_date DATE,
  fee DECIMAL(10, 2), outcome VARCHAR);
INSERT INTO visits VALUES (1, 1, 10, '2025-01-05', 100, 'cured'), (2, 1, 10, '2025-02-05', 50, 'open'),
  (3, 2, 11, '2025-02-07', 300, 'cured'),
  (4, 2, 12, '2025-03-01', 200, 'open'), (5, 1, 11, '2024-12-30', 70, 'cured');
CREATE TABLE payments (id INTEGER, visit_id INTEGER, amount DECIMAL(10, 2), method VARCHAR);
INSERT INTO payments VALUES (1, 1, 60, 'card'), (2, 1, 40, 'cash'), (3, 3, 300, 'card'),
  (4, 4, 100, 'card'), (5, 4, 100, 'card');
"""

ODD = """
CREATE TABLE "Bestände" ("年" INTEGER, "3pointplay" DOUBLE, "Select" VARCHAR, "alter" INTEGER, "Größe in cm" DOUBLE);
INSERT INTO "Bestände" VALUES (2024, 1.5, 'a', 30, 170), (2025, 2.5, 'b', 40, 180), (2025, 3.5, 'a', 50, 190);
"""


def _planner(script: str, context: AuthoredContext | None = None) -> tuple[Planner, Any]:
    connection = duckdb.connect()
    connection.execute(script)
    warehouse = ScratchWarehouse(connection, dataset="test")
    layer = build_layer(warehouse, warehouse.table_refs(), context)
    return Planner(layer, Clock(datetime(2025, 3, 10, tzinfo=UTC))), warehouse


@pytest.fixture(scope="module")
def clinic() -> tuple[Planner, Any]:
    return _planner(CLINIC)


ANSWERS = {
    "How many visits did each doctor have?": [("Ana Souza", 3), ("Budi Hartono", 2)],
    "average fee by specialty": [("Cardiology", 220 / 3), ("Surgery", 250)],
    "total fee in February 2025": [(350,)],
    "How many patients from Köln had a visit?": [(2,)],
    "Which doctors had no visits?": [("Chloé Petit",)],
    "How many patients never visited?": [(1,)],
    "How many patients had more than one visit?": [(2,)],
    "visits per month since January 2025": [("2025-01-01", 1), ("2025-02-01", 2), ("2025-03-01", 1)],
    "What share of visits was cured?": [(0.6,)],
    "Names of patients in Bonn": [("Rita",), ("Tom",)],
    "Which patient has the highest weight?": [("Tom",)],
    "How many visits by outcome without open?": [("cured", 3)],
    "Total amount paid by card": [(560,)],
    "total fee of visits paid by card": [(600,)],
    "number of doctors with a visit in 2024": [(1,)],
}


@pytest.mark.parametrize(("question", "rows"), ANSWERS.items(), ids=str)
def test_a_clinic(clinic: tuple[Planner, Any], question: str, rows: list[tuple[Any, ...]]) -> None:
    planner, warehouse = clinic
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    got = warehouse.query(reading.sql).rows
    assert same(rows, got), (reading.lead, reading.sql, got)


def test_067_068_joins_never_count_a_row_twice(clinic: tuple[Planner, Any]) -> None:
    planner, warehouse = clinic
    reading = planner.read("total fee by method")  # a visit has several payments
    assert isinstance(reading, Planned), reading
    assert same([("card", 600), ("cash", 100)], warehouse.query(reading.sql).rows), reading.sql
    both = planner.read("total fee and total amount by doctor")
    assert isinstance(both, Planned), both
    assert same([("Ana Souza", 220, 100), ("Budi Hartono", 500, 500)], warehouse.query(both.sql).rows), both.sql


def test_links_are_guessed_from_names_and_values(clinic: tuple[Planner, Any]) -> None:
    planner, _ = clinic
    links = {(one.child.split(".")[-1], one.column, one.parent.split(".")[-1]) for one in planner.layer.links}
    assert links == {
        ("visits", "doctor_id", "doctors"),
        ("visits", "patient_id", "patients"),
        ("payments", "visit_id", "visits"),
    }


def test_041_043_044_odd_names_are_quoted() -> None:
    planner, warehouse = _planner(ODD)
    for question, rows in {
        "average Größe in cm by Select": [("a", 180), ("b", 180)],
        "maximum 3pointplay": [(3.5,)],
        "average alter": [(40,)],
    }.items():
        reading = planner.read(question)
        assert isinstance(reading, Planned), (question, reading)
        assert same(rows, warehouse.query(reading.sql).rows), reading.sql


def test_authored_context_carries_meaning() -> None:
    context = AuthoredContext(
        synonyms={"local.test.doctors": ("medics",), "local.test.visits.fee": ("honorarium",)},
        glossary=(GlossaryTerm("revenue", "sum of fee"),),
        examples=(Example("The usual one?", "SELECT 1"),),
    )
    planner, warehouse = _planner(CLINIC, context)
    for question, rows in {
        "How many medics are there?": [(3,)],
        "Total honorarium by medic": [("Ana Souza", 220), ("Budi Hartono", 500)],
        "Revenue in 2024": [(70,)],
    }.items():
        reading = planner.read(question)
        assert isinstance(reading, Planned), (question, reading)
        assert same(rows, warehouse.query(reading.sql).rows), reading.sql
    example = planner.read("the usual one")
    assert isinstance(example, Planned) and example.sql == "SELECT 1" and example.origin == "matched_example"


def test_058_days_begin_in_the_persons_time_zone() -> None:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE TABLE logins (id INTEGER, login_at TIMESTAMPTZ)")
    connection.execute(
        "INSERT INTO logins VALUES (1, '2025-03-09 03:00:00+00'), (2, '2025-03-09 12:00:00+00'), "
        "(3, '2025-03-10 01:00:00+00')"
    )
    warehouse = ScratchWarehouse(connection, dataset="test")
    evening = Clock(datetime(2025, 3, 10, 1, 13, tzinfo=UTC), "America/Los_Angeles")  # still the 9th over there
    planner = Planner(build_layer(warehouse, warehouse.table_refs()), evening)
    reading = planner.read("How many logins today?")
    assert isinstance(reading, Planned)
    assert warehouse.query(reading.sql).rows == [(2,)]
