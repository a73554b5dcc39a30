"""Promises about change: the feed tells it, deleting reaches everywhere, blocks are whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import InvalidValue, StoreError
from ..protocols import Change, Find, Store
from .case import ANYTHING, Case, expect, found, raises, refs, row, same

# --- the changes feed ---


def each_row_has_one_entry_at_its_last_change(case: Case) -> None:
    store = case.open()
    store.put([row("m1"), row("m2", type="note")])
    before = store.head("ada")
    store.put([row("m1", "again")])
    feed = store.changes("ada", 0)
    same([(c.ref, c.type, c.gone) for c in feed], [("m2", "note", False), ("m1", "memory", False)],
         "the feed")  # fmt: skip
    same(store.changes("ada", before), feed[1:], "what came after the second row")
    same(store.head("ada"), feed[-1].seq, "the head")
    same([kept.seq for kept in store.get("ada", ["m1"])], [feed[-1].seq], "the row's position")


def the_feed_keeps_that_rows_are_gone(case: Case) -> None:
    store = case.open()
    store.put([row("m1", type="note"), row("m2")])
    before = store.head("ada")
    same(store.delete("ada", ["m1", "m1", "none"]), 1, "deleted")
    (last,) = store.changes("ada", before)
    same((last.ref, last.type, last.gone), ("m1", "note", True), "the entry")
    expect(store.head("ada") == last.seq > before, "the head moves when something goes")
    same(store.delete("ada", ["m1"]), 0, "deleted again")
    same(store.head("ada"), last.seq, "deleting nothing leaves the head where it is")


def a_row_that_comes_back_is_not_gone(case: Case) -> None:
    store = case.open()
    store.put([row("m1")])
    store.delete("ada", ["m1"])
    store.put([row("m1")])
    same([(c.ref, c.gone) for c in store.changes("ada", 0)], [("m1", False)], "the feed")


def the_feed_is_asked_by_type_and_user(case: Case) -> None:
    store = case.open()
    store.put([row("m1"), row("n1", type="note"), row("b1", user="bob")])
    store.delete("ada", ["n1"])
    same([c.ref for c in store.changes("ada", 0, ("note",))], ["n1"], "notes")
    same([c.ref for c in store.changes("bob", 0)], ["b1"], "Bob's")
    same((store.head("eve"), store.changes("eve", 0)), (0, []), "somebody who has nothing")
    same(len(store.changes("ada", -(10**30))), 2, "since long ago")
    same(store.changes("ada", 10**30), [], "since long after")


def another_opening_sees_the_feed(case: Case) -> None:
    store, other = case.open(), case.open()
    store.put([row("m1", "tea")])
    same([c.ref for c in other.changes("ada", 0)], ["m1"], "seen by the other")
    other.put([row("m2", "tea")])
    same([c.ref for c in store.changes("ada", 0)], ["m1", "m2"], "seen by the first")
    other.delete("ada", ["m1"])
    same(found(store, "tea"), ["m2"], "search of the first")


def another_process_sees_the_feed(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    before = store.head("ada")
    seen = case.elsewhere(_read_and_write)()
    same(seen, ["m1"], "seen by the other process")
    same([c.ref for c in store.changes("ada", before)], ["far"], "seen here")


def _read_and_write(store: Store) -> list[str]:
    seen = [change.ref for change in store.changes("ada", 0)]
    store.put([row("far", "tea")])
    return seen


# --- deletion ---


def what_is_deleted_is_nowhere(case: Case) -> None:
    store, other = case.open(), case.open()
    store.put([row("m1", "tea", key="k", session="s", digest="d"), row("m2", "milk")])
    store.put_blobs("ada", "vector:x", {"m1": b"1", "m2": b"2"})
    store.put_blobs("ada", "lexical:1", {"*": b"all"})
    store.delete("ada", ["m1"])
    for each in (store, other, case.open()):
        same(each.get("ada", ["m1"]), [], "get")
        for find in (ANYTHING, Find(keys=("k",)), Find(sessions=("s",)), Find(digests=("d",))):
            expect("m1" not in refs(each.query("ada", find)), f"query {find}")
        same(found(each, "tea"), [], "search")
        same(each.blob_refs("ada", "vector:x"), ["m2"], "blobs under its ref")
        same(each.blob_refs("ada", "lexical:1"), [], "blobs made from all rows")


def history_is_deleted_too(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea", live=False)])
    same(store.delete("ada", ["m1"]), 1, "deleted")
    same(store.get("ada", ["m1"]), [], "get")


# --- blobs ---


def blobs_come_back_by_space_and_ref(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea"), row("m2", "milk")])
    data = bytes(range(256)) * 40
    store.put_blobs("ada", "a", {"m1": data, "m2": b""})
    store.put_blobs("ada", "a", {"m2": b"new"})
    store.put_blobs("ada", "b", {"*": b"all"})
    same(store.get_blobs("ada", "a", ["m1", "m2", "none"]), {"m1": data, "m2": b"new"}, "blobs")
    same(store.blob_refs("ada", "a"), ["m1", "m2"], "refs")
    same(store.blob_spaces("ada"), ["a", "b"], "spaces")
    store.drop_blobs("ada", "a")
    same((store.blob_refs("ada", "a"), store.blob_refs("ada", "b")), ([], ["*"]), "after dropping")
    many = [str(n) for n in range(70_000)]
    same(store.get_blobs("ada", "b", [*many, "*"]), {"*": b"all"}, "one of very many")


def blobs_go_when_the_text_changes(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea"), row("m2", "milk")])
    store.put_blobs("ada", "a", {"m1": b"1", "m2": b"2", "*": b"all"})
    store.put([row("m1", "tea", source="tool")])
    same(store.blob_refs("ada", "a"), ["*", "m1", "m2"], "after a change beside the text")
    store.put([row("m1", "coffee")])
    same(store.blob_refs("ada", "a"), ["m2"], "after another text")
    store.put_blobs("ada", "a", {"*": b"all"})
    store.put([row("m2", "milk", live=False)])
    same(store.blob_refs("ada", "a"), ["*"], "after it gave way")


def a_blob_without_a_row_is_not_kept(case: Case) -> None:
    store = case.open()
    store.put_blobs("ada", "a", {"gone": b"1", "*": b"all"})
    same(store.blob_refs("ada", "a"), ["*"], "refs")
    raises(InvalidValue, lambda: store.put_blobs("ada", "a", {"*": "text"}), "text as a blob")  # type: ignore[dict-item]


def the_blob_of_all_rows_is_read_as_a_file(case: Case) -> None:
    store = case.open()
    same(store.read_blob("ada", "a", lambda file: file.read(2)), None, "no blob")
    store.put_blobs("ada", "a", {"*": b"first then"})
    store.put_blobs("bob", "a", {"*": b"another's"})
    halves = store.read_blob("ada", "a", lambda file: (file.read(5), file.read(100)))
    same(halves, (b"first", b" then"), "read in two pieces")
    raises(ZeroDivisionError, lambda: store.read_blob("ada", "a", lambda _: 1 // 0), "a reader")
    same(store.read_blob("ada", "a", lambda file: file.read(5)), b"first", "read after that")


# --- atomic ---


def everything_inside_happens_at_once(case: Case) -> None:
    store, other = case.open(), case.open()
    with store.atomic("ada"):
        store.put([row("m1", "tea")])
        store.put([row("m2", "tea")])
        store.put_blobs("ada", "a", {"m1": b"1"})
        same(sorted(found(store, "tea")), ["m1", "m2"], "seen inside")
        same(other.count("ada", ANYTHING), 0, "seen outside")
    same(other.count("ada", ANYTHING), 2, "seen afterwards")


def an_exception_undoes_all_of_it(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    before = store.head("ada")
    with suppress(ZeroDivisionError), store.atomic("ada"):
        store.put([row("m2", "tea")])
        store.delete("ada", ["m1"])
        raise ZeroDivisionError
    same((found(store, "tea"), store.head("ada")), (["m1"], before), "rows and head")
    store.put([row("m3", "tea")])
    same(store.count("ada", ANYTHING), 2, "rows after going on")


def a_block_inside_another_joins_it(case: Case) -> None:
    store = case.open()
    with suppress(ZeroDivisionError), store.atomic("ada"):
        with store.atomic("ada"):
            store.put([row("m1")])
        raise ZeroDivisionError
    same(store.count("ada", ANYTHING), 0, "rows")


def a_failure_that_is_caught_keeps_nothing_either(case: Case) -> None:
    store = case.open()

    def catches() -> None:
        with store.atomic("ada"):
            store.put([row("m1")])
            with suppress(ZeroDivisionError), store.atomic("ada"):
                raise ZeroDivisionError

    raises(StoreError, catches, "a block that goes on after a failure inside")
    same(store.count("ada", ANYTHING), 0, "rows")


def a_refused_value_is_no_failure_of_the_block(case: Case) -> None:
    store = case.open()
    with store.atomic("ada"):
        raises(InvalidValue, lambda: store.put([row("m1"), row("")]), "an empty ref")
        store.put([row("m2")])
    same(refs(store.query("ada", Find())), ["m2"], "rows")


def a_block_reads_and_writes_other_users_too(case: Case) -> None:
    store = case.open()
    store.put([row("b1", "tea", user="bob")])
    with store.atomic("ada"):
        same(refs(store.query("bob", Find())), ["b1"], "Bob's rows inside Ada's block")
        store.put([row("m1", "tea"), row("b2", "tea", user="bob")])
        same(refs(store.query("ada", Find())), ["m1"], "Ada's rows inside her block")
    same([store.count(name, Find()) for name in ("ada", "bob")], [1, 2], "rows afterwards")


def a_thread_knows_whether_it_is_inside(case: Case) -> None:
    store = case.open()
    inside: list[bool] = []
    with store.atomic("ada"):
        with store.atomic("ada"):
            inside.append(store.in_atomic())
        inside.append(store.in_atomic())
        other = threading.Thread(target=lambda: inside.append(store.in_atomic()))
        other.start()
        other.join()
    with suppress(ZeroDivisionError), store.atomic("ada"):
        raise ZeroDivisionError
    inside.append(store.in_atomic())
    same(inside, [True, True, False, False], "inside, another thread meanwhile, and afterwards")


# --- moving ---


def everybody_who_has_something_is_named(case: Case) -> None:
    store = case.open()
    same(store.users(), [], "users of a new store")
    store.put([row("m1", user="bob"), row("m1", user="u1\n")])
    store.put_blobs("ada", "a", {"*": b"1"})
    same(case.open().users(), ["ada", "bob", "u1\n"], "users")


def rows_are_restored_with_their_positions(case: Case) -> None:
    store = case.open()
    gone = Change(seq=70, ref="m2", type="note", gone=True)
    for _ in range(2):
        store.restore("ada", [row("m1", "tea", seq=40), row("m3", "milk", seq=90)], [gone])
    feed = [(change.seq, change.ref, change.gone) for change in store.changes("ada", 0)]
    same(feed, [(40, "m1", False), (70, "m2", True), (90, "m3", False)], "the feed")
    same(found(store, "tea"), ["m1"], "search")
    store.put([row("m4")])
    expect(store.head("ada") > 90, "what is written afterwards comes after")
    store.restore("ada", [], [Change(seq=95, ref="m1", type="memory", gone=True)])
    same(found(store, "tea"), [], "search after it is restored as gone")


def a_store_says_where_it_is(case: Case) -> None:
    store, again = case.open(), case.open()
    places = [(each.path, each.identity, each.remote) for each in (store, again)]
    same(places[1], places[0], "the place of the same store, opened again")
    path, identity, remote = places[0]
    expect(path is None or isinstance(path, Path), "path is a Path, or None")
    expect(identity is None or isinstance(identity, str), "identity is a text, or None")
    expect(bool(path or identity), "a store that is no file has an identity")
    expect(isinstance(remote, bool), "remote is True or False")


# --- closing ---


def closing_twice_is_fine_and_use_afterwards_is_not(case: Case) -> None:
    store = case.open()
    store.put([row("m1")])
    store.close()
    store.close()
    for what, call in _uses(store).items():
        raises(StoreError, call, f"{what} after closing")
    same(case.open().count("ada", ANYTHING), 1, "rows after opening again")


def _uses(store: Store) -> dict[str, Callable[[], object]]:
    return {
        "put": lambda: store.put([row("m2")]),
        "get": lambda: store.get("ada", ["m1"]),
        "delete": lambda: store.delete("ada", ["m1"]),
        "atomic": lambda: store.atomic("ada").__enter__(),
    }


def entries_are_changes(case: Case) -> None:
    store = case.open()
    store.put([row("m1")])
    (entry,) = store.changes("ada", 0)
    same(entry, Change(seq=store.head("ada"), ref="m1", type="memory", gone=False), "the entry")


CHECKS: dict[str, tuple[Callable[[Case], None], ...]] = {
    "changes feed": (
        entries_are_changes,
        each_row_has_one_entry_at_its_last_change,
        the_feed_keeps_that_rows_are_gone,
        a_row_that_comes_back_is_not_gone,
        the_feed_is_asked_by_type_and_user,
        another_opening_sees_the_feed,
        another_process_sees_the_feed,
    ),
    "deletion": (what_is_deleted_is_nowhere, history_is_deleted_too),
    "blobs": (
        blobs_come_back_by_space_and_ref,
        blobs_go_when_the_text_changes,
        a_blob_without_a_row_is_not_kept,
        the_blob_of_all_rows_is_read_as_a_file,
    ),
    "atomic": (
        everything_inside_happens_at_once,
        an_exception_undoes_all_of_it,
        a_block_inside_another_joins_it,
        a_failure_that_is_caught_keeps_nothing_either,
        a_refused_value_is_no_failure_of_the_block,
        a_block_reads_and_writes_other_users_too,
        a_thread_knows_whether_it_is_inside,
    ),
    "moving": (
        everybody_who_has_something_is_named,
        rows_are_restored_with_their_positions,
        a_store_says_where_it_is,
    ),
    "closing": (closing_twice_is_fine_and_use_afterwards_is_not,),
}
