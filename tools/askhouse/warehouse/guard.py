"""What a query may do, and errors in the words of BigQuery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from ..errors import AskhouseError, InvalidQueryError, QueryLimitError, StorageError, TableNotFoundError
from .base import TableRef


def nearest_table_error(ref: TableRef, known: Iterable[TableRef]) -> TableNotFoundError:
    """The error for a table that is not there, naming the nearest one that is."""
    names = {str(table): table for table in known}
    near = get_close_matches(str(ref), names, n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]}?" if near else f"The tables are {', '.join(sorted(names))}."
    return TableNotFoundError(f"Table not found: {ref}.", remedy)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest to a misspelt one as `; Did you mean x?`, or nothing."""
    folded = {word.casefold(): word for word in known}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f"; Did you mean {folded[near[0]]}?" if near else ""


@contextmanager
def query_error() -> Iterator[None]:
    """Turn what DuckDB says of a query into our errors, in one line."""
    import duckdb

    try:
        yield
    except AskhouseError:
        raise
    except duckdb.OutOfMemoryException as error:
        raise QueryLimitError("Resources exceeded: the query needs too much memory.", "Ask for fewer rows.") from error
    except duckdb.InterruptException:
        raise
    except duckdb.IOException as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise StorageError(f"The data cannot be read: {said}.", "`askhouse doctor` tells what to do.") from error
    except duckdb.Error as error:
        raise InvalidQueryError(in_bigquery_words(str(error))) from error


_WORDS = (
    (r"WHERE clause cannot contain aggregates.*", "Aggregate function not allowed in WHERE clause"),
    (r"WHERE clause cannot contain window functions.*", "Analytic function not allowed in WHERE clause"),
    (r"aggregate function calls cannot be nested.*", "Aggregations of aggregations are not allowed"),
    (r"More than one row returned by a subquery.*", "Scalar subquery produced more than one element"),
    (r"date field value out of range: \"(.*?)\".*", r"Invalid date: '\1'"),
    (r"timestamp field value out of range: \"(.*?)\".*", r"Invalid timestamp: '\1'"),
    (r"Could not parse string \"(.*?)\" according to format specifier.*", r"Failed to parse input string '\1'"),
    (r"Unknown TimeZone '(.*?)'.*", r"Invalid time zone: \1"),
    (r"Type DOUBLE with value (\S+) can't be cast.*", r"int64 out of range: \1"),
    (r"Overflow in (\w+) of INT64 \((.*?)\)!?$", r"int64 overflow: \2"),
    (r"Type INT128 with value (\S+) can't be cast.*", r"int64 overflow: \1"),
    (r"Could not convert string '(.*)' to INT64", r"Bad int64 value: \1"),
    (r"Could not convert string '(.*)' to DOUBLE", r"Bad double value: \1"),
    (r"Could not convert string '(.*)' to BOOL", r"Bad bool value: \1"),
    (r"invalid date field format: \"(.*?)\".*", r"Invalid date: '\1'"),
    (r"invalid timestamp field format: \"(.*?)\".*", r"Invalid timestamp: '\1'"),
    (
        r"column \"?bq_\d+\"? must appear in the GROUP BY clause.*",
        "SELECT list expression references a column which is neither grouped nor aggregated",
    ),
    (
        r"column \"?([^\"]+?)\"? must appear in the GROUP BY clause.*",
        r"SELECT list expression references column \1 which is neither grouped nor aggregated",
    ),
)


def in_bigquery_words(text: str) -> str:
    """DuckDB's message as BigQuery would put it where the two are known to correspond."""
    line = re.sub(r"^[\w ]*?Error: ", "", text.strip().splitlines()[0])
    for pattern, words in _WORDS:
        if re.search(pattern, line):
            return re.sub(f".*?{pattern}", words, line)
    return line
