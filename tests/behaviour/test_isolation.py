"""Nothing of one user is ever seen by another, whatever they are called and whatever they do.

Whatever comes back to somebody is searched for the marks of all others. In the end everybody's
steps are taken again in a memory of their own: alone they see to the byte what they saw among
others, so that nothing of the others shows in what is found, how it is rated or when it is ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from itertools import product
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ctxmw import ContextMiddleware
from ctxmw.composition import Composition
from ctxmw.recall.entries import waiting
from ctxmw.runtime.lru import LruCache
from ctxmw.search.search import Search
from ctxmw.values.records import load
from tests.support.neighbours import COUNT, SESSIONS, TOPICS, USERS, Neighbourhood, owners_of

users = st.sampled_from(range(len(USERS)))
sessions = st.sampled_from(SESSIONS)
topics = st.sampled_from(TOPICS)
STATISTIC = re.compile(r"[a-z][a-z0-9_.]*")


class Neighbours(RuleBasedStateMachine):
    """What they do, one after the other."""

    index: ClassVar[str] = "numpy"
    plant: ClassVar[Callable[[Composition], None] | None] = None
    """Makes a memory that mixes people up, to see that it is seen."""

    @initialize()
    def open(self) -> None:
        self.there = self._opened()
        self.done: list[tuple[datetime, int, str, tuple[Any, ...], str]] = []
        self.wrote: set[int] = set()

    @rule(owner=users, topic=topics, key=st.sampled_from(["", "k"]))
    def remember(self, owner: int, topic: str, key: str) -> None:
        self.wrote.add(owner)
        self.do(owner, "remember", topic, key)

    @rule(owner=users, session=sessions, topic=topics)
    def collect(self, owner: int, session: str, topic: str) -> None:
        self.do(owner, "collect", session, topic)

    @rule(owner=users, session=sessions, topic=topics)
    def talk(self, owner: int, session: str, topic: str) -> None:
        self.wrote.add(owner)
        self.do(owner, "talk", session, topic)

    @rule(owner=users, session=sessions, topic=topics)
    def ask_the_tools(self, owner: int, session: str, topic: str) -> None:
        self.do(owner, "ask_the_tools", session, topic, self.every_ref())

    @rule(owner=users, topic=topics)
    def search(self, owner: int, topic: str) -> None:
        self.do(owner, "search", topic, self.every_ref())

    @rule(owner=users, session=sessions)
    def look_back(self, owner: int, session: str) -> None:
        self.do(owner, "look_back", session)

    @rule(owner=users, session=sessions)
    def end(self, owner: int, session: str) -> None:
        self.do(owner, "end", session)

    @rule(minutes=st.sampled_from([1, 40]))
    def wait(self, minutes: int) -> None:
        self.there.clock.advance(minutes=minutes)

    @rule(owner=users)
    def export(self, owner: int) -> None:
        self.do(owner, "export")

    @rule(owner=users, topic=topics)
    def use_mcp(self, owner: int, topic: str) -> None:
        self.wrote.add(owner)
        self.do(owner, "use_mcp", topic, self.every_ref())

    @rule(owner=users, topic=topics)
    def open_the_page(self, owner: int, topic: str) -> None:
        self.wrote.add(owner)
        self.do(owner, "open_the_page", topic, self.every_ref())

    @rule(owner=users)
    def forget(self, owner: int) -> None:
        others = {other: self.there.refs(other) for other in self.wrote - {owner}}
        self.do(owner, "forget")
        self.wrote.discard(owner)
        assert self.there.refs(owner) == []
        assert {other: self.there.refs(other) for other in others} == others

    @invariant()
    def statistics_hold_numbers_and_nobody_s_words(self) -> None:
        told = self.there.ctx.stats()
        assert [name for name in told if not STATISTIC.fullmatch(name)] == []
        assert {type(value) for value in told.values()} <= {int, float}

    def teardown(self) -> None:
        if not hasattr(self, "there"):
            return
        try:
            self.everybody_sees_the_same_alone()
            self.nobody_sees_another_when_all_come_at_once()
        finally:
            self.there.close()

    def nobody_sees_another_when_all_come_at_once(self) -> None:
        seen = self.there.use_mcp_at_once(sorted(self.wrote)[:4], self.every_ref())
        for owner, shown in seen.items():
            check(owner, shown)

    def everybody_sees_the_same_alone(self) -> None:
        for owner in sorted({owner for _, owner, *_ in self.done}):
            alone = self._opened()
            try:
                for at, who, action, arguments, saw in self.done:
                    if who == owner:
                        alone.clock.now = at
                        shown = repr(alone.does(who, action, *arguments))
                        assert _plain(shown) == _plain(saw), f"{USERS[owner]!r} sees more alone"
            finally:
                alone.close()

    def do(self, owner: int, action: str, *arguments: Any) -> None:
        at = self.there.clock.now
        saw = repr(self.there.does(owner, action, *arguments))
        self.done.append((at, owner, action, arguments, saw))
        check(owner, saw)

    def every_ref(self) -> list[str]:
        """Return some refs of everybody's."""
        refs = [ref for owner in sorted(self.wrote) for ref in self.there.refs(owner)]
        return list(dict.fromkeys(refs))[:8]

    def _opened(self) -> Neighbourhood:
        there = Neighbourhood(self.index)
        if self.plant is not None:
            self.plant(there.ctx._composition)
        return there


def check(owner: int, shown: object) -> None:
    others = owners_of(shown) - {owner}
    assert not others, f"{USERS[owner]!r} saw {[USERS[other] for other in others]}"


def _plain(shown: str) -> str:
    # Where the changes of a store stand is a number that all of its users share. A moment that was
    # read back calls its zone by another name. And the page names the file, in a folder of its own.
    shown = re.sub(r"· \S+memory\.db", "· memory.db", shown)
    return re.sub(r"feed\W{1,3}\d+", "feed", shown).replace("TzInfo(0)", "datetime.timezone.utc")


class NeighboursInChroma(Neighbours):
    index = "chroma"


TestNeighbours = Neighbours.TestCase
TestNeighbours.settings = settings(max_examples=15, stateful_step_count=30)
TestNeighboursInChroma = NeighboursInChroma.TestCase
TestNeighboursInChroma.settings = settings(max_examples=2, stateful_step_count=20)


# --- a mix-up would be seen ---


class Anyones(LruCache[Any, Any]):
    """A cache that forgets whose its values are."""

    def get(self, key: Any) -> Any:
        return super().get(_without_user(key))

    def put(self, key: Any, value: Any) -> Any:
        return super().put(_without_user(key), value)

    def get_or_make(self, key: Any, make: Callable[[], Any]) -> Any:
        return super().get_or_make(_without_user(key), make)


def _without_user(key: Any) -> Any:
    return key[1:] if isinstance(key, tuple) else ""


def _prompts(made: Composition) -> None:
    for name in ("prompts", "in_view"):
        _cache(name, lambda: Anyones(1024))(made)


def _search(made: Composition) -> None:
    made.recall.search._indexes._replica._users = Anyones(64)


def _shelves(made: Composition) -> None:
    made.recall.sources[0]._shelf._replica._users = Anyones(64)


def _feed(made: Composition) -> None:
    made.conversations.feed._users = Anyones(64)


def _cache(name: str, mixed: Callable[[], object]) -> Callable[[Composition], None]:
    def plant(made: Composition) -> None:
        owners = (made.conversations, made.recall, made.recall.printer)
        owner = next(one for one in owners if hasattr(one, name))
        object.__setattr__(owner, name, mixed())

    return plant


MIXED = {
    "builds": _cache("builds", lambda: Anyones(1024)),
    "prompts": _prompts,
    "idle": _cache("idle", lambda: Anyones(1024)),
    "search": _search,
    "shelves": _shelves,
    "feed": _feed,
}
CHECKED = {
    "blocks": _cache("blocks", lambda: Anyones(2048)),
    "openings": _cache("openings", lambda: Anyones(128)),
    "states": _cache("states", lambda: Anyones(256)),
}


def tell_a_story(plant: Callable[[Composition], None] | None = None) -> None:
    """Have two people do the same after each other, everything there is."""

    class Told(Neighbours):
        pass

    Told.plant = plant and staticmethod(plant)
    story = Told()
    story.open()
    try:
        for minutes, new in ((0, "port"), (40, "release"), (1, "colour")):
            story.wait(minutes)
            # One has something new; the other, who has not, comes first.
            story.remember(1, new, "")
            story.collect(1, "s1", "port")
            for owner in (0, 1):
                story.talk(owner, "s1", "port")
            story.search(1, new)
            for session, owner in product(("s%", "s1"), (0, 1)):
                story.collect(owner, session, "port")
            for session, owner in product(("s%", "s1"), (1, 0)):
                story.talk(owner, session, "port")
            for owner in (0, 1):
                _look_everywhere(story, owner)
        story.everybody_sees_the_same_alone()
    finally:
        story.there.close()


def _look_everywhere(story: Neighbours, owner: int) -> None:
    story.remember(owner, "port", "")
    story.ask_the_tools(owner, "s1", "port")
    story.search(owner, "port")
    story.look_back(owner, "s1")
    story.use_mcp(owner, "port")
    story.open_the_page(owner, "port")
    story.statistics_hold_numbers_and_nobody_s_words()


@pytest.mark.parametrize("cache", MIXED)
def test_a_cache_that_mixes_people_up_is_seen(cache: str) -> None:
    with pytest.raises(AssertionError):
        tell_a_story(MIXED[cache])


@pytest.mark.parametrize("cache", CHECKED)
def test_a_cache_whose_values_know_whose_they_are_may_mix_people_up(cache: str) -> None:
    # They are looked up or checked by the text itself.
    tell_a_story(CHECKED[cache])


def _waiting_for_the_first(journal, user, *more):
    return waiting(journal, USERS[0], *more)


def _counted_by_question(self, situation, *more, find=Search.find):
    self._faults.stats.count(f"asked.{situation.query}")
    return find(self, situation, *more)


def _item_of_anybody(self, ref):
    rows = [row for user in USERS for row in self._store.get(user, [ref])]
    return load(rows[0]) if rows else None


@pytest.mark.parametrize(
    ("where", "mixed"),
    [
        ("ctxmw.calls.call.waiting", _waiting_for_the_first),
        ("ctxmw.conversation.contents.waiting", _waiting_for_the_first),
        ("ctxmw.search.search.Search.find", _counted_by_question),
        ("ctxmw_mcp.callers.Callers.user", lambda *_: USERS[0]),
        ("ctxmw.ui.reading.Reading.item", _item_of_anybody),
    ],
)
def test_a_surface_that_mixes_people_up_is_seen(where, mixed, monkeypatch):
    monkeypatch.setattr(where, mixed)
    with pytest.raises(AssertionError):
        tell_a_story()


@pytest.mark.parametrize("user", ["", None, 7, "\x01shared"])
def test_a_call_without_a_name_of_its_own_is_refused(user):
    with ContextMiddleware.open(":memory:", user=None, count=COUNT) as ctx:
        with pytest.raises(ValueError, match="user"):
            ctx.session("s", user=user)
        with pytest.raises(ValueError, match="user"):
            ctx.remember("x", user=user)
