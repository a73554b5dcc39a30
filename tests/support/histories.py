"""Histories to compact: parallel and nested tool calls, pinned messages, interrupted tails."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from hypothesis import strategies as st

Message = dict[str, Any]
MARK = re.compile(r"zq[a-j]+zq")
"""Every message has a word of its own, by which it is known again."""
WORDS = (
    "auth token cache retry queue schema deploy metric parser cart price login must never".split()
)


def mark_of(message: Message) -> str:
    """Return the word that only this message has."""
    return MARK.findall(f"{message['content']} {message.get('tool_calls', '')}")[-1]


def history(seed: int) -> list[Message]:
    """Return a history that a provider would accept, but for an interrupted end."""
    return _Talk(Random(seed)).messages()


histories = st.builds(history, st.integers(0, 2**32))


class _Talk:
    """Makes up a conversation."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._made = 0
        self._calls = 0

    def messages(self) -> list[Message]:
        said: list[Message] = []
        if self._random.random() < 0.7:
            said.append({"role": "system", "content": self._words(20)})
        if self._random.random() < 0.1:
            said.append(self._say("assistant", 10))
        for _ in range(self._random.randint(1, 5)):
            said += self._turn()
        if self._random.random() < 0.3:
            said += self._interrupted()
        return said

    def _turn(self) -> list[Message]:
        said = [self._say("user", 20)]
        for _ in range(self._random.choice((0, 0, 1, 2, 3))):
            said += self._rounds()
        if self._random.random() < 0.9:
            said.append(self._say("assistant", 25))
        return said

    def _rounds(self) -> list[Message]:
        """Return calls and their results: in parallel, nested, or one call after the other."""
        first, answers = self._call(self._random.choice((1, 1, 2, 3)))
        self._random.shuffle(answers)
        if self._random.random() < 0.7:
            return [first, *answers]
        second, inner = self._call(self._random.choice((1, 2)))
        mixed = [*answers, *inner] if self._random.random() < 0.5 else [*inner, *answers]
        said = [first, second, *mixed]
        if self._random.random() < 0.3:
            said.insert(2, self._say("assistant", 5))
        return said

    def _interrupted(self) -> list[Message]:
        call, answers = self._call(self._random.choice((1, 2, 3)))
        return [self._say("user", 10), call, *answers[: self._random.randrange(len(answers))]]

    def _call(self, n: int) -> tuple[Message, list[Message]]:
        ids = [f"call_{self._calls + at}" for at in range(n)]
        self._calls += n
        calls = [{"id": id_, "name": "look", "args": {"at": self._mark()}} for id_ in ids]
        text = self._words(5) if self._random.random() < 0.3 else ""
        call: Message = {"role": "assistant", "content": text, "tool_calls": calls}
        return call, [{**self._say("tool", 80), "tool_call_id": id_, "name": "look"} for id_ in ids]

    def _say(self, role: str, most: int) -> Message:
        message: Message = {"role": role, "content": self._words(self._random.randint(1, most))}
        if self._random.random() < 0.03:
            message["pinned"] = True
        return message

    def _words(self, n: int) -> str:
        words = self._random.choices(WORDS, k=n)
        breaks = [word if self._random.random() < 0.9 else f"{word}.\n" for word in words]
        return f"{' '.join(breaks)} {self._mark()}"

    def _mark(self) -> str:
        self._made += 1
        # Letters only: search takes words with digits apart.
        return f"zq{''.join(chr(97 + int(digit)) for digit in str(self._made))}zq"
