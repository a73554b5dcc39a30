"""Random use of conversations by two openings of one file: laws that hold for every prompt.

Every text carries two words of its own: `top...` in its first words, which any form of showing it
holds, and `end...` behind them, which only the full text holds. So counting words in our part of a
prompt tells what is shown, how often, and whether it may be there at all.
"""

from __future__ import annotations

import copy
import itertools
import json
import multiprocessing
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

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

from ctxmw import (
    Budget,
    ContextMiddleware,
    Learning,
    SqliteStore,
    memory_tools,
)
from ctxmw.conversation.conversation import IDLE, Prepared
from ctxmw.protocols import Find
from ctxmw.recall.entries import LEASE, LIFETIME, Entry
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.values.messages import Message
from tests.support.exploring import cases
from tests.support.waiting import PATIENCE

COUNT = counter_for()
START = datetime.fromisoformat("2026-03-02T09:30:00+00:00")
TOPICS = ("zebra crossings", "otter dams")
# Words that say nothing: they fill a title, so that only the full text shows what comes after.
FILLER = (
    "and so this is what they would have had to have done with all of these by us then and there"
)
MARK = re.compile(r"\b(?:top|end)\d{5}\b")
# What an edited memory was before may stand behind it.
WAS = re.compile(r"\(was: [^)\n]*\)?")
# A summary repeats what was said: the laws are about everything else.
LEARN = Learning(summaries=False)


@dataclass(frozen=True)
class Who:
    """A conversation of somebody."""

    user: str
    session: str
    project: str
    total: int = 4000


ADA, BESIDE, ELSEWHERE, BOB = WHO = (
    Who("ada", "s1", "shop"),
    Who("ada", "s2", "shop", 500),
    Who("ada", "s3", "bank"),
    Who("bob", "s1", "shop"),
)


class Stored(NamedTuple):
    """A message that is stored: where it was said, by the hash of all up to it, and its words."""

    session: str
    anchor: str
    text: str


# --- the product, here or in another process ---


class Opening:
    """One opening of the file, with plain calls that another process can make too."""

    def __init__(self, path: str, seed: int) -> None:
        self.clock = FixedClock()
        store = SqliteStore(path, synchronous="NORMAL")
        self.ctx = ContextMiddleware(store, clock=self.clock, random=Random(seed), learn=LEARN)

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
        rows = self.ctx.store.query(user, Find(types=("memory",), live=None))
        return [(row.ref, json.loads(row.body)["text"], row.live) for row in rows]

    def turns(self, user: str) -> list[Stored]:
        """Return what was said and is stored."""
        rows = self.ctx.store.query(user, Find(types=("turn",)))
        return [Stored(row.session, row.digest, json.loads(row.body)["text"]) for row in rows]

    def turn(self, user: str, word: str) -> tuple[str, bool]:
        """Return ref of the one turn that holds a word, and whether it is an answer left behind."""
        rows = self.ctx.store.query(user, Find(types=("turn",)))
        (found,) = [(row.ref, json.loads(row.body)) for row in rows if word in row.body]
        return found[0], found[1].get("rejected", False)

    def entries(self, who: Who) -> dict[str, Entry]:
        asked = Find(types=("entry",), sessions=(who.session,), live=None)
        rows = self.ctx.store.query(who.user, asked)
        return {row.ref: Entry.model_validate_json(row.body) for row in rows}

    def set_aside(self) -> list[str]:
        return [name for name in self.ctx.stats() if name.startswith("set_aside")]

    def close(self) -> None:
        self.ctx.close()

    def _session(self, who: Who):
        budget = Budget(total=who.total)
        return self.ctx.session(who.session, user=who.user, project=who.project, budget=budget)


class Elsewhere:
    """The same calls, made by another process; it opens one file after the other."""

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._line, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()

    def open(self, path: str, seed: int) -> Elsewhere:
        self._ask("open", path, seed)
        return self

    def call(self, *args, **kwargs):
        return self._ask("call", *args, **kwargs)

    def close(self) -> None:
        self._ask("close")

    def end(self) -> None:
        self._line.send(None)
        self._process.join(PATIENCE)
        assert self._process.exitcode == 0, f"the other process ended {self._process.exitcode}"

    def _ask(self, name: str, *args, **kwargs):
        self._line.send((name, args, kwargs))
        if not self._line.poll(PATIENCE):
            raise AssertionError(f"the other process did not answer {name} {args[1:3]}")
        done, result = self._line.recv()
        if not done:
            raise AssertionError(f"in the other process: {result}")
        return result


def _serve(line) -> None:
    while (asked := line.recv()) is not None:
        name, args, kwargs = asked
        try:
            if name == "open":
                opening, answer = Opening(*args), None
            else:
                answer = getattr(opening, name)(*args, **kwargs)
            line.send((True, answer))
        except Exception as error:  # noqa: BLE001 - the other side raises it
            line.send((False, f"{type(error).__name__}: {error}"))


# --- what the laws know ---


def marks_in(text: str) -> list[str]:
    return MARK.findall(WAS.sub("", text))


@dataclass(eq=False)
class Text:
    """A text that the product may or may not show."""

    number: int
    kind: str
    user: str = ""
    session: str = ""
    project: str = ""
    name: str = ""
    key: str = ""
    ref: str = ""
    refs: list[str] = field(default_factory=list)
    """Of a memory: every one that says it, such as two under different keys."""
    said: str = ""
    often: int = 1
    """How many items say it. None: it is forgotten or replaced, and in no later prompt."""
    waits: bool = True
    """Of an entry: no newer one took its place, and nobody cleared it."""
    expires: datetime = START
    committed: str = ""
    copies: set[Stored] = field(default_factory=set)
    """Of what was said: the messages that hold it, as they are stored."""

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
    """Our texts at the last user message, by the messages up to it, in this epoch."""
    stood: dict[tuple, str] = field(default_factory=dict)
    """Our text at an earlier one, by the messages up to the end of its turn, in this epoch."""
    over: set[tuple] = field(default_factory=set)
    """The same messages up to the end of a turn, in any epoch."""
    open: dict[tuple, tuple[int, str]] = field(default_factory=dict)
    """Epoch and our text at the last user message of each turn without a final answer."""
    pinned: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    marks: Counter[str] = field(default_factory=Counter)
    """What the last prompt shows."""
    last: datetime = START
    heard: datetime = START
    """When the last final answer came: that is a use, too."""


SYSTEM = {"role": "system", "content": "You help."}

whos = st.sampled_from((ADA, ADA, ADA, ADA, BESIDE, BESIDE, ELSEWHERE, BOB))
topics = st.sampled_from(TOPICS)
picks = st.integers(0, 4)
sides = st.integers(0, 1)
keys = st.sampled_from(("", "k1", "k2"))


class Conversations(RuleBasedStateMachine):
    """Two openings of one file, used at random."""

    second: Callable[[str, int], Opening | Elsewhere] = Opening

    @initialize(known=st.integers(0, 2), news=st.lists(topics, max_size=4))
    def open(self, known, news) -> None:
        """Begin a conversation that is older than most of what is remembered."""
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
        # Places in conversations of which nothing is captured again.
        self.forgotten: set[tuple] = set()
        self.erased: set[tuple[str, str]] = set()
        """Words of somebody that were forgotten: they may be stored again from another place."""
        self.stored: dict[str, list[Stored]] = {}
        for topic in TOPICS[:known]:
            self.remember(0, "ada", topic, project="shop", kind="rule", key="", long=False)
        self.converse(0, ADA, [TOPICS[0]], plain=True)
        for topic in news:
            self.remember(0, "ada", topic, project="shop", kind="fact", key="", long=False)

    # --- asking ---

    @rule(side=sides, who=whos, asked=st.lists(topics, min_size=1, max_size=3), plain=st.booleans())
    def converse(self, side, who, asked, plain) -> None:
        for topic in asked:
            self._ask(side, who, self.talks[who].histories[-1], self._question(who, topic))
            self._answer(side, self.flights[-1], plain=plain)

    @rule(side=sides, who=whos, topic=topics, pick=picks, answered=st.booleans())
    def branch(self, side, who, topic, pick, answered) -> None:
        """Ask at the end of any history there has been."""
        history = _pick(self.talks[who].histories, pick)
        self._ask(side, who, history, self._question(who, topic), answered=answered)

    @rule(side=sides, who=whos, pick=picks, of=picks, answered=st.booleans())
    def repeat_a_question(self, side, who, pick, of, answered) -> None:
        histories = self.talks[who].histories
        if asked := [m for history in histories for m in history if m["role"] == "user"]:
            self._ask(side, who, _pick(histories, pick), _pick(asked, of), answered=answered)

    @rule(side=sides, who=whos, pick=picks, of=picks, answered=st.booleans())
    def go_back(self, side, who, pick, of, answered) -> None:
        """Ask an earlier question once more, at its own place."""
        history = _pick(self.talks[who].histories, pick)
        if asked := [at for at, message in enumerate(history) if message["role"] == "user"]:
            at = _pick(asked, of)
            self._ask(side, who, history[:at], history[at], answered=answered)

    @precondition(lambda self: self.flights)
    @rule(side=sides, pick=picks)
    def retry(self, side, pick) -> None:
        flight = _pick(self.flights, pick)
        self._prepare(side, flight.who, list(flight.prepared.given))

    @rule(
        side=sides,
        who=whos,
        topic=topics,
        pick=picks,
        at=picks,
        how=st.sampled_from(("cut short", "edited", "with our text", "without a system prompt")),
    )
    def send_a_history(self, side, who, topic, *, pick, at, how) -> None:
        """Go on from a history that is not what it was."""
        history = _pick(self.talks[who].histories, pick)
        question = self._question(who, topic)
        if how == "with our text" and self.talks[who].echoes:
            echo, clean = _pick(self.talks[who].echoes, pick)
            self._prepare(side, who, [*clean, question], sent=[*echo, question])
        elif how == "without a system prompt":
            self._prepare(side, who, [*history, question])
        elif history and how == "cut short":
            self._ask(side, who, history[1 + at % len(history) :], question, answered=True)
        elif history and how == "edited":
            place = at % len(history)
            edited = {**history[place], "content": f"{history[place]['content']} Indeed."}
            said = [*history[:place], edited, *history[place + 1 :]]
            self._ask(side, who, said, question, answered=True)

    # --- answering ---

    @precondition(lambda self: self.flights)
    @rule(
        side=sides,
        pick=picks,
        topic=topics,
        how=st.sampled_from(("answer", "fail", "abandon", "begin", "call a tool")),
    )
    def end_a_call(self, side, pick, topic, how) -> None:
        flight = _pick(self.flights, pick)
        who, prepared = flight.who, flight.prepared
        if how == "answer":
            self._answer(side, flight, plain=False)
        elif how == "call a tool":
            self._call_a_tool(side, flight, topic)
        elif how == "begin":
            self._call(side, "chat", who, "began", prepared)
            self.arrived |= set() if flight.forgotten else {prepared.context.ref}
        else:
            error = "timeout" if how == "fail" else ""
            self._call(side, "chat", who, "finish", prepared, None, error=error)
            self._look_up_turns(side, who.user)

    def _call_a_tool(self, side: int, flight: Flight, topic: str) -> None:
        calls = [{"id": "c1", "name": "look", "args": {"at": topic}}]
        call = {"role": "assistant", "content": "", "tool_calls": calls}
        if self._finish(side, flight, call):
            found = self._text_of(flight.who, topic).said
            result = {"role": "tool", "tool_call_id": "c1", "content": found}
            self._prepare(side, flight.who, [*flight.prepared.given, call, result])

    # --- remembering and forgetting ---

    @rule(
        side=sides,
        user=st.sampled_from(("ada", "ada", "bob")),
        topic=topics,
        project=st.sampled_from(("shop", "", "bank")),
        key=keys,
        kind=st.sampled_from(("fact", "rule", "decision")),
        long=st.booleans(),
    )
    def remember(self, side, user, topic, *, project, key, kind, long) -> None:
        text = self._text("memory", topic, long=long, user=user, project=project)
        self._remember(side, text, kind, key)

    @rule(
        side=sides,
        who=whos,
        pick=picks,
        how=st.sampled_from(("state again", "edit", "forget", "add", "remove")),
        key=keys,
    )
    def change_a_memory(self, side, who, pick, how, *, key) -> None:
        """Change something remembered, first of all what the last prompt shows."""
        memories = [text for text in self._all("memory") if text.user == who.user]
        shown = self.talks[who].marks
        if how == "state again" and memories:
            self._remember(side, _pick(memories, pick), "fact", key)
            return
        known = [text for text in memories if text.often]
        known += [text for text in self._all("catalog") if text.often and how in ("add", "remove")]
        if not known:
            return
        text = _pick(sorted(known, key=lambda text: text.top in shown), pick)
        if how == "edit" and text.key:
            self.remember(
                side,
                text.user,
                TOPICS[0],
                project=text.project,
                key=text.key,
                kind="fact",
                long=False,
            )
        elif how == "forget":
            self._forget(side, text)
        elif how in ("add", "remove"):
            self._pin(side, who, text.ref, how)

    def _forget(self, side: int, text: Text) -> None:
        often = text.often
        self._call(side, "memory", "forget", text.ref, user=text.user)
        self._look_up_memories(side, text.user)
        assert text.often < often, f"{text.end} is still there after it was forgotten"
        stored = self._call(side, "memories", text.user)
        left = [ref for ref, said, _ in stored if said == text.said]
        assert text.often or not left, f"{text.end} is still stored as {left}"

    def _pin(self, side: int, who: Who, ref: str, how: str) -> None:
        talk = self.talks[who]
        self._call(side, "chat", who, how, ref)
        talk.pinned, talk.removed = talk.pinned - {ref}, talk.removed - {ref}
        (talk.pinned if how == "add" else talk.removed).add(ref)
        talk.unsettled = True

    @rule(side=sides, who=whos, pick=picks)
    def forget_what_was_said(self, side, who, pick) -> None:
        said = [text for text in self._all("said") if len(text.copies) == 1]
        said = [text for text in said if text.user == who.user]
        if not said:
            return
        text = _pick(sorted(said, key=lambda text: text.top in self.talks[who].marks), pick)
        ref, rejected = self._call(side, "turn", text.user, text.end)
        hits = self._call(side, "memory", "search", text.end, user=text.user, kinds=["turn"])
        found = [hit.ref for hit in hits if text.end in hit.text]
        assert found == ([] if rejected else [ref]), f"{text.end} is found as {found}, not {ref}"
        self._call(side, "memory", "forget", ref, user=text.user)
        (copy_,) = text.copies
        self.forgotten.add((text.user, copy_.session, copy_.anchor))
        self.erased.add((text.user, copy_.text))
        self._look_up_turns(side, text.user)
        assert not text.copies, f"{text.end} is still stored after it was forgotten"
        self._unsettle()

    # --- what waits, and other things that happen ---

    @rule(
        side=sides,
        who=whos,
        names=st.lists(st.sampled_from("ab"), min_size=1, max_size=2),
        priority=st.sampled_from(("normal", "critical", "low")),
    )
    def collect(self, side, who, names, priority) -> None:
        for name in names:
            for old in self._entries_of(who):
                old.waits = old.waits and old.name != name
            text = self._text("entry", "", user=who.user, session=who.session, name=name)
            text.expires = self.now + LIFETIME
            content = {"content": text.said, "priority": priority}
            text.ref = self._call(side, "chat", who, "collect", "hook", name, **content).ref

    @rule(
        side=sides,
        name=st.sampled_from(("One", "Two")),
        topic=topics,
        include=st.sampled_from(("agent", "always", "manual")),
    )
    def offer_a_rule(self, side, name, topic, include) -> None:
        for old in self._all("catalog"):
            old.often = int(bool(old.often) and old.name != name)
        text = self._text("catalog", topic, name=name)
        text.ref = self._call(side, "offer", "rule", name, text.said, include=include).ref
        self._unsettle()

    @rule(
        side=sides, who=whos, topic=topics, name=st.sampled_from(("mem_search", "memory_context"))
    )
    def let_the_agent_ask(self, side, who, topic, name) -> None:
        marks = Counter(marks_in(self._call(side, "tool", who, name, query=topic)))
        self._check_may_be_shown(who, marks, name)
        entries = [mark for mark in marks if self.of_mark[mark].kind == "entry"]
        assert not entries, f"{name} answers with entries: {entries}"

    @rule(delay=st.sampled_from((timedelta(minutes=1), LEASE, IDLE, LIFETIME)))
    def time_goes_by(self, delay) -> None:
        self.now += delay

    @rule(
        side=sides,
        who=whos,
        how=st.sampled_from(("refresh", "end", "clear", "forget the conversation")),
    )
    def interrupt(self, side, who, how) -> None:
        if how == "forget the conversation":
            self._forget_the_conversation(side, who)
            return
        if how == "clear":
            waiting = {entry.ref for entry in self._call(side, "chat", who, "pending")}
            for text in self._entries_of(who):
                text.waits = text.waits and text.ref not in waiting
        self._call(side, "chat", who, how)
        self.talks[who].unsettled = self.talks[who].unsettled or how != "clear"

    def _forget_the_conversation(self, side: int, who: Who) -> None:
        if not self.talks[who].epoch:
            return
        self._call(side, "memory", "forget", session=who.session, user=who.user)
        said = [turn.text for turn in self.stored[who.user] if turn.session == who.session]
        self.erased |= {(who.user, text) for text in said}
        for text in self._entries_of(who):
            text.often = 0
        self.forgotten = {place for place in self.forgotten if place[:2] != (who.user, who.session)}
        self._look_up_turns(side, who.user)
        for flight in self.flights:
            flight.forgotten = flight.forgotten or flight.who == who
        self.talks[who] = Talk(histories=self.talks[who].histories)
        self._unsettle()

    # --- the laws ---

    def _prepare(self, side: int, who: Who, given: list[Message], *, sent=None) -> None:
        """Prepare a call for these messages, `sent` perhaps with our text in them."""
        messages = sent or given
        before = copy.deepcopy(messages)
        prepared = self._call(side, "chat", who, "prepare", messages)
        assert messages == before, "the caller's messages were changed"
        assert list(prepared.given) == given, "`given` is not the input without our text"
        self._check_prompt(who, prepared)
        self._look_up_turns(side, who.user)
        self._check_captured(who, prepared)

    def _check_captured(self, who: Who, prepared: Prepared) -> None:
        """What a person said is stored from its first call on, whatever becomes of the call."""
        stored = {turn.text for turn in self.stored[who.user] if turn.session == who.session}
        known = stored | {text for user, text in self.erased if user == who.user}
        for message in prepared.given:
            said = message["content"]
            assert message["role"] != "user" or said in known, f"{said!r:.60} is not stored"

    def _check_prompt(self, who: Who, prepared: Prepared) -> None:
        talk, record, given = self.talks[who], prepared.context, prepared.given
        stable, parts = _ours(prepared)
        here = max(parts)
        turn = _until(given, here)
        marks = Counter(marks_in("".join((stable, *parts.values()))))
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
        talk.open[turn] = (talk.epoch, parts[here])
        talk.sent.setdefault(turn, set()).add(parts[here])
        talk.last, talk.unsettled, talk.marks = self.now, False, marks
        self.shown_by[record.ref] = marks
        self.flights.append(Flight(who, prepared, turn))

    def _check_epoch(self, who: Who, epoch: int, stable: str) -> None:
        talk = self.talks[who]
        idle = self.now - talk.last >= IDLE
        if epoch == talk.epoch:
            assert stable == talk.stable, f"the stable block of epoch {epoch} changed"
            still = self.now - max(talk.last, talk.heard) < IDLE
            assert still, "no new epoch after an idle time"
            return
        assert epoch == talk.epoch + 1, f"epoch {epoch} follows epoch {talk.epoch}"
        assert talk.unsettled or idle, f"epoch {epoch} began for no reason"
        talk.epoch, talk.stable, talk.sent, talk.stood = epoch, stable, {}, {}

    def _check_may_be_shown(self, who: Who, marks: Counter[str], where: str) -> None:
        talk = self.talks[who]
        for mark in marks:
            text = self.of_mark[mark]
            shows = f"{where} shows {mark} ({text.kind} {text.ref})"
            assert text.often, f"{shows}, which was forgotten or replaced"
            assert text.user in ("", who.user), f"{shows} of {text.user} to {who.user}"
            assert text.session in ("", who.session), f"{shows} of another conversation"
            assert text.copies or text.kind != "said", f"{shows}, forgotten or never captured"
            said_by = text.refs or [text.ref]
            assert not talk.removed.issuperset(said_by), f"{shows}, which was removed"
            here = text.project in ("", who.project) or not talk.pinned.isdisjoint(said_by)
            assert here, f"{shows} of the project {text.project}"

    def _check_shown_once(self, marks: Counter[str]) -> None:
        for mark, n in marks.items():
            text = self.of_mark[mark]
            most = len(text.copies) if text.kind == "said" else text.often
            if mark == text.end:
                assert n <= most, f"{mark} ({text.kind} {text.ref}) is shown {n} times in full"

    def _check_replay(self, talk: Talk, given, parts: dict[int, str]) -> None:
        """What stands in a turn that is over stands there in every prompt of the epoch.

        The first time that a conversation goes on, it is what was sent with the question.
        """
        for at, after in itertools.pairwise(sorted(parts)):
            text, here, turn = parts[at], _until(given, at), _until(given, after - 1)
            if turn in talk.stood:
                sent = {talk.stood[turn]}
            else:
                sent = {text} if turn in talk.over else talk.sent.get(here, {text})
            assert text in sent, f"message {at} went out with {sent!r}, now with {text!r}"
            talk.stood[turn] = text
            talk.over.add(turn)
        last = max(parts)
        epoch, before = talk.open.get(_until(given, last), (0, ""))
        if epoch == talk.epoch:
            assert parts[last] == before, f"within a turn {before!r} became {parts[last]!r}"

    def _check_new_part(self, who: Who, given, part: str) -> None:
        contents = {message["content"] for message in given}
        for mark in marks_in(part):
            text = self.of_mark[mark]
            assert text.waits, f"the new part shows {mark}, an entry that was replaced or cleared"
            in_time = text.kind != "entry" or self.now < text.expires
            assert in_time, f"the new part shows {mark}, which has expired"
            sent_along = {
                said.session == who.session and said.text in contents for said in text.copies
            }
            assert sent_along != {True}, f"the new part shows {mark}, which the caller sends along"

    def _check_record(self, prepared: Prepared) -> None:
        """What the record calls shown in full is in the prompt."""
        prompt = "\n".join(str(message["content"]) for message in prepared.messages)
        marks = {said.ref: said.end for said in self.texts if said.ref and said.often}
        full = [used for used in prepared.context.used if used.shown == "full"]
        # Parts of earlier turns stand at their messages, not in the blocks of this call.
        where = {"stable": prepared.context.text, "turn": prepared.context.text}
        missing = [
            used.ref
            for used in full
            if used.ref in marks and marks[used.ref] not in where.get(used.block, prompt)
        ]
        assert not missing, f"{missing} are shown, says the record, but they are not"

    @invariant()
    def no_entry_is_lost_and_each_is_committed_once(self) -> None:
        for who in WHO:
            entries = self._entries_of(who)
            stored = self._call(0, "entries", who) if entries else {}
            for text in entries:
                self._check_entry(text, stored.get(text.ref))

    def _check_entry(self, text: Text, entry: Entry | None) -> None:
        # An entry that no prompt has shown yet gives its ref to the one that replaces it.
        if entry is None or entry.text != text.said:
            assert not (text.often and text.waits), f"{text.end} ({text.ref}) is lost"
            return
        showed = {ref for ref in self.arrived if self.shown_by[ref][text.end]}
        assert bool(entry.committed) == bool(showed), (
            f"{text.end} was shown by {showed or 'no answered call'}, "
            f"and is committed to {entry.committed or 'none'}"
        )
        assert not showed or entry.committed in showed, f"{text.end} is in the wrong record"
        text.committed = text.committed or entry.committed
        assert entry.committed == text.committed, f"{text.end} went from one record to another"

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
                    self._prepare(0, who, [SYSTEM, {"role": "user", "content": "Thanks!"}])
                    self._finish(1, self.flights[-1], {"role": "assistant", "content": "Fine."})
            assert not self._waiting(who), f"{[text.end for text in waiting]} wait for ever"
        self.no_entry_is_lost_and_each_is_committed_once()
        for side in (0, 1):
            unread = self._call(side, "set_aside")
            assert not unread, f"records that nothing is wrong with were set aside: {unread}"

    def _waiting(self, who: Who) -> list[Text]:
        entries = self._entries_of(who)
        stored = self._call(0, "entries", who) if entries else {}
        left = [text for text in entries if text.waits and text.often and self.now < text.expires]
        return [text for text in left if not stored[text.ref].committed]

    # --- how it is done ---

    def _call(self, side: int, *args, **kwargs):
        return self.sides[side].call(self.now, *args, **kwargs)

    def _ask(self, side: int, who: Who, history, question: Message, *, answered=False) -> None:
        self._prepare(side, who, [SYSTEM, *history, question])
        if answered:
            self._answer(side, self.flights[-1], plain=True)

    def _answer(self, side: int, flight: Flight, *, plain: bool) -> None:
        said = "Fine." if plain else self._text_of(flight.who, "").said
        self._finish(side, flight, {"role": "assistant", "content": said})

    def _finish(self, side: int, flight: Flight, reply: Message) -> bool:
        """Answer a call; say whether that was its first answer."""
        self._call(side, "chat", flight.who, "finish", flight.prepared, reply)
        if flight.answered or flight.forgotten:
            return False
        talk = self.talks[flight.who]
        flight.answered = True
        self.arrived.add(flight.prepared.context.ref)
        history = [*flight.prepared.given, reply]
        self._look_up_turns(side, flight.who.user)
        if not reply.get("tool_calls"):
            talk.heard = self.now
            talk.open.pop(flight.turn, None)
            talk.histories.append([message for message in history if message != SYSTEM])
            talk.echoes.append(([*flight.prepared.messages, reply], history))
        return True

    def _look_up_turns(self, side: int, user: str) -> None:
        """See what is stored of what was said: each place once, and none that was forgotten."""
        self.stored[user] = turns = self._call(side, "turns", user)
        places = [(user, turn.session, turn.anchor) for turn in turns]
        assert len(set(places)) == len(places), "a message was captured twice"
        again = self.forgotten.intersection(places)
        assert not again, f"{again} were captured again after they had been forgotten"
        for text in self._all("said"):
            if text.user == user:
                text.copies = {turn for turn in turns if text.end in turn.text}

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

    def _remember(self, side: int, text: Text, kind: str, key: str) -> None:
        scope = f"project:{text.project}" if text.project else "universal"
        options = {"user": text.user, "kind": kind, "scope": scope, "key": key}
        self._call(side, "memory", "remember", text.said, **options)
        text.key = key or text.key
        self._look_up_memories(side, text.user)
        assert text.often, f"{text.end} was remembered and is not there"

    def _look_up_memories(self, side: int, user: str) -> None:
        live = [(ref, said) for ref, said, live in self._call(side, "memories", user) if live]
        for text in self._all("memory"):
            if text.user == user:
                text.refs = [ref for ref, said in live if said == text.said]
                text.often, text.ref = len(text.refs), (text.refs or [text.ref])[0]
        self._unsettle()

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


@contextmanager
def of_two_processes() -> Iterator[type[Conversations]]:
    """Have conversations whose second opening is in a process of its own, for the block."""
    elsewhere = Elsewhere()

    class ConversationsOfTwoProcesses(Conversations):
        second = elsewhere.open

    yield ConversationsOfTwoProcesses
    elsewhere.end()


def run(machine: type[Conversations], examples: int, steps: int) -> None:
    slow = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
    chosen = {"max_examples": examples, "stateful_step_count": steps}
    run_state_machine_as_test(machine, settings=settings(**chosen, suppress_health_check=slow))


def test_the_laws_hold_for_two_openings_of_one_file() -> None:
    # `make nightly` draws others, thousands of them.
    run(Conversations, examples=cases(60, explored=150), steps=40)


def test_the_laws_hold_for_two_processes() -> None:
    with of_two_processes() as conversations:
        run(conversations, examples=5, steps=30)


# --- single cases, each of which was wrong once ---


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=FixedClock()) as opened:
        yield opened


@pytest.fixture
def chat(ctx):
    return ctx.session("s1", project="shop")


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def say(chat, history, text, answer="Fine."):
    """Ask and answer once; return what was prepared and the history that follows."""
    asked = [*history, user(text)]
    prepared = chat.prepare(asked)
    chat.finish(prepared, answer)
    return prepared, [*asked, assistant(answer)]


def shown(prepared: Prepared, words: str) -> int:
    return sum(WAS.sub("", message["content"]).count(words) for message in prepared.messages)


def test_what_was_forgotten_and_is_remembered_again_is_shown_again(ctx, chat):
    ctx.remember("Otters swim.", kind="rule")
    gone = ctx.remember("Zebras are striped.", kind="rule")
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.forget(gone.ref)
    _, history = say(chat, history, "Go on")
    ctx.remember("Zebras are striped.", kind="rule")
    chat.refresh()
    again, _ = say(chat, history, "And on")
    assert "Zebras are striped." in again.context.stable


def test_forgetting_reaches_a_memory_that_the_same_words_under_a_key_replaced(ctx):
    plain = ctx.remember("The vault word is marmalade.")
    ctx.remember("The vault word is jam.", key="vault")
    keyed = ctx.remember("The vault word is marmalade.", key="vault")
    ctx.forget(keyed.ref)
    assert ctx.get([plain.ref]) == []


def test_forgetting_reaches_the_history_of_another_memory_that_said_the_same(ctx):
    ctx.remember("The vault word is honey.", key="door")
    once = ctx.remember("The vault word is marmalade.", key="door")
    ctx.remember("The vault word is marmalade.", key="door", kind="rule")
    keyed = ctx.remember("The vault word is marmalade.", key="vault")
    last = ctx.remember("The vault word is jam.", key="door")
    ctx.forget(keyed.ref)
    (left,) = ctx.get([last.ref])
    assert ctx.get([once.ref]) == []
    assert left.was == ""
    assert [one.text[18:] for one in ctx.versions(last.ref)] == ["jam.", "honey."]


def test_versions_stay_linked_around_one_that_is_cut_out(ctx):
    first = ctx.remember("Owls are old.")
    ctx.edit(first.ref, text="The vault word is marmalade.")
    ctx.remember("Walrus was first.", key="vault")
    ctx.remember("The vault word is marmalade.", key="vault")
    last = ctx.remember("Badger is last.", key="vault")
    ctx.forget(ctx.remember("The vault word is marmalade.").ref)
    texts = ["Badger is last.", "Walrus was first.", "Owls are old."]
    assert [one.text for one in ctx.versions(last.ref)] == texts
    ctx.forget(last.ref)
    assert ctx.get([first.ref]) == []


def test_forgotten_words_leave_the_prompts_that_quoted_them(ctx, chat, tmp_path):
    ctx.remember("The vault word is marmalade.", key="vault")
    ctx.remember("The vault word is jam.", key="vault")
    prepared, _ = say(chat, [SYSTEM], "Hello there")
    assert "(was: The vault word is marmalade.)" in prepared.context.stable
    ctx.forget(ctx.remember("The vault word is marmalade.").ref)
    assert not any(b"marmalade" in file.read_bytes() for file in tmp_path.iterdir())


def test_what_another_memory_says_now_stays_when_one_that_says_the_same_is_forgotten(ctx):
    keyed = ctx.remember("The vault word is marmalade.", key="vault")
    other = ctx.remember("The vault word is marmalade.", key="door")
    ctx.forget(keyed.ref)
    assert [memory.text for memory in ctx.get([other.ref])] == ["The vault word is marmalade."]


def test_what_was_said_and_forgotten_is_not_captured_again_though_nothing_else_was_said(ctx, chat):
    say(chat, [SYSTEM], "My cat is called Miso.")
    for words in ("Fine", "Miso"):
        (turn,) = ctx.search(words, kinds=["turn"])
        ctx.forget(turn.ref)
    say(chat, [SYSTEM], "My cat is called Miso.")
    assert ctx.search("Miso") == []


def test_what_is_forgotten_while_a_prompt_is_made_is_neither_in_it_nor_stored(tmp_path):
    meanwhile = []

    class Slow:
        name = "slow"

        def items(self, situation):
            while meanwhile:
                meanwhile.pop()()
            return ()

    with ContextMiddleware.open(tmp_path / "memory.db", sources=[Slow()]) as ctx:
        gone = ctx.remember("The vault word is marmalade.", kind="rule")
        meanwhile.append(lambda: ctx.forget(gone.ref))
        prepared = ctx.session("s1").prepare([user("Hello there")])
    assert not shown(prepared, "marmalade")
    assert not any(b"marmalade" in file.read_bytes() for file in tmp_path.iterdir())


def test_an_edit_reaches_an_index_line_of_an_earlier_part(ctx):
    chat = ctx.session("s1", budget=Budget(total=640))
    memory_tools(chat)  # only who can fetch is told of ids
    _, history = say(chat, [SYSTEM], "Hello there")
    for number in range(8):
        said = f"Zebra crossing {number} is painted " + "in white and yellow and red " * 8
        ctx.remember(said, key=f"k{number}")
    second, history = say(chat, history, "zebra crossing")
    listed = [used.ref for used in second.context.used if used.shown == "index"]
    (number,) = {memory.text[15] for memory in ctx.get(listed[:1])}
    assert shown(second, f"Zebra crossing {number}") == 1
    ctx.remember("Something else altogether.", key=f"k{number}")
    third, _ = say(chat, history, "otters")
    assert shown(third, f"Zebra crossing {number}") == 0


def test_what_is_removed_leaves_the_earlier_parts_and_the_agents_own_search(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    memory = ctx.remember("Zebra crossings need light.")
    second, history = say(chat, history, "zebra crossings")
    assert shown(second, "need light") == 1
    chat.remove(memory.ref)
    third, _ = say(chat, history, "otters")
    assert shown(third, "need light") == 0
    assert "need light" not in memory_tools(chat)[0](query="zebra crossings")


def test_what_a_tool_answered_is_not_told_again_as_an_observation(ctx, chat):
    look = {"id": "c1", "name": "look", "args": {"at": "zebra crossings"}}
    calling = {"role": "assistant", "content": "", "tool_calls": [look]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "Zebra crossings need light."}
    asked = [user("Hello there")]
    chat.finish(chat.prepare(asked), calling)
    chat.finish(chat.prepare([*asked, calling, result]), "Fine.")
    first, history = say(ctx.session("s2", project="shop"), [], "Do zebra crossings need light?")
    second, _ = say(ctx.session("s2", project="shop"), history, "Which zebra crossings need light?")
    assert shown(first, "need light.") == shown(second, "need light.") == 1


def test_a_turn_that_an_observation_in_view_quotes_is_not_told_again(ctx, chat):
    texts = [f"top0000{n} {topic} {FILLER}" for n, topic in enumerate((*TOPICS, *TOPICS, *TOPICS))]
    _, history = say(chat, [SYSTEM], texts[0])
    tools = [{"id": "1", "name": "look", "args": {"at": "otter dams"}}]
    call = {"role": "assistant", "content": "", "tool_calls": tools}
    told = {"role": "tool", "content": texts[1], "tool_call_id": "1"}
    chat.finish(chat.prepare(history[:2]), call)
    chat.prepare([*history[:2], call, told])
    ctx.remember(f"Zebra crossings {FILLER}", scope="project:shop")
    for text in (texts[2], texts[3], texts[4]):
        asked, history = say(chat, history, text, f"Yes, {text[:8]} {FILLER}")
        assert shown(asked, texts[1]) == (text != texts[2])
    assert shown(chat.prepare(history[:-1]), texts[1]) == 1


def test_turns_that_run_side_by_side_build_once_each(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need light.")
    left, right = [*history, user("zebra crossings")], [*history, user("otter dams")]
    first = chat.prepare(left)
    chat.prepare(right)
    ctx.remember("Zebra crossings need paint.")
    assert chat.prepare(left).messages == first.messages


def test_an_earlier_question_asked_again_shows_nothing_twice_in_the_branch_that_went_on(ctx, chat):
    _, history = say(chat, [SYSTEM], "zebra crossings?")
    ctx.remember("Zebra crossings need light.")
    _, longer = say(chat, history, "and zebra crossings now?")
    say(chat, [SYSTEM], "zebra crossings?")
    last, _ = say(chat, longer, "go on")
    assert shown(last, "need light") == 1


def test_what_a_branch_brought_stays_out_of_a_history_that_was_sent_before_it(chat):
    sent_along = [SYSTEM, user("one"), assistant("Fine."), user("two"), assistant("Fine.")]
    before, _ = say(chat, sent_along, "three")
    chat.collect("hook", "a", "The build is red.")
    branch, _ = say(chat, [SYSTEM], "one")
    after, _ = say(chat, sent_along[:3], "two")
    assert shown(branch, "red") == 1
    assert after.messages[:3] == before.messages[:3]


def test_a_branch_keeps_its_own_parts_where_another_has_the_same_messages(chat):
    one = [SYSTEM, user("one"), assistant("Fine.")]
    two = [SYSTEM, user("two"), assistant("Fine.")]
    chat.collect("hook", "a", "The build is red.")
    say(chat, one, "Go on")
    before, history = say(chat, two, "Go on")
    after, _ = say(chat, history, "More")
    assert after.messages[: len(before.messages)] == before.messages
    assert not shown(after, "red")


def test_what_came_into_another_branch_later_does_not_enter_a_history_that_was_cut_short(chat):
    _, history = say(chat, [SYSTEM, user("one"), assistant("Fine.")], "Go on")
    before, cut = say(chat, [SYSTEM, *history[2:]], "More")
    chat.collect("hook", "a", "The build is red.")
    say(chat, [SYSTEM, user("two"), assistant("Fine.")], "Go on")
    after, _ = say(chat, cut, "Still more")
    assert after.messages[: len(before.messages)] == before.messages


def test_what_an_old_question_brought_when_asked_again_is_in_no_cut_history_that_went_on(chat):
    _, history = say(chat, [SYSTEM], "one")
    _, history = say(chat, history, "two")
    _, history = say(chat, history, "three")
    chat.collect("hook", "a", "The build is red.")
    again, _ = say(chat, history[:3], "two")
    cut, _ = say(chat, [SYSTEM, *history[2:]], "four")
    assert shown(again, "red") == 1
    assert shown(cut, "red") == 0


def test_a_question_asked_again_brings_nothing_to_where_it_was_asked_before(ctx, chat):
    sent_along = [SYSTEM, user("one"), assistant("Fine."), user("two"), assistant("Fine.")]
    chat.collect("hook", "a", "The build is red.")
    again, _ = say(chat, [*sent_along, user("three"), assistant("Fine.")], "two")
    before, _ = say(chat, sent_along, "three")
    assert shown(again, "red") == 1
    assert shown(before, "red") == 0


def test_a_part_stays_where_it_was_sent_though_a_later_question_was_asked_elsewhere_before(chat):
    say(chat, [SYSTEM, user("one"), assistant("Fine.")], "two")
    chat.collect("hook", "a", "The build is red.")
    before = chat.prepare([SYSTEM, user("one")])
    chat.finish(before, "Well.")
    other = [assistant("Well."), user("three"), assistant("Fine."), user("two"), assistant("Fine.")]
    after, _ = say(chat, [SYSTEM, user("one"), *other], "four")
    assert shown(before, "red") == 1
    assert after.messages[:2] == before.messages


def test_a_question_asked_long_ago_takes_nothing_from_a_cut_history_it_is_repeated_in(ctx, chat):
    say(chat, [SYSTEM, user("one"), assistant("Fine.")], "two")
    ctx.remember("Zebra crossings need light.")
    first = [user("three"), assistant("Yes."), user("four"), assistant("No.")]
    _, history = say(chat, [SYSTEM, *first], "zebra crossings")
    before, cut = say(chat, [SYSTEM, *history[3:]], "five")
    after, _ = say(chat, [*cut, user("two"), assistant("Well.")], "six")
    assert shown(before, "need light") == 1
    assert after.messages[: len(before.messages)] == before.messages


def test_a_cut_history_keeps_its_parts_when_a_question_of_it_is_asked_again(ctx, chat):
    _, history = say(chat, [SYSTEM, user("one"), assistant("Fine.")], "two")
    ctx.remember("Zebra crossings need light.")
    _, history = say(chat, history, "zebra crossings")
    cut = [SYSTEM, *history[3:]]
    before, _ = say(chat, cut, "three")
    say(chat, cut[:3], "zebra crossings")
    after = chat.prepare([*cut, user("three")])
    assert shown(before, "need light") == 1
    assert after.messages[:-1] == before.messages[:-1]


def test_an_entry_that_was_replaced_does_not_come_back(chat):
    chat.collect("hook", "build", "The build is red.")
    failed = chat.prepare([user("one")])
    chat.collect("hook", "build", "The build is green.")
    chat.finish(failed, error="timeout")
    second, _ = say(chat, [], "two")
    third, _ = say(chat, [], "three")
    assert (shown(second, "green"), shown(second, "red")) == (1, 0)
    assert (shown(third, "green"), shown(third, "red")) == (0, 0)


def test_an_entry_replaced_after_a_failed_call_is_shown_where_the_old_one_stands(chat):
    chat.collect("hook", "build", "The build is red.")
    asked = [user("one")]
    chat.finish(chat.prepare(asked), error="timeout")
    chat.collect("hook", "build", "The build is green.")
    chat.finish(chat.prepare(asked), "Fine.")
    second = chat.prepare([*asked, assistant("Fine."), user("two")])
    assert shown(second, "green") == 1


def test_a_call_ends_well_though_its_conversation_was_forgotten_meanwhile(ctx, chat):
    prepared = chat.prepare([user("My cat is called Miso.")])
    ctx.forget(session="s1")
    chat.began(prepared)
    assert chat.finish(prepared, "Nice.").state == "answered"
    assert chat.history() == []
    assert ctx.search("Miso") == []


def test_a_conversation_that_another_process_forgets_meanwhile_begins_anew(ctx, tmp_path):
    class Meddling(SqliteStore):
        def changes(self, *args):
            while meanwhile:
                meanwhile.pop()()
            return super().changes(*args)

    _, history = say(ctx.session("s1"), [SYSTEM], "Hello there")
    meanwhile = [lambda: ctx.forget(session="s1")]
    with ContextMiddleware(Meddling(tmp_path / "memory.db"), clock=FixedClock()) as other:
        prepared, _ = say(other.session("s1"), history, "Go on")
    assert prepared.context.epoch == 1
    assert len(ctx.session("s1").history()) == 1


def test_what_leaves_the_view_while_it_is_asked_for_comes_back_at_once(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", window=2_000) as ctx:
        chat = ctx.session("s1")
        _, history = say(chat, [SYSTEM], "Hello there")
        words = [f"topic{letter}" for letter in "abcdefghijklmn"]
        kept = 0
        for word in words:
            ctx.remember(f"{word} " + "means a lot of things to many people " * 4)
            if kept > 460:
                break
            asked, history = say(chat, history, f"What is {word}?")
            kept = asked.context.replayed_tokens + asked.context.tokens
        last, _ = say(chat, history, f"What are {words[0]} and {word}?")
        assert last.context.replayed_tokens < kept
        assert shown(last, f"{words[0]} means") == shown(last, f"{word} means") == 1


def test_without_a_message_of_the_user_nothing_is_said_to_be_shown(chat):
    chat.collect("hook", "a", "The build is red.")
    prepared = chat.prepare([SYSTEM, assistant("Hello.")])
    assert not shown(prepared, "red")
    assert prepared.context.used == ()
    assert len(chat.pending()) == 1
