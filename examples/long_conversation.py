"""400 turns with tools under a window of 8,000 tokens, and what the model saw at the end.

    python examples/long_conversation.py [turns]

The caller keeps its whole history and sends it with every call; `prepare` shows the model a view of
it that fits. Nothing is thrown away: a decision from the beginning is still in view at the end, and
the agent asks for a file that it read first.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ctxmw import ContextMiddleware, counter_for, memory_tools

WINDOW = 8_000
COUNT = counter_for()
GOAL = "Migrate the shop to the new payment provider. Never log card numbers."
FILES = ("cart", "invoice", "refund", "ledger", "webhook")


def turn(number: int) -> list[dict[str, Any]]:
    """Return what happens in one turn: a question, two files read at once, an answer."""
    first, second = (f"src/{FILES[(number + n) % 5]}_{number}.py" for n in (0, 1))
    calls = [
        {"id": f"{number}-{n}", "name": "read_file", "args": {"path": path}}
        for n, path in enumerate((first, second))
    ]
    asked = f"Step {number}: is {first} ready for the provider?"
    if number == 7:
        asked = "We decided that order PX-4417 is refunded by hand, by Leonie, on Friday."
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {
            "role": "tool",
            "tool_call_id": f"{number}-0",
            "name": "read_file",
            "content": source(first),
        },
        {
            "role": "tool",
            "tool_call_id": f"{number}-1",
            "name": "read_file",
            "content": source(second),
        },
        {"role": "assistant", "content": f"Yes: {first} calls charge() and {second} does not."},
    ]


def source(path: str) -> str:
    lines = (f"    total += price_{at}  # {path}" for at in range(20))
    return "\n".join([f"def charge(order):  # {path}", *lines, "    return total"])


def main(turns: int = 400) -> None:
    largest = 0
    with ContextMiddleware.open(":memory:", window=WINDOW) as ctx:
        chat = ctx.session("migration", project="shop")
        history: list[dict[str, Any]] = [
            {"role": "system", "content": "You are a careful engineer."},
            {"role": "user", "content": GOAL},
            {"role": "assistant", "content": "I will look at one file after the other."},
        ]
        for number in range(turns):
            asked, *steps = turn(number)
            history.append(asked)
            for calls in (steps[:3], steps[3:]):
                prepared = chat.prepare(history)
                largest = max(largest, tokens(prepared.messages))
                chat.finish(prepared, calls[0])
                history += calls
        compactions = ctx.stats().get("compactions", 0)
        question = {"role": "user", "content": "Who refunds order PX-4417, and when?"}
        prepared = chat.prepare([*history, question])
        print(f"history: {len(history)} messages, {tokens(history):,} tokens")
        print(f"largest prompt: {largest:,} of {WINDOW:,} tokens, {compactions} compactions")
        print(f"\nWhat the model saw at turn {turns}:\n")
        for message in prepared.messages:
            print(f"[{message['role']}] {shown(message)}")
        mem_search = memory_tools(chat)[0]
        print("\nmem_search, asked for the first file:\n")
        print(mem_search(query="cart_0.py"))


def tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return what messages have to say, counted as the model does."""
    return sum(COUNT(message["content"] or str(message["tool_calls"])) for message in messages)


def shown(message: dict[str, Any]) -> str:
    text = message["content"] or ", ".join(call["name"] for call in message["tool_calls"])
    return text if len(text) < 2_000 else f"{text[:1_500]}\n... ({len(text):,} characters)"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
