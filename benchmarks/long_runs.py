"""Nine long conversations: three kinds of application under three windows, prompt by prompt.

    python -m benchmarks.long_runs [--turns 300] [--windows 2000 8000 32000] [--json FILE]
                                   [--kinds langchain agent engine]

A stand-in for the model says what the script wants, and keeps every prompt with its tools. Most
turns are ordinary talk (benchmarks/data/ordinary_chat.txt). In 30 turns a tool is called whose
output (JSON, CSV, a log or prose of 300 to 1,500 tokens) holds a fact; 59 turns later it is asked
for. An agent asks `mem_search` then, a chat engine has no tools: there the user tells the record.

invalid    prompts that OpenAI or Anthropic would refuse: a result without its call, a call without
           its result, a first message that is not the user's; and two messages of one role in a
           row, which strict chat templates refuse
over       prompts that have more tokens than the window, tools included ("told": and the record
           said so)
goal       prompts with the user's first words
facts      facts in the prompt of the turn that asks for them, or in the answer of `mem_search`
prefix     share of all tokens, tools first, with which the prompt before began too
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.prefix import WORDS
from benchmarks.report import Benchmark, Line
from benchmarks.stand_ins import LangChainStandIn, LlamaIndexStandIn, Say, Sent
from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure

CHAT = Path(__file__).parent / "data" / "ordinary_chat.txt"
GOAL = "Plan the move of our bakery to Fuller Street. Never order anything without asking me."
FACTS, FIRST, EVERY, LATER = 30, 5, 8, 59
COUNT = counter_for("cl100k_base")
MEASURE = Measure(COUNT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the user says, and what the model says to it, call by call."""

    asked: str
    says: list[Say]
    fact: str = ""
    """What is to be reached in this turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A conversation of so many turns, and what its tool answers."""

    turns: int
    agent: bool
    outputs: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Turn]:
        random, chat = Random(26), CHAT.read_text(encoding="utf-8").splitlines()
        facts = [(_name(random), str(random.randrange(10_000, 99_999))) for _ in range(FACTS)]
        for at in range(self.turns):
            number, rest = divmod(at - FIRST, EVERY)
            asking, at_once = divmod(at - FIRST - LATER, EVERY)
            if at == 0:
                yield Turn(asked=GOAL, says=["I will plan it with you, step by step."])
            elif not rest and 0 <= number < FACTS:
                yield self._told(number, *facts[number], random)
            elif not at_once and 0 <= asking < FACTS:
                name, value = facts[asking]
                asked = f"What was the batch number of {name} again?"
                search: list[Say] = [[("mem_search", {"query": asked})]] if self.agent else []
                yield Turn(asked=asked, says=[*search, "I will look at it."], fact=value)
            else:
                yield Turn(asked=chat[at % len(chat)], says=[_words(random, 60)])

    def _told(self, number: int, name: str, value: str, random: Random) -> Turn:
        text = _output(number, name, value, random)
        answer = "I have the record now."
        if not self.agent:
            return Turn(asked=f"Here is the record of {name}:\n{text}", says=[answer])
        self.outputs[name] = text
        others = [f"side {number} {at}" for at in range(number % 3)]
        self.outputs.update({other: _words(random, 300) for other in others})
        calls = [("look_up", {"subject": one}) for one in (*others, name)]
        return Turn(asked=f"Look up the record of {name}.", says=[calls, answer])


def _output(number: int, name: str, value: str, random: Random) -> str:
    rows = [
        {
            "subject": _name(random),
            "batch": random.randrange(10_000, 99_999),
            "note": _words(random, 6),
        }
        for _ in range(random.randint(10, 50))
    ]
    rows.insert(len(rows) // 2, {"subject": name, "batch": int(value), "note": _words(random, 6)})
    if number % 4 == 0:
        return json.dumps({"status": "ok", "records": rows})
    if number % 4 == 1:
        lines = (f"{row['subject']},{row['batch']},{row['note']}" for row in rows)
        return "\n".join(["subject,batch,note", *lines])
    if number % 4 == 2:
        return "\n".join(
            f"2026-03-02 09:{at:02d} INFO batch {row['batch']} of {row['subject']} {row['note']}"
            for at, row in enumerate(rows)
        )
    told = (f"The batch number of {row['subject']} is {row['batch']}." for row in rows)
    return " ".join(f"{one} {_words(random, 6)}." for one in told)


def _name(random: Random) -> str:
    syllables = "ka lo mi nu re so ti vu xa zo bel dor fen gar hul".split()
    return " ".join("".join(random.choices(syllables, k=3)).capitalize() for _ in range(2))


def _words(random: Random, n: int) -> str:
    return " ".join(random.choices(WORDS, k=n))


# --- three kinds of application ---


def run_langchain(ctx: ContextMiddleware, script: Script, _: int) -> Iterator[list[Sent]]:
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver

    from ctxmw_langchain import ContextAgentMiddleware

    @tool
    def look_up(subject: str) -> str:
        """Look up a record by its subject."""
        return script.outputs[subject]

    model = LangChainStandIn()
    agent: Any = create_agent(
        model,
        tools=[look_up],
        system_prompt="You help a bakery.",
        middleware=[ContextAgentMiddleware(ctx)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "long"}, "recursion_limit": 50}
    for turn in script:
        begun = len(model.sent)
        model.script = list(turn.says)
        agent.invoke({"messages": [("user", turn.asked)]}, config)
        yield model.sent[begun:]


def run_agent(ctx: ContextMiddleware, script: Script, window: int) -> Iterator[list[Sent]]:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.workflow import Context

    from ctxmw_llamaindex import memory_tools, with_context

    def look_up(subject: str) -> str:
        """Look up a record by its subject."""
        return script.outputs[subject]

    bare = LlamaIndexStandIn(window=window)
    agent: Any = with_context(
        FunctionAgent(
            llm=bare,
            tools=[look_up, *memory_tools(ctx, tools=["mem_search", "mem_get"])],
            system_prompt="You help a bakery.",
            streaming=False,
        ),
        ctx,
        session="long",
    )
    model = agent.llm
    loop = asyncio.new_event_loop()
    memory = Context(agent)

    async def say(text: str) -> None:
        await agent.run(user_msg=text, ctx=memory)

    for turn in script:
        begun = len(model.sent)
        model.script[:] = turn.says
        loop.run_until_complete(say(turn.asked))
        yield model.sent[begun:]
    loop.close()


def run_engine(ctx: ContextMiddleware, script: Script, window: int) -> Iterator[list[Sent]]:
    from llama_index.core.chat_engine import SimpleChatEngine

    from ctxmw_llamaindex import with_context

    bare = LlamaIndexStandIn(window=window)
    plain = SimpleChatEngine.from_defaults(llm=bare, system_prompt="You help a bakery.")
    engine: Any = with_context(plain, ctx, session="long")
    model = engine._llm
    for turn in script:
        begun = len(model.sent)
        model.script[:] = turn.says
        engine.chat(turn.asked)
        yield model.sent[begun:]


Kind = Callable[[ContextMiddleware, Script, int], Iterator[list[Sent]]]
KINDS: dict[str, Kind] = {"langchain": run_langchain, "agent": run_agent, "engine": run_engine}


# --- what is counted ---


def measured(kind: str, window: int, turns: int) -> dict[str, Any]:
    """Return the figures of one run."""
    script = Script(turns=turns, agent=kind != "engine")
    sent: list[Sent] = []
    asked = reached = alone = 0
    options: dict[str, Any] = {"clock": FixedClock(), "random": Random(1), "deadline": None}
    with ContextMiddleware.open(":memory:", window=window, strict=True, **options) as ctx:
        for turn, prompts in zip(script, KINDS[kind](ctx, script, window), strict=False):
            sent += prompts
            if turn.fact:
                asked += 1
                alone += turn.fact in _text(prompts[0])
                reached += any(turn.fact in _text(prompt) for prompt in prompts)
        chat = ctx.session("long", user="local")
        told = sum(record.over_window > 0 for record in chat.history())
        compactions = ctx.stats().get("compactions", 0)
    tokens = [_tokens(prompt) for prompt in sent]
    return {
        "prompts": len(sent),
        "compactions": compactions,
        "invalid": sum(map(_is_invalid, sent)),
        "alike": sum(map(_has_neighbours, sent)),
        "over": sum(one > window for one in tokens),
        "told": told,
        "largest": max(tokens),
        "goal": sum(GOAL in _text(prompt) for prompt in sent),
        "asked": asked,
        "facts": reached,
        "by itself": alone,
        "prefix": round(_prefix(sent), 4),
    }


def _text(prompt: Sent) -> str:
    return "\n".join(message["content"] for message in prompt[0])


def _tokens(prompt: Sent) -> int:
    return MEASURE.messages(prompt[0]) + MEASURE.tools(prompt[1])


def _is_invalid(prompt: Sent) -> bool:
    said = [message for message in prompt[0] if message["role"] != "system"]
    waiting: list[str] = []
    for message in said:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return True
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return True
        waiting += [call["id"] for call in message.get("tool_calls", ())]
    return bool(waiting) or said[0]["role"] != "user"


def _has_neighbours(prompt: Sent) -> bool:
    said = [message for message in prompt[0] if message["role"] != "system"]
    return any(one["role"] == other["role"] != "tool" for one, other in pairwise(said))


def _prefix(sent: Sequence[Sent]) -> float:
    """Return the share of all tokens that stood at the beginning of the prompt before as well."""
    same = total = 0
    for before, prompt in pairwise(sent):
        one, other = _pieces(before), _pieces(prompt)
        total += sum(map(COUNT, other))
        for mine, theirs in zip(one, other, strict=False):
            if mine != theirs:
                same += COUNT(_common(mine, theirs))
                break
            same += COUNT(mine)
    return same / max(1, total)


def _pieces(prompt: Sent) -> list[str]:
    tools = [json.dumps(tool, default=str) for tool in prompt[1]]
    return [
        *tools,
        *(f"{one['role']}: {one['content']} {one.get('tool_calls', '')}" for one in prompt[0]),
    ]


def _common(one: str, other: str) -> str:
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[:at] if at is not None else min(one, other, key=len)


BENCHMARK = Benchmark(
    name="long_runs",
    about=__doc__,
    data="benchmarks/data/ordinary_chat.txt, facts and outputs made up",
    seed=26,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--windows", type=int, nargs="+", default=[2_000, 8_000, 32_000])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    chosen = parser.parse_args()
    rows = (
        Line(f"{kind} {window:,}", measured(kind, window, chosen.turns))
        for kind in chosen.kinds
        for window in chosen.windows
    )
    BENCHMARK.tell(rows, chosen)


if __name__ == "__main__":
    main()
