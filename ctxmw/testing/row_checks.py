"""Promises about rows: they come back exactly, whatever is in them, and page by page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

from ..errors import InvalidValue
from ..protocols import Find
from .case import ANYTHING, NOW, Case, expect, found, raises, refs, row, same

TEXTS = (
    "caf\u00e9 \U0001f600 \u05e9\u05dc\u05d5\u05dd \u0639\u0631\u0628\u064a \u65e5\u672c\u8a9e",
    "e\u0301 is not \u00e9",
    "'; DROP TABLE records; --",
    '{"a": "\\u0000", "n": 1.50 }\r\n',
    "%s %(name)s {0} $1 \\ \\n",
    "\u202eright to left\u202c \ufeff\u200b",
    " " * 3 + "\t\n",
)


# --- rows ---


def a_row_comes_back_exactly(case: Case) -> None:
    store = case.open()
    kept = row(
        "m1",
        "words of it",
        body='{"text": "tea"}',
        at=datetime(2026, 3, 2, 12, 0, 0, 7, tzinfo=UTC),
        session="s",
        key="k",
        digest="d",
        scope="project:x",
        source="tool",
        live=False,
    )
    store.put([kept])
    (back,) = store.get("ada", ["m1"])
    expect(back.seq > 0, f"a row has a position in the feed above 0, not {back.seq}")
    same(replace(back, seq=0), kept, "the row")
    same(back.at.utcoffset(), timedelta(0), "times come back in UTC")


def rows_are_there_after_reopening(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    store.close()
    again = case.open()
    same(refs(again.query("ada", Find())), ["m1"], "query after reopening")
    same(found(again, "tea"), ["m1"], "search after reopening")


def the_same_ref_is_replaced(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea"), row("m2", "milk")])
    store.put([row("m1", "coffee", type="note")])
    store.put([row("m1", "coffee", type="note")])
    same([(r.body, r.type) for r in store.get("ada", ["m1"])], [("coffee", "note")], "the row")
    same(store.count("ada", ANYTHING), 2, "rows")


def the_last_of_equal_refs_in_one_put_holds(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea"), row("m2", "milk"), row("m1", "coffee")])
    same([r.body for r in store.get("ada", ["m1", "m2"])], ["coffee", "milk"], "bodies")
    same(store.count("ada", ANYTHING), 2, "rows")


def rows_come_in_the_order_asked_for_and_once(case: Case) -> None:
    store = case.open()
    store.put([row(f"m{n}") for n in range(5)])
    same(refs(store.get("ada", ["m3", "none", "m1", "m3"])), ["m3", "m1"], "refs")
    same(store.get("ada", []), [], "nothing asked")


def all_rows_are_written_or_none(case: Case) -> None:
    store = case.open()
    raises(InvalidValue, lambda: store.put([row("m1"), row("")]), "an empty ref")
    same((store.count("ada", ANYTHING), store.head("ada")), (0, 0), "rows and head")
    store.put([])
    same(store.head("ada"), 0, "the head after putting nothing")


def times_are_compared_as_moments(case: Case) -> None:
    store = case.open()
    store.put([row("m1", at=NOW.astimezone(timezone(timedelta(hours=9))))])
    store.put([row("old", at=datetime(1, 1, 1, tzinfo=UTC))])
    store.put([row("far", at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))])
    day = Find(since=NOW, until=NOW + timedelta(microseconds=1))
    same(refs(store.query("ada", day)), ["m1"], "since and until")
    same(refs(store.query("ada", Find())), ["far", "m1", "old"], "newest first")


def what_cannot_be_stored_is_refused(case: Case) -> None:
    store = case.open()
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    bad: list[dict[str, Any]] = [{"user": ""}, {"user": None}, {"ref": ""}, {"ref": 7}]
    bad += [{"key": "\ud800"}, {"session": "\0"}, {"body": b"{}"}, {"at": naive}]
    for values in bad:
        new = row(**({"ref": "m1"} | values))
        raises(InvalidValue, partial(store.put, [new]), f"a row with {values}")
    same(store.count("ada", ANYTHING), 0, "rows")


# --- unicode ---


def any_text_comes_back_to_the_byte(case: Case) -> None:
    store = case.open()
    store.put([row(f"m{n}", text) for n, text in enumerate(TEXTS)])
    kept = store.get("ada", [f"m{n}" for n in range(len(TEXTS))])
    same([(r.body, r.search_text) for r in kept], [(text, text) for text in TEXTS], "texts")


def any_text_can_be_a_name(case: Case) -> None:
    store = case.open()
    store.put([row(text, session=text, key=text, scope=text) for text in TEXTS])
    for text in TEXTS:
        same(refs(store.query("ada", Find(sessions=(text,)))), [text], f"session {text!r}")
        same(refs(store.query("ada", Find(keys=(text,), scopes=(text,)))), [text], f"key {text!r}")
        same(refs(store.get("ada", [text])), [text], f"ref {text!r}")


def a_long_text_is_kept_whole(case: Case) -> None:
    store = case.open()
    long = "".join(f"word{n} \u00e9 " for n in range(120_000))
    store.put([row("m1", long)])
    same([r.body == long for r in store.get("ada", ["m1"])], [True], "1.5 million characters")


# --- questions and paging ---


def everything_asked_for_must_hold(case: Case) -> None:
    store = case.open()
    later = NOW + timedelta(1)
    store.put(
        [
            row("m1", scope="project:x", session="s1", digest="d"),
            row("m2", type="note", session="s2", key="k", at=later),
            row("m3", source="tool", at=NOW + timedelta(2)),
            row("old", live=False, at=NOW + timedelta(3), session="s9"),
        ]
    )
    asked: list[tuple[Find, list[str]]] = [
        (Find(types=("note",)), ["m2"]),
        (Find(types=("note", "memory")), ["m1", "m2", "m3"]),
        (Find(scopes=("project:x",)), ["m1"]),
        (Find(sessions=("s1", "s2")), ["m1", "m2"]),
        (Find(sessions=("",)), ["m3"]),
        (Find(keys=("k", "' OR 1=1 --")), ["m2"]),
        (Find(digests=("d",)), ["m1"]),
        (Find(sources=("tool",)), ["m3"]),
        (Find(sessions=("s1",), types=("note",)), []),
        (Find(since=later), ["m2", "m3"]),
        (Find(until=later), ["m1"]),
        (Find(live=False), ["old"]),
        (Find(live=None), ["m1", "m2", "m3", "old"]),
        (Find(keys=("k\0", "\ud800")), []),
    ]
    for find, expected in asked:
        oldest = replace(find, newest_first=False)
        same(refs(store.query("ada", oldest)), expected, f"query {find}")
        same(store.count("ada", oldest), len(expected), f"count {find}")


def equal_times_are_ordered_by_writing(case: Case) -> None:
    store = case.open()
    store.put([row("b", at=NOW + timedelta(1)), row("a"), row("c")])
    store.put([row("d")])
    same(refs(store.query("ada", Find())), ["b", "d", "c", "a"], "newest first")
    oldest = Find(newest_first=False)
    same(refs(store.query("ada", oldest)), ["a", "c", "d", "b"], "oldest first")


def pages_cover_everything_once(case: Case) -> None:
    store = case.open()
    store.put([row(f"m{n:02}", at=NOW + timedelta(n // 3)) for n in range(23)])
    pages = [Find(newest_first=False, limit=5, offset=start) for start in range(0, 30, 5)]
    paged = [ref for page in pages for ref in refs(store.query("ada", page))]
    same(paged, [f"m{n:02}" for n in range(23)], "all pages")
    same(store.count("ada", pages[1]), 23, "count, whatever the limit")
    same(store.query("ada", Find(limit=0)), [], "a limit of 0")
    same(len(store.query("ada", Find(limit=10**30))), 23, "a huge limit")


def long_lists_meet_no_limit(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea", key="k7", session="s7")])
    many = [str(n) for n in range(70_000)]
    find = Find(keys=(*many, "k7"), sessions=(*many, "s7"), types=(*many, "memory"))
    same(refs(store.query("ada", find)), ["m1"], "query")
    same(refs(store.get("ada", [*many, "m1"])), ["m1"], "get")
    same(len(store.changes("ada", 0, (*many, "memory"))), 1, "changes")
    same(store.delete("ada", [*many, "m1"]), 1, "delete")


def questions_that_make_no_sense_are_refused(case: Case) -> None:
    store = case.open()
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    bad = [Find(limit=-1), Find(offset=-1), Find(since=naive)]
    bad += [Find(keys="key")]  # type: ignore[arg-type]
    for find in bad:
        raises(InvalidValue, partial(store.query, "ada", find), f"query {find}")


CHECKS: dict[str, tuple[Callable[[Case], None], ...]] = {
    "rows": (
        a_row_comes_back_exactly,
        rows_are_there_after_reopening,
        the_same_ref_is_replaced,
        the_last_of_equal_refs_in_one_put_holds,
        rows_come_in_the_order_asked_for_and_once,
        all_rows_are_written_or_none,
        times_are_compared_as_moments,
        what_cannot_be_stored_is_refused,
    ),
    "unicode": (
        any_text_comes_back_to_the_byte,
        any_text_can_be_a_name,
        a_long_text_is_kept_whole,
    ),
    "paging": (
        everything_asked_for_must_hold,
        equal_times_are_ordered_by_writing,
        pages_cover_everything_once,
        long_lists_meet_no_limit,
        questions_that_make_no_sense_are_refused,
    ),
}
