"""Random use of conversations by two openings of one file: laws that hold for every prompt.

Every text carries two words of its own: `top...` in its first words, which any form of showing it
holds, and `end...` behind them, which only the full text holds. So counting words in our part of a
prompt tells what is shown, how often, and whether it may be there at all.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ctxmw import Budget, ContextMiddleware, SqliteStore, memory_tools
from ctxmw.collector import LEASE, LIFETIME, Entry
from ctxmw.conversation import IDLE, Prepared
from ctxmw.messages import Message
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock
from ctxmw.tokens import counter_for

COUNT = counter_for()
START = datetime.fromisoformat("2026-03-02T09:30:00+00:00")
TOPICS = ("zebra crossings", "otter dams", "brass gears")
# Words that say nothing: they fill a title, so that only the full text shows what comes after.
FILLER = "and so this is what they would have wanted to be done with all of these by us then"
MARK = re.compile(r"\b(?:top|end)\d{5}\b")


@dataclass(frozen=True)
class Who:
    """A conversation of somebody."""

    user: str
    session: str
    project: str
    total: int = 4000


ADA, BESIDE, ELSEWHERE, BOB = WHO = (
    Who("ada", "s1", "shop"),
    Who("ada", "s2", "shop", 900),
    Who("ada", "s3", "bank"),
    Who("bob", "s1", "shop"),
)


# --- the product, here or in another process ---


class Opening:
    """One opening of the file, with plain calls that another process can make too."""

    def __init__(self, path: str, seed: int) -> None:
        self.clock = FixedClock()
        store = SqliteStore(path, synchronous="NORMAL")
        self.ctx = ContextMiddleware(store, clock=self.clock, random=Random(seed))

    def call(self, now: datetime, name: str, *args, **kwargs):
        self.clock.now = now
        return getattr(self, name)(*args, **kwargs)

    def chat(self, who: Who, name: str, *args, **kwargs):
        """Call a method of the conversation."""
        return getattr(self._session(who), name)(*args, **kwargs)

    def memory(self, name: str, *args, **kwargs):
        """Call a method of the middleware."""
        return getattr(self.ctx, name)(*args, **kwargs)

    def offer(self, *args, **kwargs):
        return self.ctx.catalog.add(*args, **kwargs)

    def tool(self, who: Who, name: str, **arguments) -> str:
        tools = {tool.name: tool for tool in memory_tools(self._session(who))}
        return tools[name](**arguments)

    def memories(self, user: str) -> list[tuple[str, str, bool]]:
        """Return ref, text and whether it is live, history included."""
        rows = self.ctx._setup.store.query(user, Find(types=("memory",), live=None))
        return [(row.ref, json.loads(row.body)["text"], row.live) for row in rows]

    def entries(self, who: Who) -> dict[str, Entry]:
        asked = Find(types=("entry",), sessions=(who.session,), live=None)
        rows = self.ctx._setup.store.query(who.user, asked)
        return {row.ref: Entry.model_validate_json(row.body) for row in rows}

    def close(self) -> None:
        self.ctx.close()

    def _session(self, who: Who):
        budget = Budget(total=who.total)
        return self.ctx.session(who.session, user=who.user, project=who.project, budget=budget)


class Elsewhere:
    """The same calls, made by another process."""

    def __init__(self, path: str, seed: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._line, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, path, seed), daemon=True)
        self._process.start()

    def call(self, *args, **kwargs):
        self._line.send((args, kwargs))
        if not self._line.poll(60):
            raise AssertionError(f"the other process did not answer {args[1:3]}")
        done, result = self._line.recv()
        if not done:
            raise AssertionError(f"in the other process: {result}")
        return result

    def close(self) -> None:
        self._line.send(None)
        self._process.join(30)
        assert self._process.exitcode == 0


def _serve(line, path: str, seed: int) -> None:
    opening = Opening(path, seed)
    while (asked := line.recv()) is not None:
        args, kwargs = asked
        try:
            line.send((True, opening.call(*args, **kwargs)))
        except Exception as error:  # noqa: BLE001 - the other side raises it
            line.send((False, f"{type(error).__name__}: {error}"))
    opening.close()


# --- what the laws know ---


@dataclass(eq=False)
class Text:
    """A text that the product may or may not show."""

    number: int
    kind: str
    user: str = ""
    session: str = ""
    project: str = ""
    name: str = ""
    ref: str = ""
    said: str = ""
    often: int = 1
    """How many items say it. None: it is forgotten or replaced, and in no later prompt."""
    waits: bool = True
    """Of an entry: no newer one took its place, and nobody cleared it."""
    expires: datetime = START
    copies: set[tuple] = field(default_factory=set)
    """Of what was said: the places in conversations where it was captured."""

    @property
    def top(self) -> str:
        return f"top{self.number:05d}"

    @property
    def end(self) -> str:
        return f"end{self.number:05d}"


@dataclass(eq=False)
class Flight:
    """A call that was prepared."""

    who: Who
    prepared: Prepared
    turn: tuple
    answered: bool = False
    forgotten: bool = False


@dataclass
class Talk:
    """What is known of one conversation."""

    histories: list[list[Message]] = field(default_factory=lambda: [[]])
    echoes: list[tuple[list[Message], list[Message]]] = field(default_factory=list)
    """Prompts as they were sent, with the answer, and the same without our text."""
    epoch: int = 0
    stable: str = ""
    unsettled: bool = True
    """Something happened that may begin a new epoch."""
    sent: dict[tuple, set[str]] = field(default_factory=dict)
    """Our texts at a user message, by the messages up to it, in this epoch."""
    open: dict[tuple, str] = field(default_factory=dict)
    """Our text at the last user message of each turn that has no final answer yet."""
    pinned: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    last: datetime = START


SYSTEM = {"role": "system", "content": "You help."}

whos = st.sampled_from((ADA, ADA, ADA, ADA, BESIDE, BESIDE, ELSEWHERE, BOB))
topics = st.sampled_from(TOPICS)
picks = st.integers(0, 7)
sides = st.integers(0, 1)
keys = st.sampled_from(("", "", "k1", "k2"))


class Conversations(RuleBasedStateMachine):
    """Two openings of one file, used at random."""

    second: type = Opening

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="ctxmw-test-")
        path = str(Path(self.folder.name) / "memory.db")
        self.sides = (Opening(path, 1), self.second(path, 2))
        self.now = START
        self.texts: list[Text] = []
        self.of_mark: dict[str, Text] = {}
        self.talks = {who: Talk() for who in WHO}
        self.flights: list[Flight] = []
        self.shown_by: dict[str, Counter[str]] = {}
        # Records whose answer came, or at least its first chunk.
        self.arrived: set[str] = set()

    # --- remembering and forgetting ---

    @rule(
        side=sides,
        user=st.sampled_from(("ada", "ada", "bob")),
        topic=topics,
        project=st.sampled_from(("", "shop", "bank")),
        key=keys,
        kind=st.sampled_from(("rule", "fact", "decision")),
        long=st.booleans(),
    )
    def remember(self, side, user, topic, project, key, kind, long) -> None:
        text = self._text("memory", topic, long=long, user=user, project=project)
        self._remember(side, text, kind, key)

    @rule(side=sides, pick=picks, key=keys, kind=st.sampled_from(("rule", "fact")))
    def remember_again(self, side, pick, key, kind) -> None:
        """State what is known once more, or what was forgotten or replaced."""
        if known := self._all("memory"):
            self._remember(side, _pick(known, pick), kind, key)

    def _remember(self, side: int, text: Text, kind: str, key: str) -> None:
        scope = f"project:{text.project}" if text.project else "universal"
        options = {"user": text.user, "kind": kind, "scope": scope, "key": key}
        self._call(side, "memory", "remember", text.said, **options)
        self._look_up_memories(side, text.user)
        assert text.often, f"{text.end} was remembered and is not there"

    @rule(side=sides, pick=picks)
    def forget(self, side, pick) -> None:
        known = [text for text in self._all("memory") if text.often]
        if not known:
            return
        text = _pick(known, pick)
        often = text.often
        self._call(side, "memory", "forget", text.ref, user=text.user)
        self._look_up_memories(side, text.user)
        assert text.often < often, f"{text.end} is still there after it was forgotten"
        left = [ref for ref, said, _ in self._memories(side, text) if said == text.said]
        assert text.often or not left, f"{text.end} is still stored as {left}"

    def _look_up_memories(self, side: int, user: str) -> None:
        live = [(ref, said) for ref, said, live in self._call(side, "memories", user) if live]
        for text in self._all("memory"):
            if text.user == user:
                refs = [ref for ref, said in live if said == text.said]
                text.often, text.ref = len(refs), refs[0] if refs else text.ref
        self._unsettle()

    def _memories(self, side: int, text: Text) -> list[tuple[str, str, bool]]:
        return self._call(side, "memories", text.user)

    @rule(side=sides, who=whos, pick=picks)
    def forget_what_was_said(self, side, who, pick) -> None:
        said = [text for text in self._all("said") if len(text.copies) == 1]
        said = [text for text in said if text.user == who.user]
        if not said:
            return
        text = _pick(said, pick)
        hits = self._call(side, "memory", "search", text.end, user=text.user, kinds=["turn"])
        (ref,) = [hit.ref for hit in hits if text.end in hit.text]
        self._call(side, "memory", "forget", ref, user=text.user)
        text.copies.clear()
        self._unsettle()

    @rule(side=sides, who=whos)
    def forget_the_conversation(self, side, who) -> None:
        if not self.talks[who].epoch:
            return
        self._call(side, "memory", "forget", session=who.session, user=who.user)
        for text in self._entries_of(who):
            text.often = 0
        for text in self.texts:
            text.copies = {copy for copy in text.copies if copy[0] != who}
        for flight in self.flights:
            flight.forgotten = flight.forgotten or flight.who == who
        self.talks[who] = Talk(histories=self.talks[who].histories)
        self._unsettle()

    @rule(
        side=sides,
        name=st.sampled_from(("One", "Two")),
        topic=topics,
        include=st.sampled_from(("always", "manual", "agent")),
    )
    def offer(self, side, name, topic, include) -> None:
        for old in self._all("catalog"):
            old.often = int(bool(old.often) and old.name != name)
        text = self._text("catalog", topic, name=name)
        text.ref = self._call(side, "offer", "rule", name, text.said, include=include).ref
        self._unsettle()

    @rule(side=sides, who=whos, pick=picks)
    def pin(self, side, who, pick) -> None:
        if text := self._pinnable(who, pick):
            self._call(side, "chat", who, "add", text.ref)
            self.talks[who].pinned.add(text.ref)
            self.talks[who].removed.discard(text.ref)
            self.talks[who].unsettled = True

    @rule(side=sides, who=whos, pick=picks)
    def remove(self, side, who, pick) -> None:
        if text := self._pinnable(who, pick):
            self._call(side, "chat", who, "remove", text.ref)
            self.talks[who].removed.add(text.ref)
            self.talks[who].pinned.discard(text.ref)
            self.talks[who].unsettled = True

    # --- what waits ---

    @rule(
        side=sides,
        who=whos,
        name=st.sampled_from(("a", "b", "c", "d", "e")),
        priority=st.sampled_from(("normal", "critical", "low")),
    )
    def collect(self, side, who, name, priority) -> None:
        for old in self._entries_of(who):
            old.waits = old.waits and old.name != name
        text = self._text("entry", "", user=who.user, session=who.session, name=name)
        text.expires = self.now + LIFETIME
        entry = self._call(side, "chat", who, "collect", "hook", name, text.said, priority=priority)
        text.ref = entry.ref

    @rule(side=sides, who=whos)
    def clear(self, side, who) -> None:
        waiting = {entry.ref for entry in self._call(side, "chat", who, "pending")}
        assert self._call(side, "chat", who, "clear") == len(waiting)
        for text in self._entries_of(who):
            text.waits = text.waits and text.ref not in waiting

    # --- asking and answering ---

    @rule(side=sides, who=whos, topic=topics, pick=picks)
    def ask(self, side, who, topic, pick) -> None:
        """Go on from any history there has been: from older ones that makes a branch."""
        history = _pick(self.talks[who].histories, pick)
        self._prepare(side, who, [SYSTEM, *history, self._question(who, topic)])

    @rule(side=sides, who=whos, topic=topics)
    def go_on(self, side, who, topic) -> None:
        self.ask(side, who, topic, 0)

    @rule(side=sides, who=whos, topic=topics)
    def ask_without_a_system_prompt(self, side, who, topic) -> None:
        history = self.talks[who].histories[-1]
        self._prepare(side, who, [*history, self._question(who, topic)])

    @rule(side=sides, who=whos, pick=picks, of=picks)
    def repeat_a_question(self, side, who, pick, of) -> None:
        histories = self.talks[who].histories
        asked = [m for history in histories for m in history if m["role"] == "user"]
        if asked:
            self._prepare(side, who, [SYSTEM, *_pick(histories, pick), _pick(asked, of)])

    @rule(side=sides, who=whos, topic=topics, pick=picks, at=picks)
    def edit_and_go_on(self, side, who, topic, pick, at) -> None:
        history = list(_pick(self.talks[who].histories, pick))
        if history:
            at %= len(history)
            history[at] = {**history[at], "content": f"{history[at]['content']} Indeed."}
            self._prepare(side, who, [SYSTEM, *history, self._question(who, topic)])

    @rule(side=sides, who=whos, topic=topics, pick=picks, start=st.integers(1, 4))
    def truncate_and_go_on(self, side, who, topic, pick, start) -> None:
        history = _pick(self.talks[who].histories, pick)[start:]
        if history:
            self._prepare(side, who, [SYSTEM, *history, self._question(who, topic)])

    @rule(side=sides, who=whos, topic=topics, pick=picks)
    def send_a_prompt_back_and_go_on(self, side, who, topic, pick) -> None:
        if self.talks[who].echoes:
            echo, clean = _pick(self.talks[who].echoes, pick)
            question = self._question(who, topic)
            self._prepare(side, who, [*clean, question], sent=[*echo, question])

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks)
    def ask_again(self, side, pick) -> None:
        """Retry, or ask once more what has been answered."""
        flight = _pick(self.flights, pick)
        self._prepare(side, flight.who, list(flight.prepared.given))

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks, plain=st.booleans())
    def answer(self, side, pick, plain) -> None:
        flight = _pick(self.flights, pick)
        said = "Fine." if plain else self._text_of(flight.who, "").said
        self._finish(side, flight, {"role": "assistant", "content": said})

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks, topic=topics)
    def call_a_tool(self, side, pick, topic) -> None:
        flight = _pick(self.flights, pick)
        calls = [{"id": "c1", "name": "look", "args": {"at": topic}}]
        call = {"role": "assistant", "content": "", "tool_calls": calls}
        if self._finish(side, flight, call):
            found = self._text_of(flight.who, topic).said
            result = {"role": "tool", "tool_call_id": "c1", "content": found}
            self._prepare(side, flight.who, [*flight.prepared.given, call, result])

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks, error=st.sampled_from(("timeout", "")))
    def fail_or_abandon(self, side, pick, error) -> None:
        flight = _pick(self.flights, pick)
        self._call(side, "chat", flight.who, "finish", flight.prepared, None, error=error)

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks)
    def begin_to_answer(self, side, pick) -> None:
        flight = _pick(self.flights, pick)
        self._call(side, "chat", flight.who, "began", flight.prepared)
        if not flight.forgotten:
            self.arrived.add(flight.prepared.context.ref)

    # --- time and other things that happen ---

    @rule(delay=st.sampled_from((timedelta(minutes=1), LEASE, IDLE, LIFETIME)))
    def time_goes_by(self, delay) -> None:
        self.now += delay

    @rule(side=sides, who=whos)
    def refresh(self, side, who) -> None:
        self._call(side, "chat", who, "refresh")
        self.talks[who].unsettled = True

    @rule(side=sides, who=whos)
    def end(self, side, who) -> None:
        self._call(side, "chat", who, "end")
        self.talks[who].unsettled = True

    @rule(
        side=sides, who=whos, topic=topics, name=st.sampled_from(("mem_search", "memory_context"))
    )
    def let_the_agent_ask(self, side, who, topic, name) -> None:
        marks = Counter(MARK.findall(self._call(side, "tool", who, name, query=topic)))
        self._check_may_be_shown(who, marks, name)
        entries = [mark for mark in marks if self.of_mark[mark].kind == "entry"]
        assert not entries, f"{name} answers with entries: {entries}"

    # --- the laws ---

    def _prepare(self, side: int, who: Who, given: list[Message], *, sent=None) -> None:
        """Prepare a call for these messages, `sent` perhaps with our text in them."""
        messages = sent or given
        before = copy.deepcopy(messages)
        prepared = self._call(side, "chat", who, "prepare", messages)
        assert messages == before, "the caller's messages were changed"
        assert list(prepared.given) == given, "`given` is not the input without our text"
        self._check_prompt(who, prepared)

    def _check_prompt(self, who: Who, prepared: Prepared) -> None:
        talk, record, given = self.talks[who], prepared.context, prepared.given
        stable, parts = _ours(prepared)
        here = max(parts)
        turn = _until(given, here)
        marks = Counter(MARK.findall("".join((stable, *parts.values()))))
        assert stable == record.stable, "the record has another stable block than the prompt"
        assert record.part in parts[here], "the record has another part than the prompt"
        assert COUNT(record.text) == record.tokens <= who.total, "the budget does not hold"
        self._check_epoch(who, record.epoch, stable)
        self._check_may_be_shown(who, marks, "the prompt")
        self._check_shown_once(marks)
        self._check_replay(talk, given, parts)
        if turn not in talk.open:
            self._check_new_part(who, given, record.part)
            self._check_record(prepared)
        talk.open[turn] = parts[here]
        for at, text in parts.items():
            talk.sent.setdefault(_until(given, at), set()).add(text)
        talk.last, talk.unsettled = self.now, False
        self.shown_by[record.ref] = marks
        self.flights.append(Flight(who, prepared, turn))

    def _check_epoch(self, who: Who, epoch: int, stable: str) -> None:
        talk = self.talks[who]
        idle = self.now - talk.last >= IDLE
        if epoch == talk.epoch:
            assert stable == talk.stable, f"the stable block of epoch {epoch} changed"
            assert not idle, "no new epoch after an idle time"
            return
        assert epoch == talk.epoch + 1, f"epoch {epoch} follows epoch {talk.epoch}"
        assert talk.unsettled or idle, f"epoch {epoch} began for no reason"
        talk.epoch, talk.stable, talk.sent = epoch, stable, {}

    def _check_may_be_shown(self, who: Who, marks: Counter[str], where: str) -> None:
        talk = self.talks[who]
        for mark in marks:
            text = self.of_mark[mark]
            shows = f"{where} shows {mark} ({text.kind} {text.ref})"
            assert text.often, f"{shows}, which was forgotten or replaced"
            assert text.user in ("", who.user), f"{shows} of {text.user} to {who.user}"
            assert text.session in ("", who.session), f"{shows} of another conversation"
            assert text.copies or text.kind != "said", f"{shows}, forgotten or never captured"
            assert text.ref not in talk.removed, f"{shows}, which was removed"
            here = text.project in ("", who.project) or text.ref in talk.pinned
            assert here, f"{shows} of the project {text.project}"

    def _check_shown_once(self, marks: Counter[str]) -> None:
        for mark, n in marks.items():
            text = self.of_mark[mark]
            most = len(text.copies) if text.kind == "said" else text.often
            if mark == text.end:
                assert n <= most, f"{mark} ({text.kind} {text.ref}) is shown {n} times in full"

    def _check_replay(self, talk: Talk, given, parts: dict[int, str]) -> None:
        """What stood at a message in this epoch stands there still; a turn's part never changes."""
        here = max(parts)
        for at, text in parts.items():
            known = talk.sent.get(_until(given, at), {text})
            if at != here:
                assert text in known, f"message {at} went out with {known!r}, now with {text!r}"
        turn = _until(given, here)
        if turn in talk.open and turn in talk.sent:
            assert parts[here] == talk.open[turn], (
                f"within a turn {talk.open[turn]!r} became {parts[here]!r}"
            )

    def _check_new_part(self, who: Who, given, part: str) -> None:
        contents = {message["content"] for message in given}
        for mark in MARK.findall(part):
            text = self.of_mark[mark]
            assert text.waits, f"the new part shows {mark}, an entry that was replaced or cleared"
            in_time = text.kind != "entry" or self.now < text.expires
            assert in_time, f"the new part shows {mark}, which has expired"
            sent_along = {said[0] == who and said[1][-1][1] in contents for said in text.copies}
            assert sent_along != {True}, f"the new part shows {mark}, which the caller sends along"

    def _check_record(self, prepared: Prepared) -> None:
        """What the record calls shown in full is in the prompt."""
        text = prepared.context.text
        marks = {said.ref: said.end for said in self.texts if said.ref and said.often}
        full = [used.ref for used in prepared.context.used if used.shown == "full"]
        missing = [ref for ref in full if ref in marks and marks[ref] not in text]
        assert not missing, f"{missing} are shown, says the record, but they are not"

    @invariant()
    def no_entry_is_lost_and_each_is_committed_once(self) -> None:
        for who in WHO:
            entries = self._entries_of(who)
            stored = self._call(0, "entries", who) if entries else {}
            for text in entries:
                self._check_entry(text, stored.get(text.ref))

    def _check_entry(self, text: Text, entry: Entry | None) -> None:
        if entry is None:
            assert not (text.often and text.waits), f"{text.end} ({text.ref}) is lost"
            return
        showed = {ref for ref in self.arrived if self.shown_by[ref][text.end]}
        assert bool(entry.committed) == bool(showed), (
            f"{text.end} was shown by {showed or 'no answered call'}, "
            f"and is committed to {entry.committed or 'none'}"
        )
        assert not showed or entry.committed in showed, f"{text.end} is in the wrong record"

    def teardown(self) -> None:
        if not hasattr(self, "sides"):
            return
        try:
            if sys.exc_info()[0] is None:
                self._nothing_waits_for_ever()
        finally:
            for side in self.sides:
                side.close()
            self.folder.cleanup()

    def _nothing_waits_for_ever(self) -> None:
        self.now += LEASE
        for who in WHO:
            for _ in range(5):
                if waiting := self._waiting(who):
                    self._prepare(0, who, [SYSTEM, self._question(who, "news")])
                    self._finish(1, self.flights[-1], {"role": "assistant", "content": "Fine."})
            assert not self._waiting(who), f"{[text.end for text in waiting]} wait for ever"
        self.no_entry_is_lost_and_each_is_committed_once()

    def _waiting(self, who: Who) -> list[Text]:
        entries = self._entries_of(who)
        stored = self._call(0, "entries", who) if entries else {}
        left = [text for text in entries if text.waits and text.often and self.now < text.expires]
        return [text for text in left if not stored[text.ref].committed]

    # --- how it is done ---

    def _call(self, side: int, *args, **kwargs):
        return self.sides[side].call(self.now, *args, **kwargs)

    def _finish(self, side: int, flight: Flight, reply: Message) -> bool:
        """Answer a call; say whether that was its first answer."""
        self._call(side, "chat", flight.who, "finish", flight.prepared, reply)
        if flight.answered or flight.forgotten:
            return False
        talk = self.talks[flight.who]
        flight.answered = True
        self.arrived.add(flight.prepared.context.ref)
        history = [*flight.prepared.given, reply]
        self._captured(flight.who, history)
        if not reply.get("tool_calls"):
            talk.open.pop(flight.turn, None)
            talk.histories.append([message for message in history if message != SYSTEM])
            talk.echoes.append(([*flight.prepared.messages, reply], history))
        return True

    def _captured(self, who: Who, history: list[Message]) -> None:
        start = max(at for at, message in enumerate(history) if message["role"] == "user")
        for at in range(start, len(history)):
            for mark in MARK.findall(history[at]["content"]):
                self.of_mark[mark].copies.add((who, _until(history, at)))

    def _question(self, who: Who, topic: str) -> Message:
        return {"role": "user", "content": self._text_of(who, topic).said}

    def _text_of(self, who: Who, topic: str) -> Text:
        return self._text("said", topic, user=who.user, project=who.project)

    def _text(self, kind: str, topic: str, *, long: bool = False, **values) -> Text:
        text = Text(len(self.texts), kind, **values)
        text.said = f"{text.top} {topic} {' '.join([FILLER] * (5 if long else 1))} {text.end}"
        self.texts.append(text)
        self.of_mark[text.top] = self.of_mark[text.end] = text
        return text

    def _all(self, kind: str) -> list[Text]:
        return [text for text in self.texts if text.kind == kind]

    def _entries_of(self, who: Who) -> list[Text]:
        mine = (who.user, who.session)
        return [text for text in self._all("entry") if (text.user, text.session) == mine]

    def _pinnable(self, who: Who, pick: int) -> Text | None:
        known = [*self._all("memory"), *self._all("catalog")]
        offered = [text for text in known if text.often and text.user in ("", who.user)]
        return _pick(offered, pick) if offered else None

    def _unsettle(self) -> None:
        for talk in self.talks.values():
            talk.unsettled = True


def _ours(prepared: Prepared) -> tuple[str, dict[int, str]]:
    """Return our text in a prompt: the stable block, and what stands at each user message.

    Everything else must be as the caller gave it.
    """
    given, placed, stable = list(prepared.given), list(prepared.messages), ""
    if given[0]["role"] == "system":
        stable = _before(placed[0], given[0]).removesuffix("\n")
        stable += "\n" if stable else ""
    elif len(placed) > len(given):
        stable = placed.pop(0)["content"]
    assert len(placed) == len(given), "messages came or went"
    parts = {}
    for at, (ours, theirs) in enumerate(zip(placed, given, strict=True)):
        if theirs["role"] == "user":
            parts[at] = _before(ours, theirs)
        elif theirs["role"] != "system":
            assert ours == theirs, f"message {at} was changed"
    return stable, parts


def _before(ours: Message, theirs: Message) -> str:
    assert {**ours, "content": ""} == {**theirs, "content": ""}, "more than the content changed"
    assert ours["content"].endswith(theirs["content"]), "the caller's text is not intact"
    return ours["content"].removesuffix(theirs["content"])


def _until(messages, at: int) -> tuple:
    """Return what tells one place of a conversation from all others."""
    said = [message for message in messages[: at + 1] if message["role"] != "system"]
    return tuple((message["role"], message["content"]) for message in said)


def _pick(values: list, pick: int):
    """Return one of the values; 0 is the last."""
    return values[-1 - pick % len(values)]


class ConversationsOfTwoProcesses(Conversations):
    """The second opening is in a process of its own."""

    second = Elsewhere


def run(machine: type[Conversations], examples: int, steps: int) -> None:
    slow = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
    chosen = {"max_examples": examples, "stateful_step_count": steps}
    run_state_machine_as_test(machine, settings=settings(**chosen, suppress_health_check=slow))


def test_the_laws_hold_for_two_openings_of_one_file() -> None:
    run(Conversations, examples=60, steps=30)


@pytest.mark.timeout(200)
def test_the_laws_hold_for_two_processes() -> None:
    run(ConversationsOfTwoProcesses, examples=5, steps=30)
