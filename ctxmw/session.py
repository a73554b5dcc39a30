"""One conversation: prepare a call, finish it, and leave something for the next conversation."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .calls.binding import OfferedTools
from .calls.end import end, end_idle
from .calls.prepare import peek_call, prepare_call
from .compaction.compactor import Compacted, Window
from .composition import Composition
from .conversation.conversation import Identity, Prepared, own_prepared
from .conversation.exchanges import Telling
from .conversation.record import ContextRecord, told_of
from .conversation.replay.current import current_history
from .conversation.state import SessionState
from .entered import Entered, enter, exit_from
from .errors import InvalidValue, Overloaded
from .recall.entries import LIFETIME, Entry, checked_entry
from .recall.offering.view import SessionContext
from .runtime.async_twins import Workers, twin
from .runtime.displayed import Displayed
from .runtime.telemetry import CONVERSATION
from .tokens.prompt_counter import Measure
from .values.argument_checks import check_name, check_text, checked_window, flag, schemas, tokens
from .values.clocks import checked_moment
from .values.items import Priority, Trust
from .values.messages import Message, Spoken, check_messages, checked_reply, place
from .values.records import Note, Observation, SessionSummary, Turn

if TYPE_CHECKING:
    from .calls.on_demand import OnDemandAnswers
    from .calls.writing import AgentWriting
    from .conversation.history import Exchange
    from .forgiving import ForgivingSession


class Session(Displayed):
    """A conversation of one user. Any thread or process may go on with it by its id.

    `with chat:` makes it the current conversation for whatever is called inside.
    """

    def __init__(self, composition: Composition, who: Identity) -> None:
        self._composition = made = composition
        self._who = who
        self._recall, self._conversations = made.recall, made.conversations
        self._learner, self._compactor = made.learner, made.compactor
        self._journal, self._observer = made.journal, made.telemetry.observer
        self._entries: list[Entered] = []

    def __repr__(self) -> str:
        return f"Session({self.id!r}, user={self.user!r})"

    def __enter__(self) -> Self:
        self._entries.append(enter(self, sys._getframe(1)))
        return self

    def __exit__(self, *_: object) -> None:
        exit_from(self._entries, sys._getframe(1))

    @property
    def id(self) -> str:
        return self._who.session

    @property
    def user(self) -> str:
        return self._who.user

    @property
    def workers(self) -> Workers:
        return self._recall.limit.workers

    def forgiving(self) -> ForgivingSession:
        """Return the conversation as adapters use it: a fault of ours does not stop the call."""
        from .forgiving import ForgivingSession

        return ForgivingSession(self, self._composition, self._who)

    def without_learning(self) -> Session:
        """Return the conversation as one from which nothing is learned, for a call or for more."""
        return Session(self._composition, replace(self._who, learn=False))

    def placed(self, *, project: str | None = None, cwd: str | Path | None = None) -> Session:
        """Return the conversation as one that takes place in this project, or in this folder."""
        if project is None and cwd is None:
            return self
        # A folder that is named tells its own project, whatever that of the conversation was.
        moved = replace(self._who, project=project)
        return Session(self._composition, self._composition.placed(moved, cwd or self._who.cwd))

    def child(self, name: str) -> Session:
        """Return the conversation of a subagent that works for this one; it teaches nothing."""
        inner = f"{self.id}|{check_name(check_text(name, 'name'), 'name')}"
        return Session(self._composition, replace(self._who, session=inner, learn=False))

    @property
    def on_demand(self) -> OnDemandAnswers:
        """What the agent's own questions are answered with."""
        from .calls.on_demand import OnDemandAnswers

        defaults = self._composition.defaults
        policy = defaults.on_demand.within(defaults.window)
        return OnDemandAnswers(self._recall, self._conversations, policy, self._who)

    @property
    def writing(self) -> AgentWriting:
        """What the agent's own tools write."""
        from .calls.writing import AgentWriting

        return AgentWriting(self._learner, self._who)

    def prepare(
        self,
        messages: Sequence[Message],
        *,
        query: str = "",
        window: int | None = None,
        tools: Sequence[Any] | None = None,
        choose_tools: bool = False,
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
        the JSON schemas of what the model is offered: they count. With `choose_tools=True` the
        model is sent those alone that `Prepared.bound` names, and only they count: of the
        catalog's tools the ones that requests called for, and all that it does not know. Only a
        model that has mem_get or
        mem_search is told of what it could fetch; where tools are not told (None), that is one of a
        memory whose tools were given out.
        """
        flag(capture, "capture")
        flag(choose_tools, "choose_tools")
        with self._observer.operation("prepare", **{CONVERSATION: self.id}) as told:
            if self._conversations.idle_due(self._who):
                end_idle(self._recall, self._learner, self._who)
            if self._composition.retains_some:
                self._composition.keeper.look_in_passing(self.user)
            size, offered = self._window(window), () if tools is None else schemas(tools)
            automatic = size and self._compactor.policy.automatic
            counted = Window(tokens=size) if size and automatic else None
            given = self._conversations.checked(self._who, messages)
            who = self._fetching(self._asking(query, size), tools, given)
            tools_given = OfferedTools(schemas=tuple(offered), chosen=choose_tools)
            prepared = prepare_call(
                self._compactor, who, given, counted, offered=tools_given, capture=capture
            )
            told.update(told_of(prepared.context, self._observer))
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
        from .compaction.compact import compact

        counted = self._counted(self._window(window), schemas(tools))
        with self._observer.operation("compact", **{CONVERSATION: self.id}):
            given = check_messages(messages)
            who = self._fetching(self._who, tools or None, given)
            return compact(self._compactor, who, given, counted)

    def leave(self, messages: Sequence[Message], *, limit: int = 500) -> str:
        """Archive messages that leave a history which others keep; return a note of all that did.

        The note has at most `limit` tokens, and `note_of_left()` returns it again.
        """
        from .compaction.compact import leave

        most = tokens(limit, "limit")
        given = check_messages(messages)
        return leave(self._compactor, self._fetching(self._who, None, given), given, most)

    def note_of_left(self) -> str:
        """Return the note of what left; "" when nothing did."""
        from .compaction.compact import note_of_left

        return note_of_left(self._conversations, self._who)

    def in_view(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages as they are in view: compacted, where the conversation was."""
        history = current_history(self._conversations, self._who, check_messages(messages))
        return place(history.messages, "", history.notes) if history.view else list(messages)

    def peek(self, messages: Sequence[Message], *, query: str = "") -> Prepared:
        """Return what `prepare` would return now, and leave no trace of having looked.

        There is no record to finish, and what waits for the next call goes on waiting.
        """
        who, given = (
            self._asking(query, self._composition.defaults.window),
            check_messages(messages),
        )
        return peek_call(self._compactor, self._fetching(who, None, given), given)

    def began(self, prepared: Prepared) -> None:
        """Say that the answer is coming (its first chunk is here): entries have arrived."""
        from .calls.finish import commit_entries, stored_record

        record = stored_record(self._journal.store, own_prepared(prepared, self._who).context)
        if record is not None:
            commit_entries(self._journal.store, record)

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
        from .calls.finish import finish_call, finish_without_record

        checked, answer = own_prepared(prepared, self._who), checked_reply(reply)
        flag(capture, "capture")
        if not isinstance(error, str):
            raise InvalidValue(f"error is {error!r:.60}: give text, such as str(error).")
        finish = finish_call if checked.is_recorded else finish_without_record
        with self._observer.operation("finish", **{CONVERSATION: self.id}):
            record = finish(self._learner, self._who, checked, answer, error, capture=capture)
        self._learner.has_news(self.user)
        self._recall.search.follow(self.user)
        return record

    def capture(self, messages: Sequence[Message], *, at: datetime | None = None) -> list[Turn]:
        """Store what was said, word for word but for secrets; return the turns that are new.

        A message's own `at` wins over the one given here, and that over the present.
        """
        checked = check_messages(messages)
        said = self._journal.clock() if at is None else checked_moment(at, "at")
        history = current_history(self._conversations, self._who, checked)
        told = Telling(messages=history.given, trail=history.given_trail, at=said)
        turns = self._learner.capture(self._who, told)
        self._learner.has_news(self.user)
        return turns

    def note(self, kind: str, text: str) -> Note:
        """Leave a line on where the work stands: "done", "decided", "blocked" or "next"."""
        from .conversation.contents import leave_note

        return leave_note(self._conversations, self._who, kind, text)

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
        from .conversation.contents import leave_observation

        lists = {"files": files, "concepts": concepts}
        return leave_observation(self._conversations, self._who, kind, title, text, **lists)

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
        from .conversation.contents import new_summary

        lists = {"decisions": decisions, "concepts": concepts, "files": files}
        with self._journal.store.atomic(self.user):
            given = new_summary(self._conversations, self._who, summary, **lists)
            ended = end(self._recall, self._learner, self._who, given)
        self._learner.has_news(self.user)
        return ended

    def collect(
        self,
        source: str,
        id: str,  # noqa: A002 - the word the caller knows
        content: str,
        *,
        priority: Priority = "normal",
        metadata: Mapping[str, Any] | None = None,
        lifetime: timedelta = LIFETIME,
        trust: Trust | None = None,
    ) -> Entry:
        """Leave something for the next call of this conversation; it is shown once.

        The same source and id again replaces what still waits.
        """
        from .conversation.contents import collect_entry

        values = checked_entry(source, id, content, priority, metadata)
        if not isinstance(lifetime, timedelta):
            raise InvalidValue(f"lifetime is {lifetime!r:.60}: give a timedelta.")
        values["trust"] = self._learner.trust_in(source, trust)
        return collect_entry(self._conversations, self._who, lifetime, **values)

    def pending(self) -> list[Entry]:
        """Return what waits for the next call: by priority, then oldest first."""
        from .conversation.contents import pending

        return pending(self._conversations, self._who)

    def clear(self) -> int:
        """Discard what waits for the next call; return how many there were."""
        return self._journal.store.delete(self.user, [entry.ref for entry in self.pending()])

    def add(self, name: str) -> None:
        """Put a rule, reference, tool or record into this conversation, by name or ref."""
        from .conversation.contents import move

        move(self._conversations, self._recall.catalog, self._who, name, "added")

    def remove(self, name: str) -> None:
        """Take it out of this conversation; it stays out, also of what search brings."""
        from .conversation.contents import move

        move(self._conversations, self._recall.catalog, self._who, name, "removed")

    def unpin(self, name: str) -> None:
        """Let it come by itself again: neither added to this conversation nor taken out of it."""
        from .conversation.contents import move

        move(self._conversations, self._recall.catalog, self._who, name, "neither")

    def refresh(self) -> None:
        """Have the next call build the stable block anew."""
        self._conversations.change(self._who, stale="refresh")

    @property
    def rules(self) -> list[str]:
        """Names of the rules in this conversation."""
        return self._context().names("rule")

    @property
    def references(self) -> list[str]:
        """Names of the references in this conversation."""
        return self._context().names("reference")

    @property
    def tools(self) -> list[str]:
        """Names of the tools in this conversation, as server:tool."""
        return self._context().names("tool")

    @property
    def state(self) -> SessionState:
        """Where the conversation stands: project, epoch, what was added and removed."""
        return self._conversations.load(self._who)

    def history(self) -> list[ContextRecord]:
        """Return the record of every call, oldest first, with the blocks as they were sent."""
        from .conversation.history import history_of

        return history_of(self._journal, self.user, self.id)

    def transcript(self) -> list[Exchange]:
        """Return the conversation turn by turn: what was said, and the record of every call."""
        from .conversation.history import transcript_of

        return transcript_of(self._journal, self.user, self.id)

    def prompt(self, record: ContextRecord) -> list[Spoken]:
        """Return the prompt of one of its calls, as far as it is stored.

        Our text comes back to the byte, the rest as it was captured; a system prompt never is.
        """
        from .conversation.history import prompt_of

        return prompt_of(self._journal, self.user, record)

    async def aprepare(
        self,
        messages: Sequence[Message],
        *,
        query: str = "",
        window: int | None = None,
        tools: Sequence[Any] | None = None,
        choose_tools: bool = False,
        capture: bool = True,
    ) -> Prepared:
        """Async twin of `prepare`.

        When so many calls wait that this one cannot be begun in time, it goes out as it was given
        and its record says so (`degraded`). Finish it as any other: what was said is kept. It also
        is when the caller gives up waiting.
        """
        import asyncio

        call = partial(
            self.prepare,
            messages,
            query=query,
            window=window,
            tools=tools,
            choose_tools=choose_tools,
            capture=capture,
        )
        try:
            return await self.workers.run(call, within=self._recall.limit.patience)
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
    acollect = twin(collect)
    apending = twin(pending)
    aclear = twin(clear)
    aadd = twin(add)
    aremove = twin(remove)
    aunpin = twin(unpin)
    arefresh = twin(refresh)

    def _asking(self, query: str, window: int | None) -> Identity:
        if not isinstance(query, str):
            raise InvalidValue(f"query is {query!r:.60}: give text.")
        who = self._who.in_window(window)
        return replace(who, query=query) if query else who

    def _fetching(
        self, who: Identity, tools: Sequence[Any] | None, given: Sequence[Message]
    ) -> Identity:
        known = tools is None and self._conversations.tools_given.is_set()
        fetches = known or self._conversations.can_fetch(who, tools or (), given)
        return who if fetches else replace(who, fetches=False)

    def _window(self, given: int | None) -> int | None:
        return checked_window(given) or self._composition.defaults.window

    def _counted(self, window: int | None, tools: Sequence[Any]) -> Window:
        if window is None:
            raise InvalidValue(
                "the model's window is not known: give window=..., in tokens, here or to open()."
            )
        return Window(tokens=window, taken=Measure(self._recall.printer.count).tools(tools))

    def _context(self) -> SessionContext:
        from .conversation.contents import context_of

        return context_of(self._conversations, self._recall.catalog, self._who)
