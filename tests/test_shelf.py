"""The shelf rates a thousand items at once exactly as one is rated alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from ctxmw import SqliteStore
from ctxmw.records import Memory
from ctxmw.scoring import Weights, score
from ctxmw.situation import TASKS, Situation
from ctxmw.sources import Memories

NOW = datetime(2026, 3, 2, tzinfo=UTC)
KINDS = ("preference", "rule", "decision", "correction", "fact")
SCOPES = ("universal", "language:python", "project:shop", "language:go")
WORDS = ("implement", "latest", "error", "tests", "design", "docker", "document", "fix", "prefix")


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
        assert len(listed.others) == 0
        alone = {item.ref: score(item, situation, Weights()) for item in source.items(situation)}
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
    assert min(item.score for item in listed.items) >= max(listed.others)
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
