"""How much of a conversation a model is sent."""

from __future__ import annotations

from google.genai import types

from data_analyst.prompts import MAX_CHARS, shortened


def words(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def tool_traffic() -> list[types.Content]:
    return [
        types.Content(role="model", parts=[types.Part.from_function_call(name="analyze", args={"question": "q"})]),
        types.Content(role="user", parts=[types.Part.from_function_response(name="analyze", response={"result": ""})]),
    ]


def size(contents: list[types.Content]) -> int:
    return sum(len(part.text or "") for content in contents for part in content.parts or [])


def test_a_long_conversation_stays_within_the_limit_and_keeps_the_latest_words() -> None:
    contents = []
    for turn in range(40):
        contents += [
            words("user", f"question {turn}"),
            *tool_traffic(),
            words("model", f"answer {turn} " + "x" * 5_000),
        ]
    kept = shortened([*contents, words("user", "and by month?")])
    assert size(kept) <= MAX_CHARS
    assert size(shortened([*contents, words("user", "and by month?")], beside=1_000)) <= MAX_CHARS - 1_000
    assert kept[-1].parts and kept[-1].parts[0].text == "and by month?"
    assert kept[0].role == "user"
    assert any("question 39" in (part.text or "") for content in kept for part in content.parts or [])


def test_earlier_tool_traffic_is_left_out_and_this_turns_is_kept() -> None:
    earlier = [words("user", "one"), *tool_traffic(), words("model", "first")]
    this = [words("user", "two"), *tool_traffic()]
    kept = shortened([*earlier, *this])
    assert [content.role for content in kept] == ["user", "model", "user", "model", "user"]
    assert kept[2:] == this


def test_a_huge_question_is_passed_on_whole() -> None:
    question = words("user", "why " * 6_000)
    assert shortened([words("user", "before"), words("model", "answer"), question]) == [question]
