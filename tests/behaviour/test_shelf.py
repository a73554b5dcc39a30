"""The shelf rates a thousand items at once exactly as one is rated alone."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from ctxmw import SqliteStore
from ctxmw.protocols import Change, Row, Store
from ctxmw.recall.sources.records import Memories
from ctxmw.recall.sources.shelf import AT_HAND
from ctxmw.values.items import Item
from ctxmw.values.records import Memory
from ctxmw.values.situation import TASKS, Rating, Situation, Weights

NOW = datetime(2026, 3, 2, tzinfo=UTC)
KINDS = ("preference", "rule", "decision", "correction", "fact")
SCOPES = ("universal", "language:python", "project:shop", "language:go")
WORDS = ("implement", "latest", "error", "tests", "design", "docker", "document", "fix", "prefix")


class Read(SqliteStore):
    """Keeps in mind which rows were read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.refs: list[str] = []

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        self.refs += refs
        return super().get(user, refs)


def memory(random: Random, number: int) -> Memory:
    return Memory(
        user="ada",
        ref=f"m{number}",
        at=NOW - timedelta(days=random.choice([0, 6.99, 7, 29, 30, 89, 90, 179, 180, 400])),
        kind=random.choice(KINDS),
        scope=random.choice(SCOPES),
        text=" ".join(random.choices(WORDS, k=4)) + f" {number}",
        seen=random.randint(1, 12),
        trust=random.choice(["trusted", "trusted", "untrusted"]),
    )


def test_the_scores_are_those_of_scoring_one_by_one():
    random = Random(1)
    store = SqliteStore(":memory:")
    memories = [memory(random, number) for number in range(300)]
    store.put([one.row() for one in memories])
    source = Memories(store)
    most = dict.fromkeys(("universal", "language", "project"), 1000)
    for task in (None, *TASKS):
        situation = Situation(user="ada", now=NOW, project="shop", language="python", task=task)
        listed = source.best(situation, Weights(), most)
        assert listed.left_out(0) == (0, 0)
        alone = {
            item.ref: Rating.of(situation, Weights()).score(item)
            for item in source.items(situation)
        }
        here = {ref for ref, item in alone.items() if str(item.scope) != "language:go"}
        assert {item.ref for item in listed.items} == here
        for item in listed.items:
            assert (item.score, item.reasons) == (alone[item.ref].score, alone[item.ref].reasons)
    store.close()


def test_the_best_are_listed_and_the_others_counted():
    random = Random(2)
    store = SqliteStore(":memory:")
    store.put([memory(random, number).row() for number in range(300)])
    situation = Situation(user="ada", now=NOW)
    listed = Memories(store).best(situation, Weights(), {"universal": 5})
    assert len(listed.items) == 5
    assert min(item.score for item in listed.items) >= max(map(max, listed.others))
    store.close()


def test_of_equals_the_one_written_last_comes_first_however_many_there_are():
    store = SqliteStore(":memory:")
    source = Memories(store)
    here = Situation(user="ada", now=NOW)
    refs = [f"m{Random(number).random()}" for number in range(61)]
    for ref in refs:
        same = Memory(user="ada", ref=ref, at=NOW, kind="fact", text=f"Number {ref}.")
        store.put([same.row()])
        listed = source.best(here, Weights(), {"universal": 5}).items
        assert listed[0].ref == ref
    anew = Memories(store).best(here, Weights(), {"universal": 5}).items
    assert [item.ref for item in anew] == [item.ref for item in listed] == refs[:-6:-1]
    store.close()


def test_instructions_of_every_scope_are_listed_beside_better_facts():
    store = SqliteStore(":memory:")
    about = {"user": "ada", "at": NOW, "text": "Something."}
    facts = [Memory(ref=f"m{n}", kind="fact", **about) for n in range(200)]
    old = {**about, "at": NOW - timedelta(days=400)}
    rules = [
        Memory(ref=f"r-{scope}", kind="rule", scope=scope, **old)
        for scope in ("universal", "language:python", "project:shop")
    ]
    crowd = [Memory(ref=f"r{n}", kind="preference", **about) for n in range(200)]
    store.put([one.row() for one in (*rules, *facts, *crowd[:1])])
    here = Situation(user="ada", now=NOW, project="shop", language="python")
    most = {"instructions": 3, "universal": 5, "language": 5, "project": 5}
    source = Memories(store)
    listed = source.best(here, Weights(), most).items
    assert {one.ref for one in rules} <= {item.ref for item in listed}
    assert sum(item.kind == "fact" for item in listed) == 5
    store.put([one.row() for one in crowd])
    listed = source.best(here, Weights(), most).items
    assert {one.ref for one in rules[1:]} <= {item.ref for item in listed}
    assert sum(item.kind == "preference" for item in listed) == 3
    assert len({item.ref for item in listed}) == len(listed)
    store.close()


def test_the_items_on_a_list_are_the_ones_at_hand_for_the_next():
    random = Random(2)
    store = SqliteStore(":memory:")
    source = Memories(store)
    here = Situation(user="ada", now=NOW)
    listed = []
    for number in range(200):
        store.put([memory(random, number).model_copy(update={"source": "own"}).row()])
        before, listed = listed, source.best(here, Weights(), {"universal": 30}).items
        known = {item.ref: item for item in before}
        assert all(item is known.get(item.ref, item) for item in listed)
    del before, known
    gc.collect()
    at_hand = [one for one in gc.get_objects() if isinstance(one, Item) and one.source == "own"]
    assert len(at_hand) <= len(listed) + AT_HAND + 1
    store.close()


def test_items_on_the_lists_of_several_projects_stay_at_hand():
    random = Random(3)
    store = Read(":memory:")
    store.put([memory(random, number).row() for number in range(300)])
    source = Memories(store)
    python, shop = (
        Situation(user="ada", now=NOW, language="python"),
        Situation(user="ada", now=NOW, project="shop"),
    )
    most = {"language": 100, "project": 100}
    source.best(python, Weights(), most)
    source.best(shop, Weights(), most)
    store.refs.clear()
    new = {"user": "ada", "at": NOW, "kind": "fact", "seen": 12}
    store.put([Memory(ref="new", text="The newest.", scope="universal", **new).row()])
    listed = [source.best(here, Weights(), most).items for here in (python, shop, python, shop)]
    assert len({item.ref for items in listed for item in items}) > 60
    assert store.refs == ["new"]
    store.close()


def test_what_changed_is_rated_anew():
    store = SqliteStore(":memory:")
    source = Memories(store)
    situation = Situation(user="ada", now=NOW)
    first = memory(Random(3), 1).model_copy(update={"scope": "universal", "trust": "trusted"})
    store.put([first.row()])
    most = {"universal": 5}
    (before,) = source.best(situation, Weights(), most).items
    store.put([first.model_copy(update={"seen": 50}).row()])
    (after,) = source.best(situation, Weights(), most).items
    assert after.score > before.score
    store.delete("ada", [first.ref])
    assert source.best(situation, Weights(), most).items == ()
    store.close()


def filled(path: Path, n: int) -> SqliteStore:
    random = Random(4)
    store = SqliteStore(path)
    store.put([memory(random, number).row() for number in range(n)])
    return store


def shortlist(store: Store, n: int = 2000) -> dict[str, float]:
    situation = Situation(user="ada", now=NOW, project="shop", task="coding")
    most = dict.fromkeys(("universal", "language", "project"), n)
    return {item.ref: item.score for item in Memories(store).best(situation, Weights(), most).items}


class Reading:
    """A store that counts the changes that are followed."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.changed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def changes(self, user: str, since: int, types: Sequence[str] = ()) -> list[Change]:
        changes = self._store.changes(user, since, types)
        self.changed += len(changes)
        return changes


def test_another_process_reads_a_copy_of_the_ratings_and_what_changed_since(tmp_path: Path) -> None:
    store = filled(tmp_path / "memory.db", 1200)
    first = shortlist(store)
    again = Reading(store)
    assert shortlist(again) == first
    assert again.changed == 0
    new = memory(Random(5), 5000).model_copy(update={"scope": "universal", "trust": "trusted"})
    gone = next(iter(first))
    kept = next(ref for ref in first if ref != gone)
    store.put([new.row()])
    store.delete("ada", [gone])
    after = shortlist(store)
    assert after.keys() == (first.keys() | {new.ref}) - {gone}
    assert after[kept] == first[kept]
    store.close()


def test_a_copy_that_cannot_be_read_is_made_anew(tmp_path: Path) -> None:
    store = filled(tmp_path / "memory.db", 1200)
    first = shortlist(store)
    space = next(space for space in store.blob_spaces("ada") if space.startswith("ratings"))
    (copy,) = store.get_blobs("ada", space, ["*"]).values()
    for broken in (b"", b"{}", copy[:-1], copy[:-1000], b"[" + copy):
        store.put_blobs("ada", space, {"*": broken})
        assert shortlist(store) == first
    store.close()


def test_of_many_the_best_come_newest_first(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    random = Random(6)
    times = [{"at": NOW - timedelta(hours=number)} for number in range(900)]
    store.put([memory(random, at).model_copy(update=time).row() for at, time in enumerate(times)])
    every = shortlist(store)
    few = shortlist(store, 20)
    assert list(few)[:20] == [ref for ref in every if ref in few][:20]
    store.close()


def test_a_list_that_grows_with_the_shelf_is_the_one_made_anew() -> None:
    store = SqliteStore(":memory:")
    random = Random(8)
    lanes = {"universal": 5, "language": 3, "project": 4}
    growing = Memories(store)
    now = NOW
    for step in range(60):
        first = step // 2 if step % 7 == 6 else 3 * step  # now and then one that is there already
        new = [memory(random, first + number) for number in range(3)]
        store.put([one.row() for one in new])
        if step % 11 == 10:
            store.delete("ada", [new[0].ref])
        now += timedelta(hours=random.choice([0, 1, 30]))
        situation = Situation(user="ada", now=now, project="shop", language="python")
        listed = growing.best(situation, Weights(), lanes)
        anew = Memories(store).best(situation, Weights(), lanes)
        assert [item.score for item in listed.items] == [item.score for item in anew.items]
        for floor in (0.0, 0.6, 0.7):
            assert listed.left_out(floor) == anew.left_out(floor)
    store.close()


def test_the_copy_that_forgetting_took_along_is_made_again(tmp_path: Path) -> None:
    store = filled(tmp_path / "memory.db", 1200)
    source = Memories(store)
    situation = Situation(user="ada", now=NOW)
    most = {"universal": 5}
    source.best(situation, Weights(), most)
    (space,) = store.blob_spaces("ada")
    store.delete("ada", ["m7"])
    assert store.blob_refs("ada", space) == []
    source.best(situation, Weights(), most)
    assert store.blob_refs("ada", space) == ["*"]
    again = Reading(store)
    assert shortlist(again) == shortlist(store)
    assert again.changed == 0
    store.close()
