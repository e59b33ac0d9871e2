"""From a question to its SQL, by rule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from measure import Figure, Place, percentile, rounded

from askhouse.emulator.planner import Clock, Planned, Planner, build_layer
from askhouse.warehouse.duckdb import open_warehouse

QUESTIONS = (
    "How many flights left each airport?",
    "What was the average departure delay by month?",
    "Which ten carriers had the most flights?",
    "How many flights were there per day in July 2013?",
    "What share of flights was delayed by more than an hour?",
    "Average arrival delay of flights from JFK by carrier",
    "How many planes are there by manufacturer?",
    "What is the total revenue by category?",
    "How many users are there by country?",
    "Total sale price of order items by month in 2025",
    "Top 5 brands by number of order items",
    "How many orders are there by status?",
)
ROUNDS = 6


def figures(place: Place) -> Iterator[Figure]:
    """Over all sample tables: reading them once, then each question as a new conversation."""
    for when in ("the first time", "in a later process"):
        warehouse = open_warehouse(place.home)  # what the planner keeps in memory it keeps for each opened warehouse
        refs = warehouse.table_refs()
        start, work = time.perf_counter(), time.process_time()
        layer = build_layer(warehouse, refs, None)
        milliseconds = (time.perf_counter() - start) * 1000
        note = f"(work {(time.process_time() - work) * 1000:.3g} ms; {len(refs)} tables)"
        yield Figure(f"planner: know the tables, {when}", rounded(milliseconds), "ms", note=note)
    planner = Planner(layer, Clock(None, "UTC"))
    clocks, works, planned = [], [], 0
    for round_ in range(ROUNDS + 1):
        for question in QUESTIONS:
            clock, work = time.perf_counter(), time.process_time()
            reading = planner.read(question)
            if round_:  # the first round warms up
                clocks.append((time.perf_counter() - clock) * 1000)
                works.append((time.process_time() - work) * 1000)
                planned += isinstance(reading, Planned)
    if not planned:
        raise RuntimeError("no question was planned")
    slowest = f"slowest of 20: {percentile(clocks, 0.95):.3g} ms"
    note = f"(work {median(works):.3g} ms; {slowest}; {planned} of {len(clocks)} planned)"
    yield Figure("planner: a question's plan, SQL and follow-ups", rounded(median(clocks)), "ms", note=note)
