"""The border between us and somebody's agent: a fault of ours must not stop it.

The core raises. Adapters go through `chat.forgiving()`: when something of ours fails at run time,
the caller's messages go on unchanged, the record says degraded and where, a counter rises,
`on_error` is told, and one warning is logged. With `strict=True` everything is raised. A call that
names no user, or a wrong one, is raised always: that is wiring, and forgiving it would mix up
people's memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .conversation.conversation import Identity, Prepared
from .conversation.record import ContextRecord
from .errors import CtxmwError, MissingUser, Overloaded, StoreError, WrongUser
from .runtime.async_twins import Watched, Workers, forgiving_twin
from .runtime.telemetry import where
from .values.items import long_ref
from .values.messages import Message
from .values.records import Turn

if TYPE_CHECKING:
    from .composition import Composition
    from .session import Session

P = ParamSpec("P")
T = TypeVar("T")


class ForgivingSession:
    """A conversation whose faults do not reach the caller."""

    def __init__(self, chat: Session, composition: Composition, who: Identity) -> None:
        self._chat = chat
        self._telemetry = composition.telemetry
        self._journal = composition.journal
        self._recall = composition.recall
        self._window = composition.defaults.window
        self._automatic = composition.compactor.policy.automatic
        self._who = who

    @property
    def workers(self) -> Workers:
        return self._chat.workers

    def compacts(self, window: int | None) -> bool:
        """Say whether prompts are kept within the window, of a model that has this one."""
        return self._automatic and bool(self._window or window)

    def prepare(
        self,
        messages: Sequence[Message],
        *,
        window: int | None = None,
        tools: Sequence[Any] | None = None,
        choose_tools: bool = False,
        capture: bool = True,
    ) -> Prepared:
        """Return the prepared messages; the messages as given when something of ours fails.

        What the memory was told about the window goes before what an adapter found out.
        """
        known = self._window or window
        return self._try(
            "prepare",
            lambda: self._chat.prepare(
                messages, window=known, tools=tools, choose_tools=choose_tools, capture=capture
            ),
            lambda why: self._given(messages, why, capture),
        )

    async def aprepare(
        self,
        messages: Sequence[Message],
        *,
        window: int | None = None,
        tools: Sequence[Any] | None = None,
        choose_tools: bool = False,
        capture: bool = True,
    ) -> Prepared:
        """Async twin of `prepare`; the messages as given when it cannot be begun in time."""
        import asyncio

        call = partial(
            self.prepare,
            messages,
            window=window,
            tools=tools,
            choose_tools=choose_tools,
            capture=capture,
        )
        try:
            return await self.workers.run(call, within=self._recall.limit.patience)
        except asyncio.CancelledError:
            self.given_up(messages, capture=capture)
            raise
        # Too many wait, or the memory is closed: then there are no threads any more.
        except (Overloaded, StoreError) as error:
            return self.unprepared(messages, error, capture=capture)

    def unprepared(
        self, messages: Sequence[Message], error: CtxmwError, *, capture: bool
    ) -> Prepared:
        """Return the messages as given, with a record that says why."""

        def fail() -> Prepared:
            raise error

        return self._try("prepare", fail, lambda why: self._given(messages, why, capture))

    def given_up(self, messages: Sequence[Message], *, capture: bool) -> None:
        """Have what was said kept of a call whose caller has gone before it was prepared."""
        self.workers.hand_in(lambda: self.finish(self._given(messages, "abandoned", capture)))

    def in_view(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages as they are in view; as given when something of ours fails."""
        return self._try("in_view", lambda: self._chat.in_view(messages), lambda _: list(messages))

    def began(self, prepared: Prepared) -> None:
        """Say that the answer is coming; nothing to do for a call that was not prepared."""
        if prepared.is_recorded:
            self._try("began", lambda: self._chat.began(prepared), lambda _: None)

    def finish(
        self,
        prepared: Prepared,
        reply: str | Message | None = None,
        *,
        error: str = "",
        capture: bool = True,
    ) -> ContextRecord:
        """Keep how the call ended; of one that was not prepared, what was said."""
        context = prepared.context
        return self._try(
            "finish" if prepared.is_recorded else "capture",
            lambda: self._chat.finish(prepared, reply, error=error, capture=capture),
            # Why there was no prompt of ours says more than why there is no record of it.
            lambda why: context.model_copy(update={"degraded": context.degraded or why}),
        )

    def capture(self, messages: Sequence[Message]) -> list[Turn]:
        """Store what was said; nothing when that fails."""
        return self._try("capture", lambda: self._chat.capture(messages), lambda _: [])

    def ask(self, tool: Callable[..., str], /, **arguments: Any) -> str:
        """Return a memory tool's answer; when it fails, one that a model can go on with."""
        return self._try(
            "ask",
            lambda: tool(**arguments),
            lambda _: "The memory does not answer right now: go on without it.",
        )

    def leave(self, messages: Sequence[Message], *, limit: int) -> str:
        """Archive what leaves a history; no note when that fails."""
        return self._try("leave", lambda: self._chat.leave(messages, limit=limit), lambda _: "")

    def note_of_left(self) -> str:
        """Return the note of what left; none when that fails."""
        return self._try("note_of_left", self._chat.note_of_left, lambda _: "")

    aleave = forgiving_twin(leave)
    anote_of_left = forgiving_twin(note_of_left)
    ain_view = forgiving_twin(in_view)
    abegan = forgiving_twin(began)
    afinish = forgiving_twin(finish)
    acapture = forgiving_twin(capture)
    aask = forgiving_twin(ask)

    async def off_loop(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of an adapter's call, made off the event loop as our own are."""
        return await self.workers.run_or_make(partial(call, *args, **kwargs))

    def watched(self, ended: Callable[[BaseException], object]) -> Watched:
        """Return a block, `with` or `async with`; `ended` is told of the error that ends it."""
        return Watched(self.workers, ended)

    def _try(self, stage: str, call: Callable[[], T], otherwise: Callable[[str], T]) -> T:
        try:
            return call()
        except (MissingUser, WrongUser):
            raise
        # Whatever it is: somebody's agent is waiting for its prompt.
        except Exception as error:
            if self._telemetry.strict:
                raise
            at, cause = where(error, stage)
            self._telemetry.degraded(at, cause, self._journal.clock())
            return otherwise(f"{at}: {type(cause).__name__}")

    def _given(self, messages: Sequence[Message], why: str, capture: bool = True) -> Prepared:
        who, printer = self._who, self._recall.printer
        record = ContextRecord(
            user=who.user,
            ref=long_ref(ContextRecord.prefix, self._journal.random),
            at=self._journal.clock(),
            session=who.session,
            turn="",
            epoch=0,
            tokens=0,
            limit=who.budget.total,
            counter=printer.count.name,
            exact=printer.count.exact,
            stable_build="",
            part_build="",
            degraded=why,
        )
        given = list(messages)
        return Prepared(messages=given, context=record, given=tuple(given), capture=capture)
