"""Reads questions over one semantic layer: plans them, asks back, or refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from .choose import Chooser, OtherDayError, RefusedError, UndecidedError
from .clock import Clock
from .describe import lead
from .doubts import Doubts, settled
from .followup import adds, continued, leans
from .happened import Happened
from .joins import unconnected
from .language import other_language
from .lexicons import english
from .mentions import candidates_of
from .parse import parse
from .periods import OutOfCalendarError
from .plan import AnyOf, ByTime, Condition, During, Has, OneOf, Plan, Within
from .ratios import halves, plan_ratio
from .readings import Clarification, PastTurn, Planned, Reading, Refusal
from .resolve import Resolver
from .scope import NoPathError
from .semantics import SemanticLayer
from .shares import divide
from .slots import MeasureSlot, Slots, Way
from .sql import to_sql
from .terms import Scanned, Term, scan
from .words import normal, tokenize

LONGEST = 2_000
_TURNS = 24
_SHORT = 5
_PLAIN = ("empty", "too_long", "language", "write", "cause", "forecast", "catalogue")
"""Refusals that say all there is to say, whatever question back is open."""


@dataclass
class Understood:
    """A question that was planned, with all that a follow-up may change."""

    question: str
    plan: Plan
    assumed: tuple[str, ...]
    chosen: dict[str, str] = field(default_factory=dict)


@dataclass
class Pending:
    """A question back that waits for its answer."""

    question: str
    key: str
    options: tuple[str, ...]
    chosen: dict[str, str]
    text: str = ""
    kept: tuple[str, ...] = ()
    """What was added while it was open ("and by month?"), for when it is answered."""


@dataclass
class Thread:
    """What the turns so far left: the last understood question, and a question back that is open."""

    last: Understood | None = None
    pending: Pending | None = None
    turns: int = 0
    """Turns before this question, understood or not."""


class Planner:
    """Plans questions over one layer.

    Args:
        layer: the tables that may be asked.
        clock: what counts as today.
        returns_rows: whether a SQL returns rows; questions offered beside a refusal are tried by it.
    """

    def __init__(
        self, layer: SemanticLayer, clock: Clock | None = None, *, returns_rows: Callable[[str], bool] | None = None
    ) -> None:
        self.layer = layer
        self.clock = clock or Clock()
        self.returns_rows = returns_rows or (lambda sql: True)

    def read(self, question: str, history: Sequence[PastTurn] = ()) -> Reading:
        """What the question means after these turns."""
        from .suggest import follow_ups, nearby  # they plan questions with this planner

        thread = Thread(turns=len(history))
        for turn in list(history)[-_TURNS:]:
            self._step(turn.question, thread)
        reading = self._step(question, thread)
        if isinstance(reading, Planned) and thread.last is not None and reading.plan is not None:
            return _with_follow_ups(reading, follow_ups(self, thread.last))
        if isinstance(reading, Refusal) and reading.reason != "language":
            return Refusal(reading.reason, reading.text, nearby(self, question))
        return reading

    def try_plan(self, question: str) -> Planned | None:
        """The question planned alone, or None; without follow-ups."""
        reading = self._step(question, Thread())
        return reading if isinstance(reading, Planned) else None

    def try_follow_up(self, question: str, last: Understood) -> Planned | None:
        """A follow-up planned after an understood question, or None."""
        reading = self._step(question, Thread(last))
        return reading if isinstance(reading, Planned) else None

    def today(self, table: str) -> date:
        """The day that counts as today over a table."""
        entity = self.layer.entities.get(table)
        return self.clock.today(entity.table.sample_end if entity else None)

    # One turn

    def _step(self, question: str, thread: Thread) -> Reading:
        text = question.strip()
        if not re.search(r"\w", text):
            return Refusal("empty", english().text("empty"))
        if len(text) > LONGEST:
            return Refusal("too_long", english().text("too_long", length=len(text), limit=LONGEST))
        if thread.pending is not None:
            pending, thread.pending = thread.pending, None
            if (answer := _chosen_option(text, pending.options)) is not None:
                return self._answered(pending, answer, thread)
            if (instead := self._instead(text, pending, thread)) is not None:
                return instead
        if example := self._example(text):
            return Planned(None, example, "Read as: an example question of this agent.", origin="matched_example")
        if (foreign := other_language(text, self.layer)) is not None:
            return Refusal("language", foreign)
        if (refusal := self._intent(text)) is not None:
            return refusal
        return self._understand(text, thread, {})

    def _instead(self, text: str, pending: Pending, thread: Thread) -> Reading | None:
        """The question back once more, where the reply is neither its answer nor a question of its own."""
        alone = Thread()
        reading = self._step(text, alone)
        if not isinstance(reading, Refusal):
            return None
        fragment = leans(text) or len(tokenize(text)) <= _SHORT
        if not fragment or reading.reason in _PLAIN:
            return None
        kept = pending.kept + ((text,) if leans(text) else ())
        thread.pending = replace(pending, kept=kept)
        first = f"I keep “{text}” for then. First I need to know" if leans(text) else "I need one of these to go on"
        return Clarification(f"{first}: {pending.text}", pending.options)

    def _answered(self, pending: Pending, answer: str, thread: Thread) -> Reading:
        reading = self._with_answer(pending, answer, thread)
        for text in pending.kept:
            if thread.pending is not None:
                thread.pending = replace(thread.pending, kept=(*thread.pending.kept, text))
            elif isinstance(reading, Planned):
                added = self._step(text, thread)
                reading = added if isinstance(added, Planned | Clarification) else _not_added(reading, text)
        return reading

    def _with_answer(self, pending: Pending, answer: str, thread: Thread) -> Reading:
        if pending.key.startswith("period "):
            said = pending.key.removeprefix("period ")
            return self._understand(
                re.sub(re.escape(said), f"from {answer}", pending.question, flags=re.IGNORECASE), thread, pending.chosen
            )
        return self._understand(pending.question, thread, {**pending.chosen, pending.key: answer})

    def _understand(self, text: str, thread: Thread, chosen: dict[str, str]) -> Reading:
        return self._attempt(text, thread, chosen, self._today())

    def _attempt(self, text: str, thread: Thread, chosen: dict[str, str], day: date, last: bool = False) -> Reading:
        try:
            scanned = scan(self.layer, text, day)
            understood = self._meaning(text, scanned, thread, chosen)
            planned = self._planned(understood, scanned)
        except OtherDayError as error:
            if last:
                return Refusal("unsupported", "The question is about tables over which different days count as today.")
            return self._attempt(text, thread, chosen, error.day, last=True)
        except UndecidedError as error:
            thread.pending = Pending(text, error.key, error.options, chosen, error.text)
            return Clarification(error.text, error.options)
        except RefusedError as error:
            return Refusal(error.reason, error.text)
        except (OutOfCalendarError, OverflowError):
            return Refusal("unsupported", "The period leaves the calendar: only the years 1 to 9999 can be told.")
        except NoPathError as error:
            return Refusal("no_path", unconnected(self.layer, *error.tables))
        thread.last = understood
        return planned

    def _meaning(self, text: str, scanned: Scanned, thread: Thread, chosen: dict[str, str]) -> Understood:
        """The last question changed by this one, or this one alone."""
        if thread.last is None:
            if thread.turns and adds(text):
                raise RefusedError("no_context", english().text("no_context"))
            return self.plan_terms(text, scanned, chosen)
        problem: RefusedError | NoPathError | None = None
        try:
            if (understood := continued(self, scanned, thread.last, chosen)) is not None:
                to_sql(understood.plan, self.layer, self.clock.time_zone)  # a change that leads nowhere is none
                return understood
        except (RefusedError, NoPathError) as error:
            if isinstance(error, RefusedError) and error.reason == "no_change":
                raise  # it leans on the question before, and says nothing by itself
            problem = error
        try:
            return self.plan_terms(text, scan(self.layer, text, scanned.day), chosen)
        except RefusedError as error:
            raise problem or error from error

    def plan_terms(self, text: str, scanned: Scanned, chosen: dict[str, str]) -> Understood:
        """Plan a whole question. Raises UndecidedError, RefusedError, NoPathError."""
        if (parts := halves(scanned.terms)) is not None:
            return plan_ratio(self, text, parts, chosen, scanned.day)
        return self.plan_part(text, scanned.terms, chosen, scanned.day)

    def plan_part(
        self, text: str, terms: Sequence[Term], chosen: dict[str, str], day: date, *, counting: bool = False
    ) -> Understood:
        """Plan the terms of a question, or, counting what it names, of one number of it."""
        settled(self.layer, terms)
        doubts = Doubts(self.layer, terms)
        doubts.check()
        slots = parse(terms)
        unused = [term for term in terms if not term.used]
        if unused:
            raise RefusedError("unused_words", english().text("unused", words=_listed(unused)))
        doubts.counts_two(slots)
        doubts.ranks_values(slots)
        doubts.counts_a_part(slots)
        if counting and not slots.measures and slots.target is not None and slots.target.kind == "mention":
            slots.measures.append(MeasureSlot("count", slots.target, said=slots.target.text))
            slots.target = None
        if slots.verbs and not self._has_ways():
            raise RefusedError("unused_words", english().text("unused", words=_listed(slots.verbs)))
        divide(slots, terms, chosen)
        understood = self.plan_slots(text, slots, chosen, day)
        plan, told = Happened(self.layer, terms).completed(understood.plan, slots)
        return replace(understood, plan=plan, assumed=(*understood.assumed, *told))

    def _has_ways(self) -> bool:
        """Whether some column says from where, or to where, a row goes."""
        chooser = Chooser(self.layer)
        ways: tuple[Way, Way] = ("from", "to")
        return any(
            chooser.leads(one.ref, way)
            for entity in self.layer.entities.values()
            for one in entity.fields.values()
            for way in ways
        )

    def plan_slots(self, text: str, slots: Slots, chosen: dict[str, str], day: date) -> Understood:
        """Plan the parts of a question."""
        resolver = Resolver(self.layer, slots, self.today, chosen, day)
        plan = resolver.plan()
        if not any(one.of for one in slots.dimensions):
            plan = _along_its_period(plan)
        assumed = resolver.chooser.assumed
        if any(isinstance(one, OneOf) and one.column.column.endswith("status") for one in plan.conditions):
            assumed = [text.replace(" of every status", "") for text in assumed]
        return Understood(text, plan, tuple(assumed), chosen)

    def _planned(self, understood: Understood, scanned: Scanned) -> Planned:
        sql = to_sql(understood.plan, self.layer, self.clock.time_zone)
        repaired = tuple(f"“{wrong}” is read as “{right}”." for wrong, right in scanned.repairs)
        day = self.today(understood.plan.table) if _is_relative(understood.plan.conditions) else None
        shown = day if day is not None and day != self.clock.real_day() else None
        assumed = repaired + understood.assumed + self._zone(understood.plan)
        return Planned(understood.plan, sql, lead(understood.plan), assumed, (), shown)

    def _zone(self, plan: Plan) -> tuple[str, ...]:
        """Whose days a relative period is made of, where they are not those of UTC."""
        if self.clock.time_zone == "UTC" or not _is_relative(plan.conditions):
            return ()
        return (f"Days begin at midnight in {self.clock.time_zone}.",)

    def _today(self) -> date:
        return self.clock.today(
            self.layer.sample_end or next((entity.table.sample_end for entity in self.layer.entities.values()), None)
        )

    def _example(self, text: str) -> str | None:
        wanted = normal(text)
        return next((one.sql for one in self.layer.context.examples if normal(one.question) == wanted), None)

    def _intent(self, text: str) -> Refusal | None:
        book = english()
        words = [token.lower for token in tokenize(text)]
        joined = f" {' '.join(words)} "
        intents = book.raw["intents"]
        meaning = [
            word
            for word in words
            if word not in ("please", "can", "could", "you", "would", "now", "and", "then", "just", "i", "want", "to")
        ]
        start = f"{' '.join(meaning[:4])} "
        if any(f" {text} " in joined for text in intents["catalogue"]):
            return Refusal("catalogue", self._catalogue())
        if any(
            joined.startswith(f" {text} ")
            or (f" {text} " in joined and text.startswith(("why", "what caused", "reason")))
            for text in intents["cause"]
        ):
            return Refusal("cause", book.text("cause"))
        if any(start.startswith(f"{text} ") for text in intents["write"]) or re.search(
            r"\b(drop|truncate|alter)\s+table\b|\bdelete\s+from\b|\binsert\s+into\b", text, re.IGNORECASE
        ):
            return Refusal("write", book.text("write"))
        if any(f" {text} " in joined and not self._is_named(text) for text in intents["forecast"]):
            return Refusal("forecast", book.text("forecast"))
        return None

    def _is_named(self, text: str) -> bool:
        """Whether a word of an intent is a table or column here: hours by project are no projection."""
        found = candidates_of(self.layer, tokenize(text))
        return bool(found) and found[0].score >= 0.85

    def _catalogue(self) -> str:
        names = ", ".join(entity.said for entity in self.layer.entities.values())
        return f"The tables are {names}."


def _along_its_period(plan: Plan) -> Plan:
    """ "Orders returned in 2025 by month": the months are those of the return, as the year is."""
    spans = [each for one in plan.conditions for each in (one.conditions if isinstance(one, AnyOf) else (one,))]
    times = {one.time for one in spans if isinstance(one, During)}
    if len(times) != 1:
        return plan
    (time,) = times
    dimensions = tuple(
        replace(one, time=time) if isinstance(one, ByTime) and one.time.table == time.table else one
        for one in plan.dimensions
    )
    return replace(plan, dimensions=dimensions)


def _is_relative(conditions: Sequence[Condition]) -> bool:
    return any(
        (isinstance(one, During) and one.relative)
        or (isinstance(one, Has | Within | AnyOf) and _is_relative(one.conditions))
        for one in conditions
    )


def _chosen_option(text: str, options: Sequence[str]) -> str | None:
    """The option that a reply means: its number, its name, a part of it that no other has, or yes when there is one."""
    plain = text.strip().rstrip(".!").casefold()
    if match := re.fullmatch(r"(?:number |option |no\.? ?|#)?(\d{1,2})", plain):
        place = int(match[1])
        return options[place - 1] if 1 <= place <= len(options) else None
    if len(options) == 1 and plain in ("yes", "y", "ok", "okay", "sure", "please", "yes please", "do that", "go ahead"):
        return options[0]
    ordinals = english().raw["time"]["ordinals"]
    if (match := re.fullmatch(r"(?:the )?(\w+)(?: one| option)?", plain)) and (place := ordinals.get(match[1], 0)):
        return options[place - 1] if place <= len(options) else None
    exact = [option for option in options if option.casefold() == plain]
    if exact:
        return exact[0]
    words = set(normal(plain).split()) - {"the", "a", "please", "by", "of", "one", "i", "mean", "meant"}
    held = [
        option
        for option in options
        if words and words <= set(normal(re.sub("_", " ", option)).split()) | set(normal(option).split())
    ]
    return held[0] if len(held) == 1 else None


def _not_added(planned: Planned, text: str) -> Planned:
    return replace(planned, assumptions=(*planned.assumptions, f"“{text}” was not understood and changes nothing."))


def _listed(terms: Sequence[Term]) -> str:
    texts = [f"“{term.text}”" for term in terms]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _with_follow_ups(planned: Planned, questions: tuple[str, ...]) -> Planned:
    return replace(planned, follow_ups=questions)
