"""What is resent of earlier turns."""

from __future__ import annotations

import json

from askhouse.insights.address import Address
from askhouse.insights.client import AgentContext, ConversationContext, Question, TablesContext, chat_request
from askhouse.insights.history import to_messages
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from state_contracts import Turn

PLACE = Address("https://example.com", "example-project", "eu")


def test_questions_queries_and_words_in_order() -> None:
    turns = [Turn(question="a?", sql="SELECT 1", text="One."), Turn(question="b?", text="Which one?")]
    assert to_messages(turns) == [
        {"userMessage": {"text": "a?"}},
        {"systemMessage": {"data": {"generatedSql": "SELECT 1"}}},
        {"systemMessage": {"text": {"parts": ["One."], "textType": "FINAL_RESPONSE"}}},
        {"userMessage": {"text": "b?"}},
        {"systemMessage": {"text": {"parts": ["Which one?"], "textType": "FINAL_RESPONSE"}}},
    ]


def test_the_oldest_turns_give_way() -> None:
    turns = [Turn(question=f"question {n} {'x' * 900}") for n in range(40)]
    messages = to_messages(turns, max_bytes=5_000)
    assert len(json.dumps(messages)) <= 5_200
    assert messages[-1]["userMessage"]["text"].startswith("question 39 ")
    assert 3 <= len(messages) <= 5


def test_a_request_names_exactly_one_context() -> None:
    tables = TablesContext((TableRef("p", "d", "t"),))
    inline = chat_request(Question("q?", tables), PLACE, Settings(max_billed_bytes=1000))
    assert inline["parent"] == "projects/example-project/locations/eu"
    assert inline["inlineContext"] == {
        "datasourceReferences": {"bq": {"tableReferences": [{"projectId": "p", "datasetId": "d", "tableId": "t"}]}},
        "options": {"datasource": {"bigQueryMaxBilledBytes": "1000"}},
    }
    agent = chat_request(Question("q?", AgentContext("sales")), PLACE, Settings())
    assert agent["dataAgentContext"] == {"dataAgent": "projects/example-project/locations/eu/dataAgents/sales"}
    assert ("inlineContext" in agent, "dataAgentContext" in inline) == (False, False)
    name = "projects/example-project/locations/eu/conversations/c"
    conversation = chat_request(Question("q?", ConversationContext(name, "sales")), PLACE, Settings())
    assert conversation == {
        "parent": "projects/example-project/locations/eu",
        "messages": [{"userMessage": {"text": "q?"}}],
        "conversationReference": {"conversation": name, "dataAgentContext": agent["dataAgentContext"]},
    }


def test_no_limit_of_bytes_is_sent_where_there_is_none() -> None:
    question = Question("q?", TablesContext((TableRef("p", "d", "t"),)))
    assert "options" not in chat_request(question, PLACE, Settings(max_billed_bytes=0))["inlineContext"]
