"""One table as a spreadsheet gives it: no keys, spaces in names, missing values; answers by independent SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest
from same import same
from scratch import ScratchWarehouse

from askhouse.emulator.planner import Clarification, Clock, Planned, Planner, Reading, Refusal, build_layer

SALES = """
CREATE TABLE sales_2025 AS SELECT i AS "Order ID", DATE '2025-01-01' + (i * 37 % 330)::INT AS "Order Date",
  ['North', 'South', 'East', 'West'][1 + i % 4] AS "Region",
  ['Laptop', 'Phone', 'Desk', 'Chair', 'Lamp'][1 + (i * 7) % 5] AS "Product",
  (10 + (i * 13) % 90)::DOUBLE AS "Unit Price", 1 + i % 5 AS "Quantity", 10.5 + (i * 17) % 400 AS "Sales Amount",
  (i % 3) * 0.05 AS "Discount", ['Web', 'Store', NULL][1 + i % 3] AS "Channel", i % 11 = 0 AS "Is Returned"
FROM range(500) t(i);
CREATE TABLE employees AS SELECT i AS employee_id, 'Person ' || i AS name,
  ['Sales', 'HR', 'IT'][1 + i % 3] AS department,
  30000 + (i * 997) % 50000 AS salary, DATE '2015-01-01' + (i * 91)::INT AS hire_date,
  ['active', 'left'][1 + (i % 7 = 0)::INT] AS status
FROM range(60) t(i);
"""

ANSWERS = {
    "total sales amount by region": 'SELECT "Region", SUM("Sales Amount") FROM sales_2025 GROUP BY 1',
    "sales by month": """SELECT date_trunc('month', "Order Date"), SUM("Sales Amount") FROM sales_2025 GROUP BY 1""",
    "top 3 products by sales amount": """SELECT "Product", SUM("Sales Amount")
        FROM sales_2025 GROUP BY 1 ORDER BY 2 DESC LIMIT 3""",
    "which region has the highest sales?": """SELECT "Region"
        FROM sales_2025 GROUP BY 1 ORDER BY SUM("Sales Amount") DESC LIMIT 1""",
    "how many orders were returned?": 'SELECT COUNT(*) FROM sales_2025 WHERE "Is Returned"',
    "what share of orders was returned?": 'SELECT AVG("Is Returned"::INT) FROM sales_2025',
    "sales of laptops in the North": """SELECT SUM("Sales Amount")
        FROM sales_2025 WHERE "Product" = 'Laptop' AND "Region" = 'North'""",
    "sales without web": """SELECT SUM("Sales Amount") FROM sales_2025 WHERE "Channel" IS DISTINCT FROM 'Web'""",
    "quantity sold by product": 'SELECT "Product", SUM("Quantity") FROM sales_2025 GROUP BY 1',
    "how many orders have a discount above 5%?": 'SELECT COUNT(*) FROM sales_2025 WHERE "Discount" > 0.05',
    "sales in 2025 by quarter": """SELECT date_trunc('quarter', "Order Date"), SUM("Sales Amount")
        FROM sales_2025 GROUP BY 1""",
    "number of orders in June and July": """SELECT date_trunc('month', "Order Date"), COUNT(*) FROM sales_2025
        WHERE month("Order Date") IN (6, 7) GROUP BY 1""",
    "ratio of returned orders to all orders": 'SELECT SUM("Is Returned"::INT) / COUNT(*) FROM sales_2025',
    "ratio of orders in the North to orders in the South": """SELECT COUNT(*) FILTER ("Region" = 'North')
        / COUNT(*) FILTER ("Region" = 'South') FROM sales_2025""",
    "What is the ratio of employees to orders?": """SELECT (SELECT COUNT(*) FROM employees)
        / (SELECT COUNT(*) FROM sales_2025)""",
    "revenue by channel": 'SELECT "Channel", SUM("Sales Amount") FROM sales_2025 GROUP BY 1',
    "total salary of the sales department": "SELECT SUM(salary) FROM employees WHERE department = 'Sales'",
    "how many employees left?": "SELECT COUNT(*) FROM employees WHERE status = 'left'",
    "how many active employees by department": """SELECT department, COUNT(*)
        FROM employees WHERE status = 'active' GROUP BY 1""",
    "list employees with salary over 70000": "SELECT employee_id, name FROM employees WHERE salary > 70000",
    "employees hired after 2020": "SELECT COUNT(*) FROM employees WHERE hire_date >= '2021-01-01'",
    "top 2 products by quantity in each region": """SELECT "Region", "Product", SUM("Quantity") q
        FROM sales_2025 GROUP BY 1, 2
        QUALIFY row_number() OVER (PARTITION BY "Region" ORDER BY q DESC) <= 2""",
}


@pytest.fixture(scope="module")
def flat() -> tuple[Planner, ScratchWarehouse, Callable[[str], list[tuple[Any, ...]]]]:
    connection = duckdb.connect()
    connection.execute(SALES)
    warehouse = ScratchWarehouse(connection, dataset="my_data")
    planner = Planner(build_layer(warehouse, warehouse.table_refs()), Clock(datetime(2026, 12, 1, tzinfo=UTC)))
    return planner, warehouse, lambda sql: connection.execute(sql).fetchall()


@pytest.mark.parametrize(("question", "sql"), ANSWERS.items(), ids=list(ANSWERS))
def test_answers(flat: Any, question: str, sql: str) -> None:
    planner, warehouse, oracle = flat
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    assert same(oracle(sql), warehouse.query(reading.sql).rows), (reading.lead, reading.sql)


NOT_ANSWERED: dict[str, type[Reading]] = {
    "salary by department": Clarification,  # the average or the total?
    "top 5 regions": Clarification,  # by what?
    "sales last month": Clarification,  # the data ends a year before
    "how many people left?": Refusal,
    "highest paid employee": Refusal,
    "how many orders were shipped?": Refusal,
    "sales by weather": Refusal,
}


@pytest.mark.parametrize(("question", "kind"), NOT_ANSWERED.items(), ids=list(NOT_ANSWERED))
def test_no_guess(flat: Any, question: str, kind: type[Any]) -> None:
    assert isinstance(flat[0].read(question), kind)
