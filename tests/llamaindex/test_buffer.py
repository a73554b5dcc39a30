"""The default buffer of agents: what LlamaIndex's gives, at a cost that does not grow."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.workflow import Context, JsonSerializer

from ctxmw_llamaindex import with_context
from ctxmw_llamaindex.buffer import counted_from_the_end
from tests.llamaindex.models import RecordingLLM

messages = st.lists(
    st.builds(
        ChatMessage,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=st.integers(0, 6).map(lambda n: " ".join(["word"] * n)),
    ),
    max_size=12,
)


def buffer(history=(), limit=10, tokenizer=str.split) -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(
        chat_history=list(history), token_limit=limit, tokenizer_fn=tokenizer
    )


@given(messages, st.integers(1, 30))
def test_it_gives_what_llamaindexs_own_gives(history, limit):
    own = buffer(history, limit)
    assert counted_from_the_end(own).get() == own.get()


@given(messages, st.integers(0, 9))
def test_what_is_spoken_for_is_left_free(history, taken):
    own = buffer(history)
    assert counted_from_the_end(own).get(initial_token_count=taken) == own.get(
        initial_token_count=taken
    )


def test_more_than_its_limit_cannot_be_spoken_for():
    with pytest.raises(ValueError, match="exceeds token limit"):
        counted_from_the_end(buffer()).get(initial_token_count=11)


def test_it_has_the_same_store_and_other_memories_are_left_alone():
    own = buffer([ChatMessage(content="hello")])
    twin = counted_from_the_end(own)
    twin.put(ChatMessage(content="again"))
    assert [message.content for message in own.get_all()] == ["hello", "again"]
    assert counted_from_the_end(twin) is twin
    other = Memory.from_defaults(session_id="s1")
    assert counted_from_the_end(other) is other


def test_it_is_pickled_as_llamaindexs_own():
    twin = counted_from_the_end(buffer([ChatMessage(content="hello")], limit=7))
    again = pickle.loads(pickle.dumps(twin))
    assert type(again) is ChatMemoryBuffer
    assert (again.token_limit, again.tokenizer_fn) == (7, str.split)
    assert again.get() == twin.get()


def test_a_copy_of_it_counts_from_the_end_too():
    twin = counted_from_the_end(buffer([ChatMessage(content="hello")]))
    assert {type(copy.copy(twin)), type(copy.deepcopy(twin)), type(twin.model_copy())} == {
        type(twin)
    }


@pytest.mark.parametrize("of_agents", [False, True])
async def test_a_late_turn_of_an_agent_counts_no_more_than_an_early_one(ctx, of_agents):
    counted: list[int] = []

    def tokenizer(text: str) -> list[str]:
        counted[-1] += len(text)
        return text.split()

    agent = FunctionAgent(name="a", description="", llm=RecordingLLM(), streaming=False)
    wrapped = with_context(AgentWorkflow(agents=[agent]) if of_agents else agent, ctx)
    memory = buffer(limit=40, tokenizer=tokenizer)
    for at in range(40):
        counted.append(0)
        await wrapped.run(user_msg=f"Step {at}: and so on and on.", memory=memory)
    assert counted[39] <= 1.2 * counted[19]
    assert len(memory.get_all()) == 80


async def test_a_context_that_holds_it_is_read_where_only_llamaindex_is(ctx):
    agent = with_context(FunctionAgent(llm=RecordingLLM(), streaming=False), ctx)
    context = Context(agent)
    await agent.run(user_msg="Remember the zebra.", ctx=context)
    written = context.to_dict(serializer=JsonSerializer())
    assert "ctxmw_llamaindex" not in str(written)
    again = Context.from_dict(agent.unwrap(), written, serializer=JsonSerializer())
    memory = await again.store.get("memory")
    assert type(memory) is ChatMemoryBuffer
    assert memory.get()[0].content == "Remember the zebra."
