"""Promises to many at once: writers, claimants, processes that die, and a store that is new."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from ..protocols import Find, Store
from ..recall.entries import LEASE
from .case import (
    ANYTHING,
    CRASHED,
    NOW,
    Case,
    at_once,
    expect,
    found,
    row,
    same,
)
from .doubles import FixedClock

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

THREADS, PROCESSES, ROUNDS = 8, 2, 5

# --- writers ---


def no_update_is_lost_among_threads(case: Case) -> None:
    store = case.open()
    store.put([row("count", "0")])

    def add(_: int) -> None:
        for _ in range(ROUNDS):
            _add_one(store)

    at_once(add, THREADS)
    same([r.body for r in store.get("ada", ["count"])], [str(THREADS * ROUNDS)], "the count")


def no_update_is_lost_among_processes(case: Case) -> None:
    store = case.open()
    store.put([row("count", "0")])
    running = [case.elsewhere(_add_some, number) for number in range(PROCESSES)]
    for result in running:
        result()
    same([r.body for r in store.get("ada", ["count"])], [str(PROCESSES * ROUNDS)], "the count")
    kept = store.query("ada", Find(types=("note",)))
    same(len(kept), PROCESSES * ROUNDS, "rows of all processes")


def nothing_appears_behind_a_reader_of_the_feed(case: Case) -> None:
    store = case.open()
    seen: set[str] = set()
    at = 0

    def write(number: int) -> None:
        nonlocal at
        for turn in range(ROUNDS * 2):
            if number:
                store.put([row(f"m{number}-{turn}", "tea")])
            else:
                head = store.head("ada")
                changes = store.changes("ada", at)
                seen.update(change.ref for change in changes if change.seq <= head)
                at = head

    at_once(write, THREADS)
    seen.update(change.ref for change in store.changes("ada", at))
    missed = {change.ref for change in store.changes("ada", 0)} - seen
    same(missed, set(), "changes that appeared behind a reader who had gone on")


def users_who_write_at_once_do_not_cross(case: Case) -> None:
    store = case.open()

    def write(number: int) -> None:
        name = f"u{number}"
        for turn in range(ROUNDS):
            with store.atomic(name):
                store.put([row(f"m{turn}", f"tea of {name}", user=name)])
                others = [hit.body for hit, _ in store.search(name, ["tea"], ANYTHING)]
                same(set(others), {f"tea of {name}"}, f"what {name} finds")
            same(store.count(name, ANYTHING), turn + 1, f"rows of {name}")

    at_once(write, THREADS)


def _add_one(store: Store) -> None:
    with store.atomic("ada"):
        (now,) = store.get("ada", ["count"])
        store.put([row("count", str(int(now.body) + 1))])


def _add_some(store: Store, number: int) -> None:
    for turn in range(ROUNDS):
        _add_one(store)
        store.put([row(f"n{number}-{turn}", "tea", type="note")])


# --- leases ---


def a_claimed_entry_is_offered_again_when_its_lease_ends(case: Case) -> None:
    clock = FixedClock(NOW)
    ctx = _opened(case.open(), clock)
    chat = ctx.session("s1")
    chat.collect("hook", "a", "The build is red.")
    first = chat.prepare([{"role": "user", "content": "Hello there"}])
    expect("The build is red." in first.context.part, "the first call shows the entry")
    second = chat.prepare([{"role": "user", "content": "And now?"}])
    expect("The build is red." not in second.context.part, "a claimed entry is not shown twice")
    clock.advance(minutes=LEASE / timedelta(minutes=1) + 1)
    third = chat.prepare([{"role": "user", "content": "Still there?"}])
    expect("The build is red." in third.context.part, "it is offered again after its lease")
    chat.finish(third, "Yes.")
    same(chat.pending(), [], "what waits after an answer")


def one_of_many_claims_an_entry(case: Case) -> None:
    store = case.open()
    ctx = _opened(store, FixedClock(NOW))
    for number in range(4):
        ctx.session("s1").collect("hook", str(number), f"note{number} waits here.")

    def claim(number: int) -> list[str]:
        chat = ctx.session("s1")
        prepared = chat.prepare([{"role": "user", "content": f"Question number {number}"}])
        chat.finish(prepared, f"Answer {number}.")
        return [f"note{n}" for n in range(4) if f"note{n} " in prepared.context.part]

    shown = Counter(note for notes in at_once(claim, 4) for note in notes)
    same(shown, Counter({f"note{n}": 1 for n in range(4)}), "how often each entry was shown")


def an_entry_claimed_by_a_process_that_died_is_not_lost(case: Case) -> None:
    case.open()
    case.crash(_claim_and_die)
    clock = FixedClock(NOW + LEASE + timedelta(seconds=1))
    chat = _opened(case.open(), clock).session("s1")
    prepared = chat.prepare([{"role": "user", "content": "Is anybody there?"}])
    expect("The build is red." in prepared.context.part, "it is offered to the next call")


def _opened(store: Store, clock: FixedClock) -> ContextMiddleware:
    # Whoever tests with a clock or an embedder alone need not load everything else.
    from ..middleware import ContextMiddleware

    return ContextMiddleware(store, user="ada", clock=clock)


def _claim_and_die(store: Store) -> None:
    chat = _opened(store, FixedClock(NOW)).session("s1")
    chat.collect("hook", "a", "The build is red.")
    chat.prepare([{"role": "user", "content": "Hello there"}])
    os._exit(CRASHED)


# --- crashes ---


def a_process_that_dies_between_two_writes_leaves_neither(case: Case) -> None:
    store = case.open()
    store.put([row("m0", "tea")])
    before = store.head("ada")
    case.crash(_die_between_writes)
    same(found(store, "tea"), ["m0"], "what is found")
    same((store.head("ada"), store.blob_refs("ada", "a")), (before, []), "the head and blobs")
    store.put([row("m3", "tea")])
    same(store.count("ada", ANYTHING), 2, "rows after going on")


def what_was_acknowledged_survives_a_crash(case: Case) -> None:
    case.open().close()
    case.crash(_write_and_die)
    store = case.open()
    same(sorted(found(store, "tea")), ["m1", "m2"], "what is found")
    same([c.ref for c in store.changes("ada", 0)], ["m1", "m2"], "the feed")


def _die_between_writes(store: Store) -> None:
    with store.atomic("ada"):
        store.put([row("m1", "tea")])
        store.put_blobs("ada", "a", {"m1": b"1"})
        os._exit(CRASHED)


def _write_and_die(store: Store) -> None:
    store.put([row("m1", "tea")])
    store.put([row("m2", "tea")])
    os._exit(CRASHED)


# --- migrations ---


def a_new_store_may_be_opened_by_many_at_once(case: Case) -> None:
    running = [case.elsewhere(_first_write, number) for number in range(PROCESSES)]
    stores = at_once(lambda _: case.open(), 4)
    for number, store in enumerate(stores):
        store.put([row(f"t{number}", "tea")])
    for result in running:
        result()
    same(len(found(stores[0], "tea")), PROCESSES + 4, "rows")


def opening_again_changes_nothing(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    store.put_blobs("ada", "a", {"m1": b"1", "*": b"all"})
    before = (store.get("ada", ["m1"]), store.head("ada"), store.blob_refs("ada", "a"))
    store.close()
    again = case.open()
    after = (again.get("ada", ["m1"]), again.head("ada"), again.blob_refs("ada", "a"))
    same(after, before, "rows, head and blobs")


def _first_write(store: Store, number: int) -> None:
    store.put([row(f"p{number}", "tea")])


CHECKS: dict[str, tuple[Callable[[Case], None], ...]] = {
    "concurrent writers": (
        no_update_is_lost_among_threads,
        no_update_is_lost_among_processes,
        nothing_appears_behind_a_reader_of_the_feed,
        users_who_write_at_once_do_not_cross,
    ),
    "leases": (
        a_claimed_entry_is_offered_again_when_its_lease_ends,
        one_of_many_claims_an_entry,
        an_entry_claimed_by_a_process_that_died_is_not_lost,
    ),
    "crashes": (
        a_process_that_dies_between_two_writes_leaves_neither,
        what_was_acknowledged_survives_a_crash,
    ),
    "migrations": (
        a_new_store_may_be_opened_by_many_at_once,
        opening_again_changes_nothing,
    ),
}
