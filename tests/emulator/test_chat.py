"""DataChatService.Chat as Google's own asyncio gRPC client sees it."""

from __future__ import annotations

import asyncio
import re
from uuid import uuid4

import grpc
import pytest
from google.api_core.exceptions import FailedPrecondition, InvalidArgument, NotFound
from google.cloud import geminidataanalytics_v1 as api
from google.cloud.geminidataanalytics_v1.services.data_chat_service.transports import DataChatServiceGrpcTransport
from google.protobuf import json_format

from askhouse.emulator.local import Emulator
from askhouse.insights.client import AgentContext, InsightsClient, Question
from askhouse.settings import Settings, Transport
from state_contracts import Answer

from .conftest import PARENT, agent_with_example, chat, clients, inline, kinds, request, rows, texts

GRAMMAR = re.compile(
    r"(THOUGHT )+FINAL_RESPONSE data\.query (data\.generated_sql|data\.matched_query) data\.big_query_job "
    r"data\.result (FOLLOWUP_QUESTIONS )?"
)


async def test_the_reply_has_the_recorded_order(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?"))
    assert GRAMMAR.fullmatch("".join(f"{kind} " for kind in kinds(messages)))
    counted = {row["origin"]: row[column] for row in rows(messages) for column in row if column != "origin"}
    assert set(counted) == {"EWR", "JFK", "LGA"}
    for message in messages:
        proto = api.Message.pb(message)
        assert proto.HasField("timestamp")
        strict = json_format.ParseDict(json_format.MessageToDict(proto), api.Message.pb()())
        assert strict == proto


async def test_the_published_query_was_announced_in_a_thought(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?"))
    (sql,) = [m.system_message.data.generated_sql for m in messages if m.system_message.data.generated_sql]
    thoughts = [list(m.system_message.text.parts) for m in messages if m.system_message.text.text_type == 2]
    assert ["Running a query", f"Executing: {sql}"] in thoughts
    assert all(len(thought) == 2 for thought in thoughts)


async def test_the_introduction_states_no_figure_of_the_result(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?"))
    figures = {f"{value:.0f}" for row in rows(messages) for value in row.values() if isinstance(value, float)}
    assert figures and not any(figure in texts(messages).replace(",", "") for figure in figures)


async def test_a_saved_agent_answers(emulator: Emulator) -> None:
    agent = api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/flights")
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?", data_agent_context=agent))
    assert len(rows(messages)) == 3


async def test_the_query_names_the_tables_that_it_reads(emulator: Emulator) -> None:
    agent = api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/flights")
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many planes by manufacturer?", data_agent_context=agent))
    (query,) = [m.system_message.data.query for m in messages if m.system_message.data.query.datasources]
    assert [source.bigquery_table_reference.table_id for source in query.datasources] == ["planes"]


def test_googles_blocking_client_gets_the_same(emulator: Emulator) -> None:
    with grpc.insecure_channel(emulator.grpc.removeprefix("http://")) as channel:
        client = api.DataChatServiceClient(transport=DataChatServiceGrpcTransport(channel=channel))
        messages = list(client.chat(request=request("How many flights by origin?")))
    assert len(rows(messages)) == 3


async def test_a_follow_up_is_resolved_from_the_resent_history(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        first = await chat(client, request("Average departure delay by month"))
        asked = request("only JFK")
        asked.messages = [
            api.Message(user_message=api.UserMessage(text="Average departure delay by month")),
            *(m for m, kind in zip(first, kinds(first), strict=True)
              if kind in ("data.generated_sql", "FINAL_RESPONSE")),
            *asked.messages,
        ]  # fmt: skip
        second = await chat(client, asked)
    assert len(rows(first)) == len(rows(second)) == 12
    assert rows(first) != rows(second)
    assert "JFK" in texts(second)


async def test_a_refusal_is_words_alone(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        for question in ("", "What is the meaning of life?", "delete all flights"):
            messages = await chat(client, request(question))
            assert set(kinds(messages)) <= {"THOUGHT", "FINAL_RESPONSE", "FOLLOWUP_QUESTIONS"}
            assert texts(messages)


async def test_an_unknown_table_ends_the_reply_with_an_error(emulator: Emulator) -> None:
    table = api.BigQueryTableReference(project_id="local", dataset_id="nycflights13", table_id="flihgts")
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights?", inline_context=inline(table)))
    assert kinds(messages) == ["THOUGHT", "error"]
    text = messages[-1].system_message.error.text
    assert text.startswith("Not found: Table local:nycflights13.flihgts")
    assert "local.nycflights13.flights" in text


@pytest.mark.parametrize(
    ("provider", "error"),
    [
        ({"inline_context": api.Context()}, InvalidArgument),
        ({"data_agent_context": api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/none")}, NotFound),
        (
            {
                "data_agent_context": api.DataAgentContext(
                    data_agent=f"{PARENT}/dataAgents/flights",
                    context_version=api.DataAgentContext.ContextVersion.STAGING,
                )
            },
            FailedPrecondition,
        ),
        ({"conversation_reference": api.ConversationReference(conversation="c")}, NotFound),
    ],
)
async def test_contexts_that_cannot_be_used(
    emulator: Emulator, provider: dict[str, object], error: type[Exception]
) -> None:
    async with clients(emulator) as (client, _):
        with pytest.raises(error):
            await chat(client, request("How many flights?", **provider))


async def test_a_request_must_end_with_a_question(emulator: Emulator) -> None:
    asked = request("How many flights?")
    asked.messages = []
    async with clients(emulator) as (client, _):
        with pytest.raises(InvalidArgument, match="userMessage"):
            await chat(client, asked)


async def test_an_example_of_the_agents_owner_answers_as_matched_query(emulator: Emulator) -> None:
    sql = (
        "SELECT 9007199254740993 AS big, NUMERIC '123456789012345678.123456789' AS exact, CAST(NULL AS STRING) AS none,"
        " '' AS empty, TIMESTAMP '1984-01-01 00:00:00' AS ts, DATE '1984-01-02' AS d, 1.5 AS f, TRUE AS b"
    )
    agent_id = f"typed-{uuid4().hex[:8]}"
    async with clients(emulator) as (client, agents):
        await agents.create_data_agent_sync(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example("Show me the odd values", sql)
        )
        context = api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/{agent_id}")
        messages = await chat(client, request("Show me the odd values", data_agent_context=context))
    assert "data.matched_query" in kinds(messages)
    (row,) = rows(messages)
    assert row == {
        "big": "9007199254740993",
        "exact": "123456789012345678.123456789",
        "none": None,
        "empty": "",
        "ts": "1984-01-01 00:00:00",
        "d": "1984-01-02",
        "f": 1.5,
        "b": True,
    }


async def test_no_rows_come_without_a_data_key(emulator: Emulator) -> None:
    agent_id = f"empty-{uuid4().hex[:8]}"
    sql = "SELECT origin FROM `local.nycflights13.flights` WHERE origin = 'none'"
    async with clients(emulator) as (client, agents):
        await agents.create_data_agent_sync(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example("Which airport is none?", sql)
        )
        context = api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/{agent_id}")
        messages = await chat(client, request("Which airport is none?", data_agent_context=context))
    (result,) = [m for m, kind in zip(messages, kinds(messages), strict=True) if kind == "data.result"]
    as_json = json_format.MessageToDict(api.Message.pb(result))["systemMessage"]["data"]["result"]
    assert "data" not in as_json
    assert as_json["schema"]["fields"][0]["name"] == "origin"


async def test_a_large_result_is_cut_on_whole_rows(emulator: Emulator) -> None:
    agent_id = f"large-{uuid4().hex[:8]}"
    async with clients(emulator) as (client, agents):
        await agents.create_data_agent_sync(
            parent=PARENT,
            data_agent_id=agent_id,
            data_agent=agent_with_example("Show me everything there is", "SELECT * FROM `local.nycflights13.flights`"),
        )
        context = api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/{agent_id}")
        messages = await chat(client, request("Show me everything there is", data_agent_context=context))
    kept = rows(messages)
    assert 1000 < len(kept) < 336_776
    assert all(set(row) == set(kept[0]) for row in kept)


async def test_the_whole_result_can_be_read_by_its_job(emulator: Emulator) -> None:
    from askhouse.warehouse.bigquery import bigquery_client

    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?"))
    (job,) = [m.system_message.data.big_query_job for m in messages if m.system_message.data.big_query_job.job_id]
    table = job.destination_table
    settings = Settings(home=emulator.settings.home, bigquery_endpoint=emulator.rest)
    with bigquery_client(settings) as bigquery:
        by_job = bigquery.get_job(job.job_id, project=job.project_id, location=job.location).result()
        by_table = bigquery.list_rows(bigquery.get_table(f"{table.project_id}.{table.dataset_id}.{table.table_id}"))
        counts = [{row["origin"]: row["number_of_flights"] for row in found} for found in (by_job, by_table)]
    assert counts == [{row["origin"]: row["number_of_flights"] for row in rows(messages)}] * 2


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_our_client_says_how_many_rows_were_cut(emulator: Emulator, transport: Transport) -> None:
    agent_id = f"large-{uuid4().hex[:8]}"
    sql = "SELECT * FROM `local.nycflights13.flights`"
    async with clients(emulator) as (_, agents):
        await agents.create_data_agent_sync(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example("Show me everything there is", sql)
        )
    settings = Settings(home=emulator.settings.home, transport=transport, bigquery_endpoint=emulator.rest,
                        chat_endpoint=emulator.grpc if transport == "grpc" else emulator.rest)  # fmt: skip
    asked = Question("Show me everything there is", AgentContext(agent_id))
    answer = [part async for part in InsightsClient(settings).ask(asked)][-1]
    assert isinstance(answer, Answer)
    (result,) = answer.results
    assert (result.row_count, result.truncated) == (336_776, True)
    assert any(f"first {len(result.rows):,} of 336,776 rows" in notice for notice in answer.notices)


async def test_a_limit_of_bytes_is_kept(emulator: Emulator) -> None:
    context = inline()
    context.options = api.ConversationOptions(datasource=api.DatasourceOptions(big_query_max_billed_bytes=1))
    async with clients(emulator) as (client, _):
        messages = await chat(client, request("How many flights by origin?", inline_context=context))
    assert kinds(messages)[-1] == "error"
    assert "limit for bytes billed" in messages[-1].system_message.error.text


async def test_fifty_at_once(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        replies = await asyncio.gather(*(chat(client, request("How many flights by origin?")) for _ in range(50)))
    assert all(rows(reply) == rows(replies[0]) for reply in replies)


async def test_v1beta_is_served_too(emulator: Emulator) -> None:
    beta = pytest.importorskip("google.cloud.geminidataanalytics_v1beta")
    asked = request("How many flights by origin?")
    async with grpc.aio.insecure_channel(emulator.grpc.removeprefix("http://")) as channel:
        call = channel.unary_stream(
            "/google.cloud.geminidataanalytics.v1beta.DataChatService/Chat",
            request_serializer=api.ChatRequest.serialize,
            response_deserializer=beta.Message.deserialize,
        )
        messages = [message async for message in call(asked)]
    assert any(message.system_message.data.generated_sql for message in messages)
