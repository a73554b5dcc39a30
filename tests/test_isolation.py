"""Nothing of one user is ever seen by another, whatever they are called and whatever they do.

Every text carries a word that tells whose it is. Whatever comes back to somebody is searched for
the words of all others.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ctxmw import ContextMiddleware, memory_tools
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.tokens import counter_for

USERS = ("u1", "u10", "u%", "u_", "U1", "u1\n", "u1 ", "u1/*", "' OR 1=1 --")
MARK = re.compile(r"owner(\d+)mark")
COUNT = counter_for()

users = st.sampled_from(range(len(USERS)))
sessions = st.sampled_from(["s1", "s%", "s1\n"])
topics = st.sampled_from(["port", "release", "database", "colour"])


def text_of(owner: int, topic: str) -> str:
    return f"The {topic} is the one of owner{owner}mark."


class Neighbours(RuleBasedStateMachine):
    """People with names made to be mixed up, in one memory opened for many."""

    index = "numpy"

    @initialize()
    def open(self) -> None:
        self._folder = TemporaryDirectory()
        self.clock = FixedClock()
        self.ctx = ContextMiddleware.open(
            Path(self._folder.name) / "memory.db",
            user=None,
            embedder=HashEmbedder(64),
            index=self.index,
            clock=self.clock,
            count=COUNT,
        )
        self.wrote: set[int] = set()
        self.seen: list[tuple[int, object]] = []

    def teardown(self) -> None:
        if hasattr(self, "ctx"):
            self.ctx.close()
            self._folder.cleanup()

    @rule(owner=users, topic=topics, key=st.sampled_from(["", "k"]))
    def remember(self, owner: int, topic: str, key: str) -> None:
        self.wrote.add(owner)
        options = {"user": USERS[owner], "key": key, "scope": "project:shop"}
        self.show(owner, self.ctx.remember(text_of(owner, topic), **options))

    @rule(owner=users, session=sessions, topic=topics)
    def talk(self, owner: int, session: str, topic: str) -> None:
        self.wrote.add(owner)
        chat = self.ctx.session(session, user=USERS[owner], project="shop")
        chat.collect("hook", topic, text_of(owner, topic))
        prepared = chat.prepare([{"role": "user", "content": text_of(owner, topic)}])
        self.show(owner, prepared.messages)
        self.show(owner, prepared.context.explain())
        self.show(owner, chat.finish(prepared, text_of(owner, topic)))

    @rule(owner=users, session=sessions, topic=topics)
    def ask_the_tools(self, owner: int, session: str, topic: str) -> None:
        chat = self.ctx.session(session, user=USERS[owner], project="shop")
        mem_search, mem_get, memory_context = memory_tools(chat)
        self.show(owner, mem_search(query=f"which {topic} has an owner mark"))
        self.show(owner, memory_context(query=topic))
        every = [ref for other in USERS for ref in self.refs(other)]
        self.show(owner, mem_get(refs=every[:20]))

    @rule(owner=users, topic=topics)
    def search(self, owner: int, topic: str) -> None:
        hits = self.ctx.search(f"the {topic} of owner", user=USERS[owner], limit=50)
        self.show(owner, [hit.text for hit in hits])
        self.show(owner, self.ctx.get([r for u in USERS for r in self.refs(u)], user=USERS[owner]))

    @rule(owner=users, session=sessions)
    def look_back(self, owner: int, session: str) -> None:
        chat = self.ctx.session(session, user=USERS[owner])
        self.show(owner, [(one.text, one.explain()) for one in chat.history()])
        self.show(owner, chat.pending())
        self.show(owner, self.ctx.sessions(user=USERS[owner]))
        self.show(owner, self.ctx.why(text_of(owner, "port"), user=USERS[owner]))

    @rule(owner=users, session=sessions)
    def end(self, owner: int, session: str) -> None:
        self.show(owner, self.ctx.session(session, user=USERS[owner], project="shop").end())
        self.clock.advance(minutes=40)

    @rule(owner=users)
    def export(self, owner: int) -> None:
        path = Path(self._folder.name) / "export.jsonl"
        self.ctx.export(path, user=USERS[owner])
        self.show(owner, path.read_text())

    @rule(owner=users)
    def forget(self, owner: int) -> None:
        others = {other: self.refs(USERS[other]) for other in self.wrote - {owner}}
        self.ctx.forget(user=USERS[owner])
        self.wrote.discard(owner)
        assert self.refs(USERS[owner]) == []
        assert {other: self.refs(USERS[other]) for other in others} == others

    @invariant()
    def nobody_saw_another(self) -> None:
        for owner, shown in self.seen:
            whose = set(map(int, MARK.findall(repr(shown))))
            assert whose <= {owner}, f"{USERS[owner]!r} saw {[USERS[n] for n in whose]}"
        self.seen.clear()

    def show(self, owner: int, shown: object) -> None:
        self.seen.append((owner, shown))

    def refs(self, user: str) -> list[str]:
        hits = self.ctx.search("owner mark port release database colour", user=user, limit=50)
        return sorted(hit.ref for hit in hits)


class NeighboursInChroma(Neighbours):
    index = "chroma"


few = {"deadline": None, "derandomize": True}
TestNeighbours = Neighbours.TestCase
TestNeighbours.settings = settings(max_examples=40, stateful_step_count=30, **few)
TestNeighboursInChroma = NeighboursInChroma.TestCase
TestNeighboursInChroma.settings = settings(max_examples=4, stateful_step_count=20, **few)


@pytest.mark.parametrize("user", ["", None, 7, "\x01shared"])
def test_a_call_without_a_name_of_its_own_is_refused(user):
    with ContextMiddleware.open(":memory:", user=None, count=COUNT) as ctx:
        with pytest.raises(ValueError, match="user"):
            ctx.session("s", user=user)
        with pytest.raises(ValueError, match="user"):
            ctx.remember("x", user=user)
