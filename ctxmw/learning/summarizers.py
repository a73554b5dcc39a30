"""Asks a language model, where there is one, and never waits longer or spends more than it may.

A model is told apart by its methods, so no framework is imported to look at one. It is asked in a
thread of its own, without the caller's context variables: what it says must not show up in the
stream of whoever is being answered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import InvalidValue, SummarizerError
from ..protocols import Clock, Summarizer, TokenCounter
from ..runtime.telemetry import Stats
from ..values.messages import message_text

AT_ONCE = 2
"""Questions under way at the same time; one that never ends keeps its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizerLimits:
    """What a summarizer may spend in this process, and how long it may take."""

    calls: int = 200
    """Calls a day (UTC)."""
    tokens: int = 400_000
    """Tokens a day, of prompts and answers together, counted with the memory's counter."""
    prompt: int = 6_000
    """Tokens of one prompt; what is longer is not asked."""
    timeout: float = 30.0
    """Seconds to wait for an answer."""


def as_summarizer(given: object) -> Summarizer:
    """Return a summarizer for an object that answers a prompt.

    Accepted: a LangChain chat model or any runnable that takes text; a LlamaIndex LLM; a function
    from text to text.
    """
    for has, make in _SHAPES:
        # A class has the methods too, yet nothing to call them on.
        if not isinstance(given, type) and has(given):
            return make(given)
    raise InvalidValue(
        f"summarizer is {given!r:.80}. Allowed: a LangChain chat model, a LlamaIndex LLM, or a "
        "function that takes a prompt and returns text."
    )


class MeteredSummarizer:
    """A summarizer that keeps to its limits; every call is counted in the stats."""

    def __init__(
        self,
        summarizer: Summarizer,
        limits: SummarizerLimits,
        *,
        count: TokenCounter,
        clock: Clock,
        stats: Stats,
    ) -> None:
        self.limits = limits
        self._summarizer = summarizer
        self.count = count
        self._clock = clock
        self._stats = stats
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._day: date | None = None
        self._calls = self._tokens = 0

    def ask(self, prompt: str, *, timeout: float | None = None) -> str:
        """Return the answer; SummarizerError when there is none, too late, or none left to ask."""
        self._admit(self.count(prompt))
        answer = self._answer(prompt, self.limits.timeout if timeout is None else timeout).strip()
        if not answer:
            raise self._failed("empty", "the summarizer answered nothing.")
        self._spend(self.count(answer))
        return answer

    def _admit(self, tokens: int) -> None:
        limits = self.limits
        if tokens > limits.prompt:
            raise self._failed("long", f"a prompt of {tokens} tokens is over {limits.prompt}.")
        with self._lock:
            today = self._clock().date()
            if today != self._day:
                self._day, self._calls, self._tokens = today, 0, 0
            if self._calls >= limits.calls or self._tokens + tokens > limits.tokens:
                spent = f"{self._calls} calls and {self._tokens} tokens"
                raise self._failed("capped", f"the summarizer has spent {spent} today.")
            self._calls += 1
        self._stats.count("summarizer.calls")
        self._spend(tokens)

    def _spend(self, tokens: int) -> None:
        with self._lock:
            self._tokens += tokens
        self._stats.count("summarizer.tokens", tokens)

    def _answer(self, prompt: str, timeout: float) -> str:
        if not self._places.acquire(blocking=False):
            raise self._failed("busy", f"{AT_ONCE} questions are waiting for the summarizer.")
        answers: SimpleQueue[str | Exception] = SimpleQueue()

        def answer() -> None:
            try:
                answers.put(_checked(self._summarizer(prompt)))
            except Exception as error:  # noqa: BLE001 - a model may raise anything
                answers.put(error)
            finally:
                self._places.release()

        # A daemon: a model that hangs must not keep the process from ending.
        threading.Thread(target=answer, name="ctxmw-summarizer", daemon=True).start()
        try:
            given = answers.get(timeout=timeout)
        except Empty:
            raise self._failed("timeout", f"no answer within {timeout:g} seconds.") from None
        if isinstance(given, Exception):
            raise self._failed("error", f"the summarizer failed: {given!r:.200}.") from given
        return given

    def _failed(self, why: str, message: str) -> SummarizerError:
        self._stats.count(f"summarizer.failed.{why}")
        return SummarizerError(f"{message} What works without it goes on.")


def _checked(answer: object) -> str:
    if not isinstance(answer, str):
        raise TypeError(f"it answered {type(answer).__name__}, not text")
    return answer


def _of_langchain(given: Any) -> Summarizer:
    def ask(prompt: str, /) -> str:
        answer = given.invoke(prompt)
        return answer if isinstance(answer, str) else message_text({"content": answer.content})

    return ask


def _of_llamaindex(given: Any) -> Summarizer:
    return lambda prompt, /: str(given.complete(prompt).text)


def _of_function(given: Any) -> Summarizer:
    asks: Summarizer = given
    return asks


_SHAPES: tuple[tuple[Callable[[object], bool], Callable[[Any], Summarizer]], ...] = (
    (lambda given: callable(getattr(given, "invoke", None)), _of_langchain),
    (lambda given: callable(getattr(given, "complete", None)), _of_llamaindex),
    (callable, _of_function),
)
