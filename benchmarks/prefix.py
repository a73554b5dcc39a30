"""How much of each prompt a provider finds in its cache, over a long conversation.

python -m benchmarks.prefix [--turns 50 200] [--windows 32000] [--json FILE]

The caller sends its clean history again with every turn: a system prompt of 6,000 tokens, then
question and answer. Seven questions in ten are about something new, of which the memory knows up
to several hundred tokens; the others come back to something earlier. Ways to bring that in:

ctxmw         blocks by `prepare`: a stable one, and parts that stay where they were
only grows    the same blocks, in a prompt to which things are only added: the most there is
in system     what was found for this question closes the system prompt
left out      what was found stands before the question, and is gone from the next prompt

Two ways in which providers cache. "anywhere": whatever begins like the prompt before.
"breakpoints": each request writes its prefix up to the end of the system prompt and up to the end
of its last message, and a prompt is served from the longest of these that it begins with.

With `--windows` the same conversation is held under a model's window, where it is compacted
whenever it gets too long. Between two compactions the prompt only grows, so the share stays high:
"between" leaves the prompts that were just compacted aside.

Beside the share of tokens served from the cache stands what all of them cost, in new tokens.
"breaks" are prompts that changed something the prompt before them had.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for

SYSTEM_TOKENS = 6_000
NEW = 0.7
"""The share of questions that are about something new."""
OTHERS = 400
"""Memories that nobody asks for; the stable block is full of them."""
FOUND = 600
"""Tokens that the two simple ways bring at most."""
GOAL = 0.95
CACHED = 0.1
"""What a token from the cache costs, of the price of a new one."""

WORDS = (
    "auth token login cache index query budget lane order price cart user session retry queue "
    "worker schema migration release deploy metric trace alert timeout parser render widget "
    "button colour locale invoice refund ledger stock courier address payment webhook signature"
).split()

Message = dict[str, Any]


BENCHMARK = Benchmark(name="prefix", about=__doc__, data="a made-up conversation", seed=7)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--turns", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--windows", type=int, nargs="*", default=[32_000])
    chosen = parser.parse_args()
    free = (row for turns in chosen.turns for row in _free(turns))
    tight = (_compacted(max(chosen.turns), window) for window in chosen.windows)
    BENCHMARK.tell(chain(free, tight), chosen)


def _free(turns: int) -> Iterator[Line]:
    """Yield how each way does where the window is endless."""
    for name, prompts in _WAYS.items():
        cache = Cache()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.db"
            with ContextMiddleware.open(path, **_options()) as ctx:
                talk = Talk(turns, Random(BENCHMARK.seed)).remembered_by(ctx)
                for prompt in prompts(ctx, talk):
                    cache.send(prompt)
        yield Line(name, _told(cache.figures()), table=f"{turns} turns")


def _compacted(turns: int, window: int) -> Line:
    """Return how a conversation does under a window that it fills several times over."""
    cache, between = Cache(), Cache()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with ContextMiddleware.open(path, window=window, **_options()) as ctx:
            before = 0
            talk = Talk(turns, Random(BENCHMARK.seed)).remembered_by(ctx)
            for prompt in _with_ctxmw(ctx, talk):
                cache.send(prompt)
                made = ctx.stats().get("compactions", 0)
                between.send(prompt, counted=made == before)
                before = made
    apart = {"compactions": before, "between %": _percent(between.figures()["anywhere"])}
    title = f"{turns} turns under {window:,} tokens"
    return Line("ctxmw", {**_told(cache.figures()), **apart}, table=title)


def _options() -> dict[str, Any]:
    """Return how a memory is opened: with no deadline, so that a busy machine changes nothing."""
    return {"clock": FixedClock(), "random": Random(1), "deadline": None}


def _told(figures: dict[str, float]) -> dict[str, float]:
    told = {"tokens": figures["tokens"], "breaks": figures["breaks"]}
    for model in ("anywhere", "breakpoints"):
        told[f"{model} %"] = _percent(figures[model])
        told[f"cost, {model}"] = round(_paid(figures["tokens"], figures[model]))
    return told


def _percent(share: float) -> float:
    return round(100 * share, 1)


def _paid(tokens: float, share: float) -> float:
    return tokens * (1 - share * (1 - CACHED))


# --- the conversation ---


@dataclass
class Talk:
    """Questions, answers, and what the memory knows about them."""

    turns: int
    random: Random
    questions: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    system: str = ""

    def remembered_by(self, ctx: ContextMiddleware) -> Talk:
        """Make up the conversation, with everything that is known before it begins."""
        self.system = self._words(SYSTEM_TOKENS)
        for number in range(OTHERS):
            ctx.remember(f"{_name(1000 + number)}: {self._words(self.random.randint(20, 80))}.")
        topics: list[str] = []
        for number in range(self.turns):
            if not topics or self.random.random() < NEW:
                topics.append(_name(number))
                for _ in range(self.random.randint(1, 8)):
                    ctx.remember(f"{topics[-1]}: {self._words(self.random.randint(20, 80))}.")
            asked = self.random.choice(topics) if self.random.random() >= NEW else topics[-1]
            self.questions.append(f"And {asked}? {self._words(12)}")
            self.answers.append(f"{self._words(self.random.randint(60, 240))}.")
        return self

    def histories(self) -> Iterator[list[Message]]:
        """Yield the caller's messages, turn by turn."""
        messages = [{"role": "system", "content": self.system}]
        for question, answer in zip(self.questions, self.answers, strict=True):
            messages.append({"role": "user", "content": question})
            yield list(messages)
            messages.append({"role": "assistant", "content": answer})

    def _words(self, n: int) -> str:
        return " ".join(self.random.choices(WORDS, k=n))


def _name(number: int) -> str:
    """Return a word that is in no other text."""
    syllables = ("ka", "lo", "mi", "nu", "re", "so", "ti", "vu", "xa", "zo")
    return "".join(syllables[int(digit)] for digit in f"{number:03d}") + "x"


# --- ways to bring in what is known ---


def _with_ctxmw(ctx: ContextMiddleware, talk: Talk) -> Iterator[list[Message]]:
    chat = ctx.session("long", project="shop", language="python")
    for messages, answer in zip(talk.histories(), talk.answers, strict=True):
        prepared = chat.prepare(messages)
        yield [dict(message) for message in prepared.messages]
        chat.finish(prepared, answer)


def _only_grows(ctx: ContextMiddleware, talk: Talk) -> Iterator[list[Message]]:
    sent: list[Message] = []
    for prompt, answer in zip(_with_ctxmw(ctx, talk), talk.answers, strict=True):
        sent += prompt[-1:] if sent else prompt
        yield list(sent)
        sent.append({"role": "assistant", "content": answer})


def _in_system(ctx: ContextMiddleware, talk: Talk) -> Iterator[list[Message]]:
    for messages in talk.histories():
        opening = f"{talk.system}\n{_found(ctx, messages[-1]['content'])}"
        yield [{"role": "system", "content": opening}, *messages[1:]]


def _left_out(ctx: ContextMiddleware, talk: Talk) -> Iterator[list[Message]]:
    for messages in talk.histories():
        question = messages[-1]["content"]
        yield [*messages[:-1], {"role": "user", "content": f"{_found(ctx, question)}\n{question}"}]


def _found(ctx: ContextMiddleware, question: str) -> str:
    return "\n".join(hit.text for hit in ctx.search(question, limit=20, budget=FOUND))


_WAYS: dict[str, Callable[[ContextMiddleware, Talk], Iterator[list[Message]]]] = {
    "ctxmw": _with_ctxmw,
    "only grows": _only_grows,
    "in system": _in_system,
    "left out": _left_out,
}


# --- the provider's cache ---


class Cache:
    """What a provider has of earlier prompts, and how much of all prompts that was."""

    def __init__(self) -> None:
        self._count = counter_for()
        self._last: list[str] = []
        self._written: set[bytes] = set()
        self._tokens = 0
        self._breaks = 0
        self._served = {"anywhere": 0, "breakpoints": 0}

    def send(self, prompt: Sequence[Message], *, counted: bool = True) -> None:
        """Serve a prompt as far as it is known, and keep what it writes."""
        pieces = [f"<|{message['role']}|>\n{message['content']}\n" for message in prompt]
        counts = [self._count(piece) for piece in pieces]
        marks = list(_marks(pieces))
        known = [at for at, mark in enumerate(marks) if mark in self._written]
        if counted:
            self._tokens += sum(counts)
            self._served["anywhere"] += self._as_before(pieces, counts)
            self._served["breakpoints"] += sum(counts[: max(known, default=-1) + 1])
        self._written |= {marks[0], marks[-1]}
        self._last = pieces

    def figures(self) -> dict[str, float]:
        shares = {name: round(n / self._tokens, 4) for name, n in self._served.items()}
        return {"tokens": self._tokens, "breaks": self._breaks, **shares}

    def _as_before(self, pieces: Sequence[str], counts: Sequence[int]) -> int:
        pairs = list(zip(self._last, pieces, strict=False))
        same = next((at for at, (old, new) in enumerate(pairs) if old != new), len(pairs))
        self._breaks += same < len(self._last)
        begun = _beginning(*pairs[same]) if same < len(pairs) else ""
        return sum(counts[:same]) + self._count(begun)


def _beginning(old: str, new: str) -> str:
    """Return what two texts begin with."""
    chars = zip(old, new, strict=False)
    return new[: next((at for at, (a, b) in enumerate(chars) if a != b), min(len(old), len(new)))]


def _marks(pieces: Sequence[str]) -> Iterator[bytes]:
    """Yield what tells the prompt up to the end of each message from all others."""
    hashed = sha256()
    for piece in pieces:
        hashed.update(piece.encode())
        yield hashed.copy().digest()


if __name__ == "__main__":
    main()
