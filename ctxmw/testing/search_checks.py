"""Promises about what is found: by words, and by nobody but its owner."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidValue
from ..protocols import Find, Row, Store
from .case import Case, expect, found, raises, row, same

NAMES = ("u1", "u10", "u%", "u_", "U1", "u1\n", " u1", "u1 ", "\u00fc1", "u\u03081", "'", "1", "*")
"""Names of users that are easily confused."""

# --- search ---


def any_word_finds_and_rarer_words_count_more(case: Case) -> None:
    store = case.open()
    store.put([row(f"x{n}", "tea and other things") for n in range(20)])
    store.put([row("m1", "tea zebra"), row("m2", "zebra zebra")])
    hits = store.search("ada", ["zebra", "tea"], Find(limit=3))
    same({hit.ref for hit, _ in hits[:2]}, {"m1", "m2"}, "the best two")
    scores = [score for _, score in hits]
    expect(scores == sorted(scores, reverse=True), f"best first: {scores}")
    expect(all(score > 0 for score in scores), f"scores are above zero: {scores}")


def case_accents_and_endings_do_not_count(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "Caf\u00e9 connections")])
    for word in ("CAFE", "cafe", "connection", "connections"):
        same(found(store, word), ["m1"], f"search for {word!r}")


def what_no_longer_holds_is_not_found(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    store.put([row("m1", "tea", live=False), row("m2", "coffee")])
    same(found(store, "tea", "coffee"), ["m2"], "after it gave way")
    same(found(store, "tea", find=Find(live=False)), [], "history is not searched")
    store.put([row("m1", "tea"), row("m2", "milk")])
    same((found(store, "tea"), found(store, "coffee")), (["m1"], []), "after it came back")


def a_question_narrows_before_the_limit(case: Case) -> None:
    store = case.open()
    store.put([row(f"x{n}", "tea tea tea") for n in range(30)])
    store.put([row("m1", "tea with a lot of words around it", type="note")])
    store.put([row(f"y{n}", "tea", user="bob") for n in range(50)])
    same(found(store, "tea", find=Find(types=("note",), limit=1)), ["m1"], "one note")
    same(len(found(store, "tea", find=Find(limit=20, offset=25))), 6, "the second page")


def operators_are_words(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "zebra"), row("m2", "zebra", user="bob")])
    for asked in ([], [""], [" ", "\0", "!!!"], ["*"], ["ze*"], ["NOT", "AND"], ["\ud800"], ["&|"]):
        same(found(store, *asked), [], f"search for {asked!r}")
    same(found(store, "zebra' | 'x", "zebra"), ["m1"], "search with quotes")


def a_word_with_marks_in_it_is_found(case: Case) -> None:
    store = case.open()
    for number, word in enumerate(("don't", "C++", "foo.bar", "beta-gamma", 'say "hi"')):
        store.put([row(f"m{number}", f"this is {word} here")])
        expect(f"m{number}" in found(store, word), f"{word!r} is found by itself")


def very_many_words_are_no_error(case: Case) -> None:
    store = case.open()
    store.put([row("m1", "tea")])
    same(found(store, "x " * 100_000, "tea"), ["m1"], "after a very long word")
    found(store, *(f"w{n}" for n in range(50_000)))


# --- users ---


def no_name_is_another(case: Case) -> None:
    store = case.open()
    for name in NAMES:
        store.put([row("m1", f"tea {name}", user=name)])
        store.put_blobs(name, "space", {"m1": name.encode(), "*": name.encode()})
    for name in NAMES:
        same([hit.user for hit, _ in store.search(name, ["tea"], Find())], [name], "search")
        same([kept.body for kept in store.query(name, Find())], [f"tea {name}"], "query")
        same([kept.user for kept in store.get(name, ["m1"])], [name], "get")
        same([change.ref for change in store.changes(name, 0)], ["m1"], "changes")
        same(store.count(name, Find()), 1, "count")
        blobs = {"m1": name.encode(), "*": name.encode()}
        same(store.get_blobs(name, "space", ["m1", "*"]), blobs, "blobs")


def one_users_deleting_leaves_the_others_alone(case: Case) -> None:
    store = case.open()
    for name in NAMES:
        store.put([row("m1", "tea", user=name)])
        store.put_blobs(name, "space", {"m1": b"1"})
    heads = {name: store.head(name) for name in NAMES}
    same(store.delete(NAMES[0], ["m1"]), 1, "deleted")
    store.drop_blobs(NAMES[1], "space")
    same([store.count(name, Find()) for name in NAMES], [0] + [1] * (len(NAMES) - 1), "rows")
    kept = [store.blob_refs(name, "space") for name in NAMES]
    same(kept, [[], []] + [["m1"]] * (len(NAMES) - 2), "blobs")
    others = {name: head for name, head in heads.items() if name != NAMES[0]}
    same({name: store.head(name) for name in others}, others, "the heads of the others")


def every_call_names_its_user(case: Case) -> None:
    store = case.open()
    for user in ("", None, 7, b"ada", "\ud800"):
        for what, call in _calls(store, user).items():
            raises(InvalidValue, call, f"{what} for user {user!r}")


def _calls(store: Store, user: object) -> dict[str, Callable[[], object]]:
    name: str = user  # type: ignore[assignment]
    rows: list[Row] = [row("m1", user=user)]
    return {
        "put": lambda: store.put(rows),
        "get": lambda: store.get(name, ["m1"]),
        "query": lambda: store.query(name, Find()),
        "count": lambda: store.count(name, Find()),
        "search": lambda: store.search(name, ["tea"], Find()),
        "delete": lambda: store.delete(name, ["m1"]),
        "changes": lambda: store.changes(name, 0),
        "head": lambda: store.head(name),
        "atomic": lambda: store.atomic(name).__enter__(),
        "put_blobs": lambda: store.put_blobs(name, "space", {"m1": b"1"}),
        "get_blobs": lambda: store.get_blobs(name, "space", ["m1"]),
    }


CHECKS: dict[str, tuple[Callable[[Case], None], ...]] = {
    "search": (
        any_word_finds_and_rarer_words_count_more,
        case_accents_and_endings_do_not_count,
        what_no_longer_holds_is_not_found,
        a_question_narrows_before_the_limit,
        operators_are_words,
        a_word_with_marks_in_it_is_found,
        very_many_words_are_no_error,
    ),
    "isolation": (
        no_name_is_another,
        one_users_deleting_leaves_the_others_alone,
        every_call_names_its_user,
    ),
}
