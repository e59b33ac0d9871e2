"""From a question and its result to a chart, with the reason: the person's word wins where it can be drawn honestly."""

from __future__ import annotations

import re
from dataclasses import replace

from state_contracts import Chart, ChartKind, Preferences, Result

from ..facts.compute import exact_sum, number
from ..facts.moments import PARTS
from ..facts.names import forbids_sum, is_fraction, is_percent
from ..facts.phrases import Writer
from ..facts.roles import Role
from .asked import asked_for
from .check import check
from .describe import describe
from .draft import RELATION, TREND, Draft, Rest, Scene, label_of
from .spec import build

MOST_BARS = 30
MOST_SLICES = 7
MOST_SERIES = 8
MOST_POINTS = 5_000
_LONG_LABEL = 12
_SAME_SCALE = 25
_SAME_UNIT_SCALE = 1_000
"""How many times larger one measure may be than another beside it: more where they certainly have one unit."""
_LARGEST_REST = 3
"""How many times the longest bar the bar of all others may be, so that the others can still be seen."""
_SHARE = re.compile(r"\b(shares?|proportions?|percentages?|breakdown|make[- ]?up|composition)\b", re.I)
_COMPARE = re.compile(r"\b(compar\w+|versus|vs\.?|differ\w*)\b", re.I)
_WORDS: dict[ChartKind, str] = {
    "bar": "bar chart", "grouped_bar": "grouped bar chart", "stacked_bar": "stacked bar chart", "line": "line chart",
    "multi_line": "chart with several lines", "scatter": "scatter plot", "pie": "pie chart", "card": "single number",
}  # fmt: skip


def choose(question: str, result: Result) -> Chart:
    """The chart of a result, its specification with the data inside. Kind `none` gives the reason alone."""
    scene = Scene(question, result)
    draft = decide(scene)
    if draft.kind == "none":
        return Chart(kind="none", reason=draft.reason, result=result.name)
    chart = Chart(
        kind=draft.kind, reason=draft.reason, result=result.name, spec=build(draft, result), alt=describe(draft, result)
    )
    problems = check(chart, result)
    return Chart(kind="none", reason=f"The chart was held back. {problems[0]}") if problems else chart


def decide(scene: Scene) -> Draft:
    """What to draw of a scene."""
    wanted = asked_for(scene.question)
    if wanted == "none":
        return _none("You asked for no chart.")
    if not scene.result.rows:
        return _none("No rows match, so there is nothing to draw.")
    if scene.result.sql_origin == "catalogue":
        return _none("This describes tables; it holds nothing to compare.")
    natural = _natural(scene)
    fits = wanted is None or wanted == natural.kind or _drawn_as(wanted, natural.kind)
    drawn = natural if fits or wanted is None else _as_asked(scene, wanted, natural)
    return drawn if scene.reach.complete else replace(drawn, notes=(*drawn.notes, _partial(scene)))


def _partial(scene: Scene) -> str:
    return f"Only {scene.count:,} of {scene.result.row_count:,} rows are here"


def _drawn_as(wanted: ChartKind, kind: ChartKind) -> bool:
    """Whether a kind is what its wider name asks for: several lines are a line chart."""
    return (wanted, kind) in (("line", "multi_line"), ("bar", "grouped_bar"), ("bar", "stacked_bar"))


def _as_asked(scene: Scene, wanted: ChartKind, natural: Draft) -> Draft:
    problem, drawn = _forced(scene, wanted)
    if drawn is not None:
        return drawn
    instead = f"here is a {_WORDS[natural.kind]}" if natural.kind in _WORDS else f"there is no chart. {natural.reason}"
    reason = f"Not drawn as a {_WORDS[wanted]}: {problem}; {instead}."
    return replace(natural, reason=reason.replace("..", "."))


def _forced(scene: Scene, wanted: ChartKind) -> tuple[str, Draft | None]:
    reason = f"You asked for a {_WORDS[wanted]}."
    if not scene.measures:
        return "there is no number to draw", None
    match wanted:
        case "pie":
            problem = _no_pie(scene)
            return problem, None if problem else _pie(scene, reason)
        case "line" | "multi_line":
            return _line_as_asked(scene, reason)
        case "scatter":
            return _scatter_as_asked(scene, reason)
        case "stacked_bar":
            return _stack_as_asked(scene, reason)
        case "grouped_bar":
            return (
                ("", _groups(scene, "grouped_bar", reason))
                if len(scene.keys) == 2
                else ("there is only one grouping", None)
            )
    return _bar_as_asked(scene, reason)


def _line_as_asked(scene: Scene, reason: str) -> tuple[str, Draft | None]:
    if len(scene.keys) == 1 and scene.unique(scene.keys[0]):
        return "", _line(scene, scene.keys[0], reason)
    lines = _lines(scene, reason)
    return "several rows share a place on the axis", lines


def _scatter_as_asked(scene: Scene, reason: str) -> tuple[str, Draft | None]:
    if len(scene.measures) < 2:
        return "it needs two numbers a row", None
    return "", _scatter(scene, reason)


def _stack_as_asked(scene: Scene, reason: str) -> tuple[str, Draft | None]:
    if len(scene.keys) != 2 or not scene.unique(*scene.keys):
        return "it needs two groupings", None
    if not _adds_up(scene, scene.measures[0]):
        return "its values do not add up", None
    return "", _groups(scene, "stacked_bar", reason)


def _bar_as_asked(scene: Scene, reason: str) -> tuple[str, Draft | None]:
    if len(scene.keys) == 2 and scene.unique(*scene.keys):
        return "", _groups(scene, "grouped_bar", reason)
    if scene.keys and scene.unique(*scene.keys):
        return "", _bars(scene, tuple(scene.keys), reason)
    return "several rows share a name", None


def _natural(scene: Scene) -> Draft:
    if scene.count == 1:
        return _card(scene)
    if not scene.measures:
        return _none("The rows hold no number to compare.")
    if len(scene.measures) > 1 and RELATION.search(scene.question) and not scene.roles.shape.grouped:
        return _scatter(scene, "You asked how two numbers go together.")
    if scene.is_list:
        return _none("This is a list of records, best read as a table.")
    if len(scene.keys) > 2 or not scene.keys:
        return _unkeyed(scene)
    if not scene.unique(*scene.keys):
        return _repeated(scene)
    return _one_key(scene, scene.keys[0]) if len(scene.keys) == 1 else _two_keys(scene)


def _card(scene: Scene) -> Draft:
    shown = scene.measures or scene.roles.of("moment") or scene.roles.all[:1]
    listing = len(scene.roles.all) > 4 and not scene.roles.shape.grouped
    if listing or not shown or scene.cells(shown[0])[0] is None:
        return _none("There is one record and nothing to compare." if listing else "There is no value to show.")
    keys = tuple(scene.roles.keys) if scene.measures else ()
    return Draft("card", "One number is best read as a number.", (0,), keys, (shown[0],))


def _unkeyed(scene: Scene) -> Draft:
    if len(scene.keys) > 2:
        if scene.unique(*scene.keys) and scene.count <= MOST_BARS and scene.roles.shape.grouped:
            return _bars(scene, tuple(scene.keys), "One bar for each combination.")
        return _none("The rows differ in too many ways for one chart.")
    if len(scene.measures) >= 2:
        return _scatter(scene, "Two numbers a row: a point for each shows how they go together.")
    return _none("There is one column of numbers and nothing to compare them by.")


def _repeated(scene: Scene) -> Draft:
    if len(scene.measures) >= 2 and not scene.roles.shape.grouped:
        return _scatter(scene, "Two numbers a row: a point for each shows how they go together.")
    return _none("Several rows share a name, so a bar or a line would mix them up.")


def _one_key(scene: Scene, key: Role) -> Draft:
    if key.kind == "time":
        ranked = scene.roles.shape.limit is not None and scene.reach.sorted_by == scene.measures[0].name
        few = scene.count < 3 and not TREND.search(scene.question)
        if few or ranked or (key.grain in PARTS and None in scene.cells(key)):
            return _bars(scene, (key,), "Bars compare moments that are few or ranked.")
        return _line(scene, key, "A line shows the course over time.")
    if len(scene.measures) == 2 and RELATION.search(scene.question):
        return _scatter(scene, "You asked how two numbers go together.")
    if _SHARE.search(scene.question) and scene.count <= 6 and not _no_pie(scene, strict=True):
        return _pie(scene, "A few parts of one whole.")
    return _bars(scene, (key,), "Bars compare groups.")


def _two_keys(scene: Scene) -> Draft:
    times = [key for key in scene.keys if key.kind == "time"]
    if len(times) == 1 and scene.distinct(times[0]) >= 3:
        lines = _lines(scene, "A line for each group shows the course over time.")
        if lines:
            return lines
    compares = bool(_COMPARE.search(scene.question))
    stacks = _adds_up(scene, scene.measures[0]) and not compares
    kind: ChartKind = "stacked_bar" if stacks else "grouped_bar"
    reason = "The parts of each bar add up." if stacks else "Bars side by side compare two groupings."
    return _groups(scene, kind, reason)


def _line(scene: Scene, key: Role, reason: str) -> Draft:
    measures, notes = _comparable(scene)
    kind: ChartKind = "multi_line" if len(measures) > 1 else "line"
    kept, notes = _capped(*_along(scene, key, notes))
    return Draft(kind, reason, kept, (key,), measures, notes=notes)


def _along(scene: Scene, key: Role, notes: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
    """The rows in the order of a line; a row without a moment has no place on it, which is said."""
    if key.kind != "time":
        return list(range(scene.count)), notes
    moments = scene.cells(key)
    rows = [i for i in scene.by_calendar(key) if moments[i] is not None]
    missing = scene.count - len(rows)
    return rows, (*notes, f"Without {missing} rows that have no {key.label}") if missing else notes


def _lines(scene: Scene, reason: str) -> Draft | None:
    """A line for each group, along a time or along the key with more values."""
    if len(scene.keys) != 2 or not scene.unique(*scene.keys):
        return None
    along = next((key for key in scene.keys if key.kind == "time"), None) or max(scene.keys, key=scene.distinct)
    series = next(key for key in scene.keys if key is not along)
    order, dateless = _along(scene, along, ())
    rows, notes = _largest_series(scene, series, order)
    rows, notes = _capped(rows, (*notes, *dateless))
    return Draft("multi_line", reason, rows, (along,), (scene.measures[0],), series, notes=notes)


def _groups(scene: Scene, kind: ChartKind, reason: str) -> Draft:
    x, series = sorted(scene.keys, key=lambda key: (key.kind == "time", -scene.distinct(key)))
    if scene.distinct(x) > MOST_BARS or scene.distinct(series) > 2 * MOST_SERIES:
        if scene.count > MOST_BARS * MOST_SERIES:
            return _none("There are too many combinations for one chart.")
        return _bars(scene, (x, series), "The largest combinations.")
    rows, notes = _largest_series(scene, series, _group_order(scene, x, scene.measures[0]))
    return Draft(kind, reason, rows, (x,), (scene.measures[0],), series, _is_long(scene, (x,)), notes)


def _group_order(scene: Scene, x: Role, measure: Role) -> list[int]:
    """The rows group by group: as the query sorted the groups, by the calendar, or the largest group first."""
    if scene.reach.sorted_by == x.name:
        return list(range(scene.count))
    if x.kind == "time" or x.whole:
        return scene.by_calendar(x)
    sizes: dict[str, float] = {}
    for cell, value in zip(scene.cells(x), scene.cells(measure), strict=True):
        size, found = sizes.get(repr(cell), 0.0), float(number(value) or 0)
        sizes[repr(cell)] = size + found if measure.additive else max(size, found)
    cells = scene.cells(x)
    return sorted(range(scene.count), key=lambda i: (-sizes[repr(cells[i])], repr(cells[i])))


def _largest_series(scene: Scene, series: Role, order: list[int]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    cells = scene.cells(series)
    largest: dict[str, None] = dict.fromkeys(label_of([cells[i]]) for i in scene.by_value(scene.measures[0]))
    if len(largest) <= MOST_SERIES:
        return tuple(order), ()
    kept = set(list(largest)[:MOST_SERIES])
    note = f"The {MOST_SERIES} of {len(largest)} with the highest values"
    return tuple(i for i in order if label_of([cells[i]]) in kept), (note,)


def _bars(scene: Scene, keys: tuple[Role, ...], reason: str) -> Draft:
    measures, notes = _comparable(scene)
    order = _drawing_order(scene, keys[0], measures[0]) if len(keys) == 1 else list(range(scene.count))
    long = _is_long(scene, keys)
    if len(order) <= MOST_BARS:
        kind: ChartKind = "grouped_bar" if len(measures) > 1 else "bar"
        return Draft(kind, reason, tuple(order), keys, measures, None, long, notes)
    return _top_bars(scene, keys, measures[0], reason)


def _top_bars(scene: Scene, keys: tuple[Role, ...], measure: Role, reason: str) -> Draft:
    order = list(range(scene.count)) if scene.reach.sorted_by == measure.name else scene.by_value(measure)
    kept, left = tuple(order[:MOST_BARS]), tuple(order[MOST_BARS:])
    which = "first" if scene.reach.sorted_by == measure.name and not scene.reach.descending else "largest"
    note = f"The {MOST_BARS} {which} of {scene.result.row_count:,}"
    if not _adds_up(scene, measure):
        return Draft("bar", reason, kept, keys, (measure,), None, True, (note,))
    rest = Rest(f"other ({len(left):,})", scene.rest_of(measure, left), left)
    if rest.value <= _LARGEST_REST * max(scene.numbers(measure)):
        note += f"; the other {len(left):,} are added up"
        return Draft("bar", reason, kept, keys, (measure,), None, True, (note,), rest)
    together = Writer.of(Preferences()).number(rest.value, measure.unit)
    note += f"; the other {len(left):,} together make {together}, too much to draw beside them"
    return Draft("bar", reason, kept, keys, (measure,), None, True, (note,))


def _pie(scene: Scene, reason: str) -> Draft:
    measure = scene.measures[0]
    order = scene.by_value(measure)
    kept, left = tuple(order[:MOST_SLICES]), tuple(order[MOST_SLICES:])
    if not left:
        return Draft("pie", reason, kept, tuple(scene.keys), (measure,))
    rest = Rest(f"other ({len(left)})", scene.rest_of(measure, left), left)
    note = f"The {len(kept)} largest of {len(order)}; the other {len(left)} are added up"
    return Draft("pie", reason, kept, tuple(scene.keys), (measure,), notes=(note,), rest=rest)


def _no_pie(scene: Scene, *, strict: bool = False) -> str:
    """Why the values are no parts of one whole; empty when they are."""
    measure = scene.measures[0]
    numbers = scene.numbers(measure)
    if not scene.keys or not scene.unique(*scene.keys):
        return "there are no named parts"
    if len(numbers) < scene.count:
        return "a part without a value has no slice"
    if min(numbers) < 0:
        return "a slice cannot be negative"
    if not any(numbers):
        return "all parts are zero"
    if not scene.reach.whole:
        return "the rows are not the whole"
    if _sums_to_one(scene, measure) or (measure.additive if strict else not _is_level(measure)):
        return ""
    return f"values of {measure.label} do not add up to a whole"


def _is_level(role: Role) -> bool:
    return role.aggregate in ("average", "ratio", "minimum", "maximum", "window", "distinct") or (
        not role.additive and forbids_sum(role.name)
    )


def _sums_to_one(scene: Scene, role: Role) -> bool:
    total = float(exact_sum(scene.numbers(role)))
    fractions = role.unit.kind in ("fraction", "percent") or is_fraction(role.name) or is_percent(role.name)
    return fractions and (abs(total - 1) < 0.005 or abs(total - 100) < 0.5)


def _adds_up(scene: Scene, role: Role) -> bool:
    numbers = scene.numbers(role)
    return role.additive and scene.reach.whole and bool(numbers) and min(numbers) >= 0


def _scatter(scene: Scene, reason: str) -> Draft:
    series = next((key for key in scene.roles.of("category") if 1 < scene.distinct(key) <= MOST_SERIES), None)
    rows, notes = _capped(list(range(scene.count)), ())
    return Draft("scatter", reason, rows, (_as_declared(scene, 0),), (_as_declared(scene, 1),), series, notes=notes)


def _as_declared(scene: Scene, i: int) -> Role:
    """The i-th measure in column order: the first named goes to the x axis."""
    return sorted(scene.measures, key=lambda role: role.position)[i]


def _capped(rows: list[int] | tuple[int, ...], notes: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if len(rows) <= MOST_POINTS:
        return tuple(rows), notes
    return tuple(rows[:MOST_POINTS]), (*notes, f"The first {MOST_POINTS:,} of {len(rows):,} rows")


def _comparable(scene: Scene) -> tuple[tuple[Role, ...], tuple[str, ...]]:
    """The measures that can share an axis with the main one: same unit, similar size."""
    main, *others = scene.measures
    size = _size(scene, main)
    same = _SAME_SCALE if main.unit.kind in ("number", "fraction") else _SAME_UNIT_SCALE
    fitting = [role for role in others if role.unit == main.unit and _similar(size, _size(scene, role), same)]
    left = [role.label for role in others if role not in fitting]
    kept = sorted([main, *fitting], key=lambda role: role.position)[:4]
    return tuple(kept), ((f"Without {' and '.join(left)}, of another unit or size",) if left else ())


def _size(scene: Scene, role: Role) -> float:
    return max((abs(float(value)) for value in scene.numbers(role)), default=0.0)


def _similar(a: float, b: float, scale: float) -> bool:
    return a > 0 and b > 0 and max(a, b) / min(a, b) <= scale


def _drawing_order(scene: Scene, key: Role, measure: Role) -> list[int]:
    """The query's own order where it has one; else the calendar's, the numbers', or the largest first."""
    if scene.roles.shape.order:
        return list(range(scene.count))
    if key.kind == "time" or key.whole:
        return scene.by_calendar(key)
    return scene.by_value(measure)


def _is_long(scene: Scene, keys: tuple[Role, ...]) -> bool:
    if keys[0].kind == "time":
        return False
    labels = [label_of([row[key.position] for key in keys]) for row in scene.result.rows]
    return max(map(len, labels)) > _LONG_LABEL or len(set(labels)) > 12


def _none(reason: str) -> Draft:
    return Draft("none", reason)
