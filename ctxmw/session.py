"""One conversation: prepare a call, finish it, and leave something for the next conversation."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Self

from .calls.end import end, end_idle
from .calls.finish import (
    commit_entries,
    finish_call,
    finish_without_record,
    stored_record,
)
from .calls.on_demand import OnDemandAnswers
from .calls.prepare import peek_call, prepare_call
from .compaction.compact import compact
from .compaction.flushed import leave, note_of_left
from .compaction.policy import Compacted, Window
from .contents import Contents
from .conversation.conversation import Identity, Prepared, load_state
from .conversation.entered import Entered, enter, exit_from
from .conversation.history import history_of
from .conversation.record import ContextRecord
from .conversation.replay.current import current_history
from .conversation.state import SessionState
from .conversation.transcript import Exchange, Spoken, prompt_of, transcript_of
from .errors import InvalidValue, Overloaded
from .forgiving import ForgivingSession
from .learning.capture import capture_messages
from .recall.pipeline import Setup
from .runtime.async_twins import twin
from .runtime.displayed import Displayed
from .runtime.observing import CONVERSATION
from .text.secrets.redaction import redact
from .tokens.prompt_cost import Measure
from .values.clocks import checked_moment
from .values.messages import Message, check_messages, place
from .values.option_checks import checked_texts, flag, schemas, tokens
from .values.records import (
    NOTE_KINDS,
    OBSERVATION_KINDS,
    AnyRecord,
    Note,
    Observation,
    SessionSummary,
    Turn,
    check_kind,
    check_text,
)


class Session(Contents, Displayed):
    """A conversation of one user. Any thread or process may go on with it by its id.

    `with chat:` makes it the current conversation for whatever is called inside.
    """

    def __init__(self, setup: Setup, who: Identity) -> None:
        super().__init__(setup, who)
        self._entries: list[Entered] = []

    def __repr__(self) -> str:
        return f"Session({self.id!r}, user={self.user!r})"

    def __enter__(self) -> Self:
        self._entries.append(enter(self, sys._getframe(1)))
        return self

    def __exit__(self, *_: object) -> None:
        exit_from(self._entries, sys._getframe(1))

    def forgiving(self) -> ForgivingSession:
        """Return the conversation as adapters use it: a fault of ours does not stop the call."""
        return ForgivingSession(self, self._setup, self._who)

    @property
    def on_demand(self) -> OnDemandAnswers:
        """What the agent's own questions are answered with."""
        return OnDemandAnswers(self._setup, self._who)

    def prepare(
        self,
        messages: Sequence[Message],
        *,
        query: str = "",
        window: int | None = None,
        tools: Sequence[Any] = (),
        capture: bool = True,
    ) -> Prepared:
        """Return the messages with what matters placed in them, and the record of it.

        The messages given are not changed. Within a turn (retries, fallbacks, tool loops) the same
        text is placed again. `query` is looked for instead of the user's last words.

        What a person said is stored here already, whatever becomes of the call: the question, and
        what the history brings that was not captured yet. `capture=False` is for a prompt that is
        no part of the conversation.

        Where the model's window is known, here or from the memory, a prompt that takes up too much
        of it is compacted in view, and new text of ours has at most a quarter of it. `tools` are
        the JSON schemas of what the model is offered: they count.
        """
        flag(capture, "capture")
        with self._setup.observer.operation("prepare", **{CONVERSATION: self.id}) as told:
            end_idle(self._setup, self._who)
            size, offered = self._window(window), schemas(tools)
            counted = None
            if size and self._setup.compaction.automatic:
                counted = Window(tokens=size, taken=Measure(self._setup.count).tools(offered))
            who = self._asking(query, size)
            given = check_messages(messages)
            prepared = prepare_call(self._setup, who, given, counted, capture=capture)
            told.update(self._setup.observer.told_of(prepared.context))
            return prepared

    def compact(
        self, messages: Sequence[Message], *, window: int | None = None, tools: Sequence[Any] = ()
    ) -> Compacted:
        """Return the messages cut down to half the model's window, once they are near to fill it.

        Nothing is lost: what leaves is archived first, and found again by its id and by search.
        Kept are system messages, the first and the last user message, messages with
        `"pinned": True`, and whole groups of tool calls and their results. Go on with the messages
        returned, or send the whole history again: `prepare` shows the same view of it.
        """
        size = self._window(window)
        if size is None:
            raise InvalidValue(
                "the model's window is not known: give window=..., in tokens, here or to open()."
            )
        counted = Window(tokens=size, taken=Measure(self._setup.count).tools(schemas(tools)))
        with self._setup.observer.operation("compact", **{CONVERSATION: self.id}):
            return compact(self._setup, self._who, check_messages(messages), counted)

    def leave(self, messages: Sequence[Message], *, limit: int = 500) -> str:
        """Archive messages that leave a history which others keep; return a note of all that did.

        The note has at most `limit` tokens, and `note_of_left()` returns it again.
        """
        most = tokens(limit, "limit")
        return leave(self._setup, self._who, check_messages(messages), most)

    def note_of_left(self) -> str:
        """Return the note of what left; "" when nothing did."""
        return note_of_left(self._setup, self._who)

    def in_view(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages as they are in view: compacted, where the conversation was."""
        history = current_history(self._setup, self._who, check_messages(messages))
        return place(history.messages, "", history.notes) if history.view else list(messages)

    def peek(self, messages: Sequence[Message], *, query: str = "") -> Prepared:
        """Return what `prepare` would return now, and leave no trace of having looked.

        There is no record to finish, and what waits for the next call goes on waiting.
        """
        who = self._asking(query, self._setup.window)
        return peek_call(self._setup, who, check_messages(messages))

    def began(self, prepared: Prepared) -> None:
        """Say that the answer is coming (its first chunk is here): entries have arrived."""
        record = stored_record(self._setup, self._own(prepared).context)
        if record is not None:
            commit_entries(self._setup, record)

    def finish(
        self,
        prepared: Prepared,
        reply: str | Message | None = None,
        *,
        error: str = "",
        capture: bool = True,
    ) -> ContextRecord:
        """Keep how the call ended: answered with a reply, failed with an error, else abandoned.

        An answer is captured together with the question, unless told otherwise: a step on the way
        to an answer is nothing that was said. One without tool calls closes the turn. Finishing
        twice changes nothing more.
        """
        checked, answer = self._own(prepared), _as_message(reply)
        flag(capture, "capture")
        if not isinstance(error, str):
            raise InvalidValue(f"error is {error!r:.60}: give text, such as str(error).")
        finish = finish_call if checked.is_recorded else finish_without_record
        with self._setup.observer.operation("finish", **{CONVERSATION: self.id}):
            record = finish(self._setup, self._who, checked, answer, error, capture=capture)
        self._setup.has_news(self.user)
        self._setup.search.follow(self.user)
        return record

    def capture(self, messages: Sequence[Message], *, at: datetime | None = None) -> list[Turn]:
        """Store what was said, word for word but for secrets; return the turns that are new.

        A message's own `at` wins over the one given here, and that over the present.
        """
        checked = check_messages(messages)
        said = self._setup.clock() if at is None else checked_moment(at, "at")
        history = current_history(self._setup, self._who, checked)
        given, trail = history.given, history.given_trail
        turns = capture_messages(self._setup, self._who, given, trail, said)
        self._setup.has_news(self.user)
        return turns

    def note(self, kind: str, text: str) -> Note:
        """Leave a line on where the work stands: "done", "decided", "blocked" or "next"."""
        check_kind(kind, NOTE_KINDS, "note")
        return self._write(Note, kind=kind, text=redact(check_text(text, "a note")).text)

    def observe(
        self,
        title: str,
        *,
        kind: str,
        text: str = "",
        files: Sequence[str] = (),
        concepts: Sequence[str] = (),
    ) -> Observation:
        """Leave something noticed while working, such as a bugfix or a discovery."""
        check_kind(kind, OBSERVATION_KINDS, "observation")
        said = redact(check_text(title, "an observation's title")).text
        lists = {"files": _lines(files, "files"), "concepts": _lines(concepts, "concepts")}
        if not isinstance(text, str):
            raise InvalidValue(f"an observation's text must be text, not {type(text).__name__}.")
        return self._write(Observation, kind=kind, title=said, text=redact(text).text, **lists)

    def end(
        self,
        summary: str = "",
        *,
        decisions: Sequence[str] = (),
        concepts: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> SessionSummary | None:
        """End the conversation and return its summary, which opens the next ones.

        Without one given, it is made of what was said. A later message reopens the conversation,
        and its next end replaces the summary.
        """
        said = redact(check_text(summary, "a summary")).text if summary != "" else ""
        lists = {"decisions": decisions, "concepts": concepts, "files": files}
        kept = {name: _lines(lines, name) for name, lines in lists.items() if lines}
        with self._setup.store.atomic(self.user):
            given = self._new(SessionSummary, text=said, **kept) if said else None
            kept_summary = end(self._setup, self._who, given)
        self._setup.has_news(self.user)
        return kept_summary

    @property
    def state(self) -> SessionState:
        """Where the conversation stands: project, epoch, what was added and removed."""
        return load_state(self._setup, self._who, self._setup.clock())

    def history(self) -> list[ContextRecord]:
        """Return the record of every call, oldest first, with the blocks as they were sent."""
        return history_of(self._setup, self.user, self.id)

    def transcript(self) -> list[Exchange]:
        """Return the conversation turn by turn: what was said, and the record of every call."""
        return transcript_of(self._setup, self.user, self.id)

    def prompt(self, record: ContextRecord) -> list[Spoken]:
        """Return the prompt of one of its calls, as far as it is stored.

        Our text comes back to the byte, the rest as it was captured; a system prompt never is.
        """
        if not isinstance(record, ContextRecord) or record.user != self.user:
            raise InvalidValue(
                f"record is {record!r:.60}: give one of this conversation's history()."
            )
        return prompt_of(self._setup, record)

    async def aprepare(
        self,
        messages: Sequence[Message],
        *,
        query: str = "",
        window: int | None = None,
        tools: Sequence[Any] = (),
        capture: bool = True,
    ) -> Prepared:
        """Async twin of `prepare`.

        When so many calls wait that this one cannot be begun in time, it goes out as it was given
        and its record says so (`degraded`). Finish it as any other: what was said is kept. It also
        is when the caller gives up waiting.
        """
        import asyncio

        call = partial(
            self.prepare, messages, query=query, window=window, tools=tools, capture=capture
        )
        try:
            return await self.workers.run(call, within=self._setup.patience)
        except Overloaded as error:
            given = check_messages(messages)
            return self.forgiving().unprepared(given, error, capture=capture)
        except asyncio.CancelledError:
            self.forgiving().given_up(check_messages(messages), capture=capture)
            raise

    apeek = twin(peek)
    acompact = twin(compact)
    ain_view = twin(in_view)
    aleave = twin(leave)
    anote_of_left = twin(note_of_left)
    abegan = twin(began)
    afinish = twin(finish)
    acapture = twin(capture)
    anote = twin(note)
    aobserve = twin(observe)
    aend = twin(end)
    ahistory = twin(history)
    atranscript = twin(transcript)
    aprompt = twin(prompt)

    def _asking(self, query: str, window: int | None) -> Identity:
        if not isinstance(query, str):
            raise InvalidValue(f"query is {query!r:.60}: give text.")
        who = self._who.in_window(window)
        return replace(who, query=query) if query else who

    def _window(self, given: int | None) -> int | None:
        if given is not None and (
            isinstance(given, bool) or not isinstance(given, int) or given < 1
        ):
            raise InvalidValue(f"window is {given!r:.60}: give the model's window in tokens.")
        return given or self._setup.window

    def _own(self, prepared: Prepared) -> Prepared:
        """Return what this conversation prepared; another's would mix up what people said."""
        if not isinstance(prepared, Prepared):
            raise InvalidValue(f"give what prepare returned, not {type(prepared).__name__}.")
        whose = (prepared.context.user, prepared.context.session)
        if whose != (self.user, self.id):
            raise InvalidValue(
                f"this was prepared for the conversation {whose[1]!r} of {whose[0]!r}: "
                f"finish it there, not in {self.id!r} of {self.user!r}."
            )
        return prepared

    def _write(self, cls: type[AnyRecord], **values: Any) -> AnyRecord:
        with self._setup.store.atomic(self.user):
            record = self._new(cls, **values)
            self._setup.store.put([record.row()])
        return record


def _as_message(reply: str | Message | None) -> Message | None:
    if reply is None:
        return None
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        raise InvalidValue(
            f"reply is {reply!r:.60}: give the answer's text, or its message, which has the role "
            "assistant."
        )
    return check_messages([message])[0]


def _lines(lines: Sequence[str], what: str) -> tuple[str, ...]:
    return tuple(redact(line).text for line in checked_texts(lines, what))
