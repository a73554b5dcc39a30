"""The memory as a block of LlamaIndex's own `Memory`: what leaves the history is found again."""

from __future__ import annotations

import asyncio

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from ctxmw import ContextMiddleware
from ctxmw_llamaindex import ContextMemoryBlock


async def main(ctx: ContextMiddleware) -> None:
    memory = Memory.from_defaults(
        session_id="today",
        memory_blocks=[ContextMemoryBlock(ctx=ctx, budget=500)],
        token_limit=150,
        token_flush_size=50,
    )
    for number in range(6):
        await memory.aput(
            ChatMessage(content=f"The code of locker {number} is {number}00{number}.")
        )
        await memory.aput(ChatMessage(role="assistant", content=f"Locker {number}: noted."))
    await memory.aput(ChatMessage(content="What is the code of locker 0?"))
    opening, *history = await memory.aget()
    print("still in the history:", any("locker 0 is" in str(message) for message in history))
    print("in the block:", "The code of locker 0 is 0000." in opening.content)


with ContextMiddleware.open(":memory:") as memory_of_mine:
    asyncio.run(main(memory_of_mine))
