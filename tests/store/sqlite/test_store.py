from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Change, Find, Row, Store
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import NOW, finish, python, row

ANYTHING = Find(live=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def refs(rows: list[Row]) -> list[str]:
    return [found.ref for found in rows]


def found(store: Store, *words: str, user: str = "ada", find: Find = ANYTHING) -> list[str]:
    return [hit.ref for hit, _ in store.search(user, words, find)]


class TestPutAndGet:
    def test_a_row_comes_back_exactly(self, store: SqliteStore) -> None:
        body = '{"text": "caf\u00e9 \\u0000 \U0001f600", "n": 1.50 }\r\n'
        kept = row(
            "m1",
            body=body,
            at=datetime(2026, 3, 2, 12, 0, 0, 7, tzinfo=UTC),
            session="s",
            key="k",
            digest="d",
            scope="project:x",
            source="tool",
            live=False,
            search_text="words of it",
        )
        store.put([kept])
        assert store.get("ada", ["m1"]) == [replace(kept, seq=1)]

    def test_it_is_there_after_reopening(self, store: SqliteStore, path: Path) -> None:
        store.put([row("m1", "tea")])
        store.close()
        again = SqliteStore(path)
        assert refs(again.query("ada", Find())) == ["m1"]
        assert found(again, "tea") == ["m1"]
        again.close()

    def test_the_same_ref_is_replaced_and_moves_on_in_the_feed(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea"), row("m2", "milk")])
        store.put([row("m1", "coffee", type="note")])
        (kept,) = store.get("ada", ["m1"])
        assert (kept.body, kept.type, kept.seq) == ("coffee", "note", 3)
        assert store.count("ada", ANYTHING) == 2

    def test_rows_come_in_the_order_asked_for_and_once(self, store: SqliteStore) -> None:
        store.put([row(f"m{n}") for n in range(5)])
        assert refs(store.get("ada", ["m3", "none", "m1", "m3"])) == ["m3", "m1"]

    def test_all_rows_are_written_or_none(self, store: SqliteStore) -> None:
        with pytest.raises(InvalidValue, match="body"):
            store.put([row("m1"), row("m2", body="\ud800")])
        assert store.count("ada", ANYTHING) == 0
        assert store.head("ada") == 0

    def test_times_are_compared_as_moments(self, store: SqliteStore) -> None:
        east = NOW.astimezone(timezone(timedelta(hours=9)))
        store.put([row("m1", at=east)])
        assert refs(store.query("ada", Find(since=NOW, until=NOW + timedelta(seconds=1)))) == ["m1"]
        assert store.query("ada", Find(until=NOW)) == []
        assert store.get("ada", ["m1"])[0].at == NOW

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"user": ""}, "user is empty"),
            ({"user": None}, "user must be text, not NoneType"),
            ({"user": "a\0"}, "user holds a NUL"),
            ({"ref": ""}, "ref is empty"),
            ({"ref": 7}, "ref must be text, not int"),
            ({"key": "\udfff"}, "key holds half of a surrogate pair"),
            ({"search_text": "a \ud800"}, "search_text holds half of a surrogate pair at 2"),
            ({"session": "\0"}, "session holds a NUL"),
            ({"body": b"{}"}, "body must be text, not bytes"),
            ({"at": datetime(2026, 1, 1)}, "at must be a datetime with a time zone"),  # noqa: DTZ001
            ({"at": "2026-01-01"}, "at must be a datetime with a time zone"),
            (
                {"at": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
                "at is out of range",
            ),
        ],
    )
    def test_what_cannot_be_stored_is_named(
        self, store: SqliteStore, bad: dict[str, object], message: str
    ) -> None:
        with pytest.raises(InvalidValue, match=message):
            store.put([row(**bad)])
        assert store.count("ada", ANYTHING) == 0


class TestQuery:
    def test_newest_or_oldest_first_and_by_writing_among_equals(self, store: SqliteStore) -> None:
        store.put([row("b", at=NOW + timedelta(1)), row("a"), row("c"), row("d", at=NOW)])
        assert refs(store.query("ada", Find())) == ["b", "d", "c", "a"]
        assert refs(store.query("ada", Find(newest_first=False))) == ["a", "c", "d", "b"]

    def test_limit_and_offset_cut_and_count_ignores_them(self, store: SqliteStore) -> None:
        store.put([row(f"m{n}", at=NOW + timedelta(n)) for n in range(5)])
        page = Find(newest_first=False, limit=2, offset=1)
        assert refs(store.query("ada", page)) == ["m1", "m2"]
        assert store.count("ada", page) == 5
        assert store.query("ada", Find(limit=0)) == []
        assert len(store.query("ada", Find(limit=10**30))) == 5

    @pytest.mark.parametrize(
        ("find", "expected"),
        [
            (Find(types=("note",)), ["m2"]),
            (Find(types=("note", "memory")), ["m1", "m2", "m3"]),
            (Find(scopes=("project:x",)), ["m1"]),
            (Find(sessions=("s1", "s2")), ["m1", "m2"]),
            (Find(sessions=("",)), ["m3"]),
            (Find(sessions=("", "s1")), ["m1", "m3"]),
            (Find(keys=("k",)), ["m2"]),
            (Find(digests=("d",)), ["m1"]),
            (Find(sources=("tool",)), ["m3"]),
            (Find(sessions=("s1",), types=("note",)), []),
            (Find(sessions=("s1",), types=("memory",), scopes=("project:x",)), ["m1"]),
            (Find(since=NOW + timedelta(1)), ["m2", "m3"]),
            (Find(until=NOW + timedelta(1)), ["m1"]),
            (Find(live=False), ["old"]),
            (Find(live=None), ["m1", "m2", "m3", "old"]),
            (Find(keys=("k", "' OR 1=1 --")), ["m2"]),
            (Find(keys=("k\0", "\ud800")), []),
            (Find(keys=("k\0", "k")), ["m2"]),
        ],
    )
    def test_everything_given_must_hold(
        self, store: SqliteStore, find: Find, expected: list[str]
    ) -> None:
        store.put(
            [
                row("m1", scope="project:x", session="s1", digest="d"),
                row("m2", type="note", session="s2", key="k", at=NOW + timedelta(1)),
                row("m3", source="tool", at=NOW + timedelta(2)),
                row("old", live=False, at=NOW + timedelta(3), session="s9"),
            ]
        )
        asked = replace(find, newest_first=False)
        assert refs(store.query("ada", asked)) == expected
        assert store.count("ada", asked) == len(expected)

    def test_long_lists_meet_no_limit(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea", key="k7", session="s7")])
        many = [str(n) for n in range(100_000)]
        find = Find(keys=(*many, "k7"), sessions=(*many, "s7"), types=(*many, "memory"))
        assert refs(store.query("ada", find)) == ["m1"]
        assert found(store, "tea", find=find) == ["m1"]
        assert refs(store.get("ada", [*many, "m1"])) == ["m1"]
        assert store.changes("ada", 0, (*many, "memory")) != []
        assert store.delete("ada", [*many, "m1"]) == 1

    @pytest.mark.parametrize(
        ("find", "index"),
        [
            (Find(), "by_time"),
            (Find(sources=("tool",)), "by_time"),
            (Find(types=("memory",)), "by_type"),
            (Find(types=("memory",), since=NOW), "by_type"),
            (Find(types=("memory", "note")), "by_type"),
            (Find(types=("memory",), keys=("k",), since=NOW), "by_key"),
            (Find(types=("memory",), digests=("a", "b")), "by_digest"),
            (Find(types=("memory",), sessions=("s",), until=NOW), "by_session"),
            (Find(sessions=("s",)), "by_session"),
        ],
    )
    def test_the_most_telling_column_picks_the_index(
        self, store: SqliteStore, find: Find, index: str
    ) -> None:
        store.put([row()])
        (connection,) = store._connections._process.idle
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        store.query("ada", find)
        connection.set_trace_callback(None)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall()
        assert f"records_{index} " in plan[0][-1]

    @pytest.mark.parametrize(
        "find",
        [
            Find(limit=-1),
            Find(offset=-1),
            Find(limit="5"),  # type: ignore[arg-type]
            Find(keys="key"),  # type: ignore[arg-type]
            Find(since=datetime(2026, 1, 1)),  # noqa: DTZ001
        ],
    )
    def test_a_question_that_makes_no_sense_is_refused(
        self, store: SqliteStore, find: Find
    ) -> None:
        with pytest.raises(InvalidValue, match="must be"):
            store.query("ada", find)
        with pytest.raises(InvalidValue, match="must be"):
            store.search("ada", ["tea"], find)


class TestSearch:
    def test_any_word_finds_and_the_rarer_and_denser_is_better(self, store: SqliteStore) -> None:
        store.put([row(f"x{n}", "tea and other things") for n in range(20)])
        store.put([row("m1", "tea zebra"), row("m2", "zebra zebra")])
        hits = store.search("ada", ["zebra", "tea"], Find(limit=3))
        assert {hit.ref for hit, _ in hits[:2]} == {"m1", "m2"}
        scores = [score for _, score in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)

    def test_case_accents_and_endings_do_not_count(self, store: SqliteStore) -> None:
        store.put([row("m1", "Caf\u00e9 connections")])
        assert found(store, "CAFE") == found(store, "connecting") == ["m1"]

    def test_what_took_no_place_any_more_is_not_found(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea")])
        store.put([row("m1", "tea", live=False), row("m2", "coffee")])
        assert found(store, "tea", "coffee") == ["m2"]
        assert found(store, "tea", find=Find(live=False)) == []
        store.put([row("m1", "tea")])
        assert found(store, "tea") == ["m1"]

    def test_replaced_text_is_not_found(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea")])
        store.put([row("m1", "coffee")])
        assert found(store, "tea") == []
        assert found(store, "coffee") == ["m1"]

    def test_the_question_narrows_before_the_limit(self, store: SqliteStore) -> None:
        store.put([row(f"x{n}", "tea tea tea") for n in range(30)])
        store.put([row("m1", "tea with a lot of words around it", type="note")])
        assert found(store, "tea", find=Find(types=("note",), limit=1)) == ["m1"]
        assert len(found(store, "tea", find=Find(limit=20, offset=25))) == 6

    def test_other_users_rows_do_not_use_up_the_limit(self, store: SqliteStore) -> None:
        store.put([row(f"x{n}", "tea", user="bob") for n in range(50)])
        store.put([row("m1", "tea and so on and so on")])
        assert found(store, "tea", find=Find(limit=1)) == ["m1"]

    @pytest.mark.parametrize(
        "words",
        [
            [],
            [""],
            ["  ", "\0", "!!!"],
            ["owner:u1"],
            ["u1"],
            ["u1", "u2"],
            ["search_text:zebra"],
            ['" OR owner:"u1'],
            ["*"],
            ["ze*"],
            ["NOT", "AND"],
            ["\ud800"],
        ],
    )
    def test_operators_are_words(self, store: SqliteStore, words: list[str]) -> None:
        store.put([row("m1", "zebra"), row("m2", "zebra", user="bob")])
        assert found(store, *words) == []

    @pytest.mark.parametrize("word", ["don't", "C++", "foo.bar", "beta-gamma", 'say "hi"', "a\0b"])
    def test_a_word_with_marks_in_it_is_found(self, store: SqliteStore, word: str) -> None:
        store.put([row("m1", f"this is {word} here"), row("m2", "something else")])
        assert found(store, word) == ["m1"]

    def test_no_text_raises(self, store: SqliteStore) -> None:
        store.put([row("m1", "a b c")])
        asked = 0

        @settings(max_examples=600)
        @given(st.lists(st.text(st.characters(), max_size=30), min_size=9, max_size=80))
        def search(words: list[str]) -> None:
            nonlocal asked
            asked += len(words)
            assert all(score > 0 for _, score in store.search("ada", words, Find()))

        search()
        assert asked > 5_000

    def test_very_long_words_and_very_many_are_cut(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea")])
        assert found(store, "x " * 100_000, "tea") == ["m1"]
        assert found(store, *(f"w{n}" for n in range(100_000)), "tea") == []

    def test_one_text_instead_of_words_is_refused(self, store: SqliteStore) -> None:
        with pytest.raises(InvalidValue, match="words must be a sequence"):
            store.search("ada", "tea", Find())


class TestChanges:
    def test_each_row_has_one_entry_at_its_last_change(self, store: SqliteStore) -> None:
        store.put([row("m1"), row("m2", type="note")])
        store.put([row("m1", "again")])
        assert store.changes("ada", 0) == [
            Change(seq=2, ref="m2", type="note", gone=False),
            Change(seq=3, ref="m1", type="memory", gone=False),
        ]
        assert store.head("ada") == 3

    def test_deleting_leaves_that_it_is_gone(self, store: SqliteStore) -> None:
        store.put([row("m1"), row("m2")])
        assert store.delete("ada", ["m1", "m1", "none"]) == 1
        assert store.changes("ada", 2) == [Change(seq=3, ref="m1", type="memory", gone=True)]
        assert store.head("ada") == 3
        assert store.delete("ada", ["m1"]) == 0
        assert store.head("ada") == 3

    def test_a_row_that_comes_back_is_not_gone(self, store: SqliteStore) -> None:
        store.put([row("m1")])
        store.delete("ada", ["m1"])
        store.put([row("m1")])
        assert store.changes("ada", 0) == [Change(seq=3, ref="m1", type="memory", gone=False)]

    def test_types_and_users_are_kept_apart(self, store: SqliteStore) -> None:
        store.put([row("m1"), row("n1", type="note"), row("b1", user="bob")])
        store.delete("ada", ["n1"])
        assert [change.ref for change in store.changes("ada", 0, ("note",))] == ["n1"]
        assert [change.ref for change in store.changes("bob", 0)] == ["b1"]
        assert (store.head("ada"), store.head("bob"), store.head("eve")) == (4, 3, 0)

    @pytest.mark.parametrize("since", [10**30, 4])
    def test_nothing_is_after_the_end(self, store: SqliteStore, since: int) -> None:
        store.put([row("m1")])
        assert store.changes("ada", since) == []
        assert len(store.changes("ada", -since)) == 1

    def test_another_store_on_the_same_file_sees_them(self, store: SqliteStore, path: Path) -> None:
        other = SqliteStore(path)
        store.put([row("m1", "tea")])
        assert [change.ref for change in other.changes("ada", 0)] == ["m1"]
        other.put([row("m2", "tea")])
        assert [change.ref for change in store.changes("ada", 1)] == ["m2"]
        assert found(store, "tea") == ["m1", "m2"]
        other.close()

    def test_another_process_sees_them(self, store: SqliteStore, path: Path) -> None:
        process = python("SqliteStore(sys.argv[1]).put([row('far', 'tea')])", path)
        before = store.head("ada")
        finish(process)
        assert [change.ref for change in store.changes("ada", before)] == ["far"]


class TestAtomic:
    def test_everything_inside_happens_at_once(self, store: SqliteStore, path: Path) -> None:
        other = SqliteStore(path)
        with store.atomic("ada"):
            store.put([row("m1", "tea")])
            store.put([row("m2", "tea")])
            assert found(store, "tea") == ["m1", "m2"]
            assert other.count("ada", ANYTHING) == 0
        assert other.count("ada", ANYTHING) == 2
        other.close()

    def test_an_exception_undoes_all_of_it(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea")])

        def interrupted() -> None:
            with store.atomic("ada"):
                store.put([row("m2", "tea")])
                store.delete("ada", ["m1"])
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert found(store, "tea") == ["m1"]
        assert store.head("ada") == 1

    def test_a_block_inside_another_joins_it(self, store: SqliteStore) -> None:
        def fails_late() -> None:
            with store.atomic("ada"):
                with store.atomic("ada"):
                    store.put([row("m1")])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fails_late()
        assert store.count("ada", ANYTHING) == 0

    def test_a_failure_that_is_caught_keeps_nothing_either(self, store: SqliteStore) -> None:
        def catches() -> None:
            with store.atomic("ada"):
                store.put([row("m1")])
                with suppress(ZeroDivisionError), store.atomic("ada"):
                    raise ZeroDivisionError

        with pytest.raises(StoreError, match="an earlier step inside atomic"):
            catches()
        assert store.count("ada", ANYTHING) == 0
        store.put([row("m2")])
        assert store.count("ada", ANYTHING) == 1

    @pytest.mark.parametrize("goes_on", ["put", "get", "atomic"])
    def test_nothing_goes_on_after_a_failure(self, store: SqliteStore, goes_on: str) -> None:
        calls = {
            "put": lambda: store.put([row("m1")]),
            "get": lambda: store.get("ada", ["m1"]),
            "atomic": lambda: store.atomic("ada").__enter__(),
        }
        with suppress(StoreError), store.atomic("ada"):
            with suppress(ZeroDivisionError), store.atomic("ada"):
                raise ZeroDivisionError
            with pytest.raises(StoreError, match="Leave the block"):
                calls[goes_on]()

    def test_a_refused_value_is_no_failure_of_the_block(self, store: SqliteStore) -> None:
        with store.atomic("ada"):
            with pytest.raises(InvalidValue):
                store.put([row("m1"), row("")])
            store.put([row("m2")])
        assert refs(store.query("ada", Find())) == ["m2"]

    def test_errors_of_the_callers_own_pass_through(self, store: SqliteStore) -> None:
        with pytest.raises(sqlite3.OperationalError, match="theirs"), store.atomic("ada"):
            raise sqlite3.OperationalError("theirs")


class TestUsers:
    NAMES = ("u1", "u10", "u%", "u_", "U1", "u1\n", " u1", "u1 ", "\u00fc1", "u\u03081", "'", "1")

    def test_no_name_is_another(self, store: SqliteStore) -> None:
        for name in self.NAMES:
            store.put([row("m1", f"tea {name}", user=name)])
        for name in self.NAMES:
            assert [hit.user for hit, _ in store.search(name, ["tea"], Find())] == [name]
            assert [kept.body for kept in store.query(name, Find())] == [f"tea {name}"]
            assert [kept.user for kept in store.get(name, ["m1"])] == [name]
            assert len(store.changes(name, 0)) == store.count(name, Find()) == 1
        assert store.delete("u1", ["m1"]) == 1
        assert [store.count(name, Find()) for name in self.NAMES] == [0] + [1] * 11

    @pytest.mark.parametrize("user", ["", None, 7, b"ada", "\ud800"])
    def test_every_call_names_its_user(self, store: SqliteStore, user: str) -> None:
        calls = [
            lambda: store.put([row(user=user)]),
            lambda: store.get(user, ["m1"]),
            lambda: store.query(user, Find()),
            lambda: store.count(user, Find()),
            lambda: store.search(user, ["tea"], Find()),
            lambda: store.delete(user, ["m1"]),
            lambda: store.changes(user, 0),
            lambda: store.head(user),
            lambda: store.atomic(user).__enter__(),
        ]
        for call in calls:
            with pytest.raises(InvalidValue, match=r"^user "):
                call()


class TestClose:
    def test_closing_twice_is_fine_and_use_afterwards_is_not(self, store: SqliteStore) -> None:
        store.close()
        store.close()
        for call in (
            lambda: store.put([row()]),
            lambda: store.get("ada", ["m1"]),
            lambda: store.delete("ada", ["m1"]),
            lambda: store.atomic("ada").__enter__(),
        ):
            with pytest.raises(StoreError, match=r"memory\.db was closed\. Open the store again"):
                call()

    def test_only_the_file_itself_is_left(self, store: SqliteStore, path: Path) -> None:
        store.put([row()])
        store.close()
        assert [entry.name for entry in path.parent.iterdir()] == ["memory.db"]

    def test_two_temporary_stores_share_nothing(self) -> None:
        one, two = SqliteStore(":memory:"), SqliteStore(":memory:")
        one.put([row()])
        assert two.count("ada", Find()) == 0
        one.close()
        two.close()


@pytest.mark.parametrize("synchronous", ["OFF", "full", None])
def test_an_unknown_setting_is_refused(path: Path, synchronous: str) -> None:
    with pytest.raises(InvalidValue, match='synchronous must be "FULL" or "NORMAL"'):
        SqliteStore(path, synchronous=synchronous)  # type: ignore[arg-type]
    assert not path.exists()


WORDS = st.sampled_from(["tea", "milk", "coffee", "zebra"])
REFS = st.sampled_from(["m1", "m2", "m\n", "M1", "m%"])


class TwoTenants(RuleBasedStateMachine):
    """Two users with names that are easily confused, against a plain dictionary."""

    @initialize(users=st.permutations(TestUsers.NAMES))
    def open(self, users: list[str]) -> None:
        self.users = users[:2]
        self.store = SqliteStore(":memory:")
        self.model: dict[tuple[str, str], Row] = {}
        self.gone: dict[tuple[str, str], int] = {}
        self.seq = 0

    @rule(
        who=st.integers(0, 1),
        ref=REFS,
        words=st.lists(WORDS, max_size=3),
        live=st.booleans(),
        type_=st.sampled_from(["memory", "note"]),
        minutes=st.integers(0, 3),
    )
    def put(
        self, *, who: int, ref: str, words: list[str], live: bool, type_: str, minutes: int
    ) -> None:
        at = NOW + timedelta(minutes=minutes)
        new = row(ref, " ".join(words), user=self.users[who], live=live, type=type_, at=at)
        self.store.put([new])
        self.seq += 1
        self.model[new.user, ref] = replace(new, seq=self.seq)
        self.gone.pop((new.user, ref), None)

    @rule(who=st.integers(0, 1), asked=st.lists(REFS, max_size=3, unique=True))
    def delete(self, who: int, asked: list[str]) -> None:
        keys = [(self.users[who], ref) for ref in asked if (self.users[who], ref) in self.model]
        assert self.store.delete(self.users[who], asked) == len(keys)
        for change in self.store.changes(self.users[who], self.seq):
            assert change.gone
            self.gone[self.users[who], change.ref] = change.seq
        for key in keys:
            del self.model[key]
            self.seq += 1
            assert key in self.gone

    @rule(who=st.integers(0, 1), words=st.lists(WORDS, min_size=1, max_size=2))
    def search(self, who: int, words: list[str]) -> None:
        expected = {
            (kept.user, kept.ref)
            for kept in self.owned(who)
            if kept.live and set(kept.search_text.split()) & set(words)
        }
        hits = self.store.search(self.users[who], words, Find())
        assert {(hit.user, hit.ref) for hit, _ in hits} == expected
        assert [self.model[hit.user, hit.ref] for hit, _ in hits] == [hit for hit, _ in hits]

    @rule(who=st.integers(0, 1), asked=st.lists(REFS, max_size=4, unique=True))
    def get(self, who: int, asked: list[str]) -> None:
        expected = [self.model.get((self.users[who], ref)) for ref in asked]
        assert self.store.get(self.users[who], asked) == [kept for kept in expected if kept]

    @rule(
        who=st.integers(0, 1),
        types=st.sampled_from([(), ("memory",), ("note", "x")]),
        live=st.sampled_from([None, True, False]),
        limit=st.sampled_from([None, 0, 2]),
        newest_first=st.booleans(),
    )
    def query(
        self, who: int, types: tuple[str, ...], live: bool | None, limit: int | None,
        newest_first: bool,
    ) -> None:  # fmt: skip
        expected = sorted(
            (
                kept
                for kept in self.owned(who)
                if (not types or kept.type in types) and live in (None, kept.live)
            ),
            key=lambda kept: (kept.at, kept.seq),
            reverse=newest_first,
        )
        find = Find(types=types, live=live, limit=limit, newest_first=newest_first)
        assert self.store.query(self.users[who], find) == expected[:limit]
        assert self.store.count(self.users[who], find) == len(expected)

    @invariant()
    def the_feed_tells_everything(self) -> None:
        for who, user in enumerate(self.users):
            written = [(kept.seq, kept.ref, False) for kept in self.owned(who)]
            deleted = [(seq, ref, True) for (name, ref), seq in self.gone.items() if name == user]
            feed = [(change.seq, change.ref, change.gone) for change in self.store.changes(user, 0)]
            assert feed == sorted(written + deleted)
            assert self.store.head(user) == max([seq for seq, _, _ in feed], default=0)

    def owned(self, who: int) -> list[Row]:
        return [kept for kept in self.model.values() if kept.user == self.users[who]]

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()


TestTwoTenants = TwoTenants.TestCase
TestTwoTenants.settings = settings(max_examples=60, stateful_step_count=25)
