"""Typed keys: what is written is what is read, and nothing else gets in."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state_contracts import (
    ANSWER,
    CONTRACTS,
    CONVERSATION,
    DATA_AGENT,
    OFFERED,
    PREFERENCES,
    Answer,
    ContractKeyError,
    ContractValueError,
    ContractVersionError,
    Conversation,
    Offered,
    Preferences,
    SavedAgent,
    StateKey,
    Turn,
    check_delta,
    contract_of,
)


def test_persisted_value_is_json_and_comes_back_typed() -> None:
    state: dict[str, object] = {}
    PREFERENCES.write(state, Preferences(language="pt", fiscal_year_start=4))
    stored = json.loads(json.dumps(state))
    assert list(stored) == ["user:preferences"]
    assert PREFERENCES.read(stored) == Preferences(language="pt", fiscal_year_start=4)


def test_temp_value_is_passed_by_reference() -> None:
    state: dict[str, object] = {}
    answer = Answer(question="q", outcome="answered", complete=True)
    ANSWER.write(state, "call-1", answer)
    assert ANSWER.read(state, "call-1") is answer
    assert list(ANSWER.items(state)) == [("call-1", answer)]


def test_nothing_stored_reads_as_none() -> None:
    assert PREFERENCES.read({}) is None
    assert DATA_AGENT.read({}, "sales") is None


def test_cleared_key_reads_as_none_and_is_no_item() -> None:
    state: dict[str, object] = {}
    DATA_AGENT.write(state, "sales", SavedAgent(label="Sales", agent="projects/p/locations/l/dataAgents/a"))
    DATA_AGENT.clear(state, "sales")
    assert state == {"user:data_agent.sales": None}
    assert DATA_AGENT.read(state, "sales") is None
    assert list(DATA_AGENT.items(state)) == []


def test_wrong_type_is_refused_and_leaves_the_state_as_it_was() -> None:
    state: dict[str, object] = {}
    with pytest.raises(ContractValueError, match="holds Preferences, got dict"):
        PREFERENCES.write(state, {"language": "pt"})  # type: ignore[arg-type]
    assert state == {}


def test_value_over_the_limit_is_refused() -> None:
    turns = [Turn(question="q" * 1_000) for _ in range(4)]
    with pytest.raises(ContractValueError, match=r"the limit is 2,304"):
        CONVERSATION.write({}, Conversation(turns=turns))


def test_what_was_not_written_through_the_contract_is_refused_on_reading() -> None:
    with pytest.raises(ContractValueError, match="colour"):
        PREFERENCES.read({"user:preferences": {"colour": "blue"}})
    with pytest.raises(ContractValueError, match="fiscal_year_start"):
        PREFERENCES.read({"user:preferences": {"fiscal_year_start": "soon"}})


def test_newer_version_is_refused_not_guessed() -> None:
    with pytest.raises(ContractVersionError, match="version 2"):
        PREFERENCES.read({"user:preferences": {"contract_version": 2, "value": {}}})


def test_the_first_version_stands_bare_so_that_an_instruction_can_show_it() -> None:
    who = {"writers": ("barista",), "readers": ("barista",), "purpose": "For the test."}
    diet: StateKey[list[str]] = StateKey(name="diet", scope="user", holds=list[str], **who)
    state: dict[str, object] = {}
    diet.write(state, ["vegan"])
    assert state == {"user:diet": ["vegan"]}
    assert diet.read(state) == ["vegan"]
    with pytest.raises(ContractValueError):
        diet.write(state, [object()])  # type: ignore[list-item]


def test_older_version_is_migrated_step_by_step() -> None:
    who = {"writers": ("root",), "readers": ("root",), "purpose": "For the test."}
    first = StateKey(name="seat", scope="user", holds=str, **who)
    third = StateKey(
        name="seat",
        scope="user",
        holds=dict,
        version=3,
        migrations={1: lambda text: text.split("-"), 2: lambda parts: {"row": int(parts[0]), "seat": parts[1]}},
        **who,
    )
    state: dict[str, object] = {}
    first.write(state, "12-C")
    assert third.read(state) == {"row": 12, "seat": "C"}
    third.write(state, {"row": 13, "seat": "A"})
    with pytest.raises(ContractVersionError):
        first.read(state)


def test_a_version_without_its_migration_cannot_be_declared() -> None:
    with pytest.raises(ContractKeyError, match="no migration from version 1"):
        StateKey(name="k", scope="user", holds=str, writers=(), readers=(), purpose="", version=2)


@pytest.mark.parametrize("name", ["", "a.b", "a b", "ü", "a" * 129])
def test_item_name_must_be_plain(name: str) -> None:
    with pytest.raises(ContractKeyError):
        DATA_AGENT.key_of(name)


def test_keys_of_the_families_do_not_overlap() -> None:
    for contract in CONTRACTS:
        key = contract.key.replace("<call>", "c1").replace("<slug>", "s1")
        assert [other.key for other in CONTRACTS if other.matches(key)] == [contract.key]


@given(st.lists(st.builds(Turn, question=st.text(max_size=400), sql=st.text(max_size=900), text=st.text(max_size=400))))
def test_conversation_always_fits_its_key(turns: list[Turn]) -> None:
    conversation = Conversation()
    for turn in turns:
        conversation = conversation.with_turn(turn)
        CONVERSATION.write({}, conversation)
    kept = len(conversation.turns)
    assert [turn.question for turn in conversation.turns] == [turn.question for turn in turns[len(turns) - kept :]]
    assert kept > 0 or not turns


def test_questions_are_kept_longer_than_answers() -> None:
    conversation = Conversation()
    for number in range(12):
        turn = Turn(question=f"question {number}", sql=f"SELECT {number} " + "x" * 400, text="t" * 300)
        conversation = conversation.with_turn(turn)
    assert [turn.question for turn in conversation.turns] == [f"question {number}" for number in range(12)]
    assert [bool(turn.text) for turn in conversation.turns] == [False] * 11 + [True]
    assert conversation.turns[-1].sql and not conversation.turns[0].sql


def test_a_turn_too_large_by_itself_keeps_its_question() -> None:
    conversation = Conversation().with_turn(Turn(question="q", sql="s" * 5_000, text="t"))
    assert conversation.turns == [Turn(question="q")]


@pytest.mark.parametrize(
    ("words", "chosen"), [("2", "b"), (" 2. ", "b"), ("2)", "b"), ("3", None), ("0", None), ("two", None), ("²", None)]
)
def test_a_number_chooses_an_offered_question(words: str, chosen: str | None) -> None:
    assert Offered(questions=["a", "b"]).chosen_by(words) == chosen


class TestCheckDelta:
    def delta(self, key: str, value: object, writer: str | None = None) -> list[str]:
        return [violation.reason for violation in check_delta({key: value}, writer, CONTRACTS)]

    def test_what_keeps_its_contract_passes(self) -> None:
        state: dict[str, object] = {}
        OFFERED.write(state, Offered(questions=["How many orders?"]))
        assert check_delta(state, "data_agent", CONTRACTS) == []

    def test_undeclared_key(self) -> None:
        assert self.delta("user:surprise", 1) == ["the key is not declared."]

    def test_wrong_writer(self) -> None:
        assert self.delta("offered", {}, "chart_agent") == ["only data_agent and describe_data may write it."]

    def test_wrong_type_and_not_json(self) -> None:
        assert "does not hold a Offered" in self.delta("offered", "text")[0]
        assert self.delta("offered", {"questions": [object()]}) != []

    def test_too_large(self) -> None:
        value = {"questions": ["q" * 5_000]}
        assert "the limit is 4,096" in self.delta("offered", value)[0]

    def test_clearing_is_allowed(self) -> None:
        assert self.delta("offered", None, "data_agent") == []

    def test_keys_of_others_are_let_through(self) -> None:
        assert check_delta({"temp:_adk_x": 1}, "root", CONTRACTS, foreign=("temp:_adk",)) == []


def test_contract_of_finds_the_declaration() -> None:
    assert contract_of("temp:answer.c1") is ANSWER
    assert contract_of("temp:answer.") is None


def test_contracts_need_nothing_but_pydantic() -> None:
    code = (
        "import sys, state_contracts; "
        "print(*sorted({m.split('.')[0] for m in sys.modules} & {'google', 'askhouse', 'pandas', 'duckdb', 'sqlglot'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
