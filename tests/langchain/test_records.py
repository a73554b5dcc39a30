"""What a record says was sent is what went over the wire, call by call."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware
from ctxmw.conversation.sent import message_hash, sent_hashes
from ctxmw_langchain import ContextAgentMiddleware
from tests.langchain.shapes import find_file
from tests.langchain.test_http import client, drop_table
from tests.support.openai_stub import Calls, OpenAIStub
from tests.support.wire import FACTS, TURNS, told_by, wire_hash

SCRIPT = {
    "answer": "Understood.",
    "search": Calls(("mem_search", {"query": "courier deadline"})),
    "find": Calls(("find_file", {"name": "auth.py"})),
}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TURNS), st.sampled_from(sorted(SCRIPT))), max_size=4))
def test_a_record_is_what_went_over_the_wire(turns):
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        for fact in FACTS:
            ctx.session("past").capture([{"role": "user", "content": fact}])
        ctx.catalog.add_tools([find_file, drop_table])
        script = [one for _, how in turns for one in (SCRIPT[how], "Done.")]
        chat = ctx.session("t1")
        with OpenAIStub([one for one in script if one != "Understood."]) as server:
            ours = ContextAgentMiddleware(ctx)
            agent = create_agent(
                client(server),
                [find_file, drop_table],
                middleware=[ours],
                system_prompt="You help.",
                checkpointer=InMemorySaver(),
            )
            for said, _ in turns:
                asked = {"messages": [HumanMessage(said)]}
                agent.invoke(asked, {"configurable": {"thread_id": "t1"}})
        records = chat.history()
        assert len(records) == len(server.requests)
        for record, request in zip(records, server.requests, strict=True):
            wire = tuple(wire_hash(message_hash, one) for one in request["messages"])
            assert sent_hashes(chat._journal.store, record) == wire
            sent = [tool["function"]["name"] for tool in request.get("tools", [])]
            assert list(record.tools) == sent
            assert told_by(record) >= {fact for fact in FACTS if _quoted(fact, request)}


def _quoted(fact, request):
    """Whether our text in a prompt has a fact, and not the person's own words."""
    return any(
        fact in part.partition("</ctxmw>")[0]
        for one in request["messages"]
        for part in str(one["content"]).split("<ctxmw>")[1:]
    )
