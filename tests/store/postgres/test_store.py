"""What holds for the Postgres store beside the promises of every store."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from ctxmw import ContextMiddleware
from ctxmw.cli.main import main
from ctxmw.errors import InvalidValue, MissingPackage, StoreError
from ctxmw.protocols import Find
from ctxmw.store.postgres.pool import Limits
from ctxmw.store.postgres.rows import conditions, order
from ctxmw.store.postgres.schema import LATEST, MIGRATIONS
from ctxmw.store.postgres.store import _ROWS, PostgresStore
from ctxmw.store.rows import Asked
from ctxmw.testing import HashEmbedder
from ctxmw.testing.case import found, refs, row
from tests.support.postgres_server import PASSWORD, Server
from tests.support.waiting import PATIENCE


@pytest.fixture
def schema() -> str:
    return f"t{os.urandom(5).hex()}"


@pytest.fixture
def store(postgres: str, schema: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(postgres, schema=schema)
    yield opened
    opened.close()


@pytest.fixture
def sql(postgres: str, schema: str, store: PostgresStore) -> Iterator[psycopg.Connection]:
    """A connection beside the store, as the role that owns its tables."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {schema}")
        yield connection


def new_role(server: Server, schema: str, *, granted: bool) -> str:
    """Make a role that owns nothing, and return the address to connect as it."""
    role = f"r{os.urandom(4).hex()}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
        if granted:
            every = f"ON ALL TABLES IN SCHEMA {schema} TO {role}"
            admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
            admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE {every}")
    return server.dsn(role)


class TestPolicies:
    TABLES = ("owners", "records", "gone", "blobs")

    @pytest.fixture(autouse=True)
    def two_users(self, store: PostgresStore) -> None:
        for user in ("ada", "bob"):
            store.put([row("m1", f"tea of {user}", user=user), row("m2", "milk", user=user)])
            store.put_blobs(user, "a", {"m1": user.encode()})
            store.delete(user, ["m2"])

    @pytest.mark.parametrize("table", TABLES)
    def test_the_owner_of_the_tables_sees_nothing_without_naming_a_user(self, sql, table):
        assert sql.execute(f"SELECT * FROM {table}").fetchall() == []

    @pytest.mark.parametrize("table", TABLES)
    def test_a_query_without_where_sees_one_user_only(self, postgres_server, store, schema, table):
        with psycopg.connect(
            new_role(postgres_server, schema, granted=True), autocommit=True
        ) as connection:
            connection.execute(f"SET search_path TO {schema}")
            assert connection.execute(f"SELECT * FROM {table}").fetchall() == []
            assert connection.execute(f"DELETE FROM {table}").rowcount == 0
            bob = str(store.address.owner("bob"))
            connection.execute("SELECT set_config('ctxmw.owner', %s, false)", [bob])
            owners = {owner for (owner,) in connection.execute(f"SELECT owner FROM {table}")}
            assert {str(owner) for owner in owners} == {bob}
            connection.execute("SELECT set_config('ctxmw.owner', '', false)")
            assert connection.execute(f"SELECT * FROM {table}").fetchall() == []

    def test_nobody_writes_into_the_rows_of_another(self, sql, store):
        ada, bob = (str(store.address.owner(user)) for user in ("ada", "bob"))
        sql.execute("SELECT set_config('ctxmw.owner', %s, false)", [ada])
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            sql.execute("UPDATE records SET owner = %s", [bob])
        assert sql.execute("UPDATE records SET body = 'x' WHERE owner = %s", [bob]).rowcount == 0
        assert store.get("bob", ["m1"])[0].body == "tea of bob"

    def test_a_connection_that_comes_back_from_a_user_names_nobody(self, store):
        store.get("ada", ["m1"])
        with store.atomic("bob"):
            store.get("bob", ["m1"])
        pool = store.transactions._lending._process.pool
        with pool.connection() as connection:
            asked = "SELECT coalesce(current_setting('ctxmw.owner', true), '')"
            assert connection.execute(asked).fetchone() == ("",)

    def test_a_superuser_is_told_that_policies_do_not_hold(self, postgres_server, schema, caplog):
        with caplog.at_level(logging.WARNING, "ctxmw"):
            PostgresStore(postgres_server.dsn("postgres"), schema=schema).close()
        assert "row-level policies do not hold for the role 'postgres'" in caplog.text

    def test_a_role_without_rights_is_told_what_to_do(self, postgres_server, store, schema):
        address = new_role(postgres_server, schema, granted=False)
        with pytest.raises(StoreError, match=r"permission denied.*Grant the role what it needs"):
            PostgresStore(address, schema=schema)

    def test_a_role_that_owns_nothing_can_use_the_store(self, postgres_server, store, schema):
        other = PostgresStore(new_role(postgres_server, schema, granted=True), schema=schema)
        other.put([row("m3", "tea")])
        assert sorted(found(other, "tea")) == sorted(found(store, "tea")) == ["m1", "m3"]
        assert other.delete("ada", ["m3"]) == 1
        other.close()


class TestOpening:
    def test_one_string_is_all_that_changes(self, postgres):
        with ContextMiddleware.open(postgres, user=f"u{os.urandom(4).hex()}") as ctx:
            ctx.remember("Auth uses JWT with RS256.", kind="decision")
            assert [hit.text for hit in ctx.search("jwt")] == ["Auth uses JWT with RS256."]
            again = pickle.loads(pickle.dumps(ctx))
            assert [hit.text for hit in again.search("jwt")] == ["Auth uses JWT with RS256."]
            again.close()

    def test_a_pickled_store_opens_the_same_place_with_the_same_limits(self, postgres, schema):
        limits = Limits(connections=2)
        store = PostgresStore(postgres, schema=schema, limits=limits, notify=False)
        store.put([row("m1", "tea")])
        again = pickle.loads(pickle.dumps(store))
        assert refs(again.query("ada", Find())) == ["m1"]
        assert (again._options, again.identity) == (store._options, store.identity)
        store.close()
        again.close()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                ("1:{port}/app", "1:{port}/nowhere"),
                'database "nowhere" does not exist.*Create the database first',
            ),
            ((f":{PASSWORD}@", ":wrong-secret@"), "Check the user and the password"),
            (("127.0.0.1:", "127.0.0.1:1"), "cannot be reached|invalid port"),
        ],
    )
    def test_what_cannot_be_opened_is_named_without_the_password(
        self, postgres_server, change, message
    ):
        old, new = (part.format(port=postgres_server.port) for part in change)
        address = postgres_server.dsn().replace(old, new)
        with pytest.raises(StoreError, match=message) as caught:
            PostgresStore(address)
        assert PASSWORD not in str(caught.value)
        assert "wrong-secret" not in str(caught.value)

    def test_an_address_that_cannot_be_read_is_not_repeated(self):
        with pytest.raises(InvalidValue, match="write it as postgresql://USER:PASSWORD") as caught:
            PostgresStore("postgresql://ada:sec ret@host:port:5/x%zz")
        assert "sec" not in str(caught.value).replace("PASSWORD", "")

    def test_the_store_shows_its_place_without_the_password(self, store, postgres_server):
        assert repr(store).startswith(
            f"PostgresStore('postgresql://app@127.0.0.1:{postgres_server.port}"
        )
        assert PASSWORD not in repr(store)

    @pytest.mark.parametrize("schema", ["", "Upper", "a; drop", None, "x" * 64])
    def test_an_odd_schema_is_refused(self, postgres, schema):
        with pytest.raises(InvalidValue, match="schema is"):
            PostgresStore(postgres, schema=schema)

    def test_a_schema_of_another_program_is_left_alone(self, postgres, schema):
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
            connection.execute(f"CREATE TABLE {schema}.records (n int)")
            with pytest.raises(StoreError, match=r"tables of another program.*'records'"):
                PostgresStore(postgres, schema=schema)
            tables = "SELECT count(*) FROM pg_tables WHERE schemaname = %s"
            assert connection.execute(tables, [schema]).fetchone() == (1,)

    def test_a_newer_store_is_left_alone(self, postgres, schema, sql):
        sql.execute("INSERT INTO migrations (number, name) VALUES (%s, 'later')", [LATEST + 1])
        with pytest.raises(StoreError, match=r"written by a newer ctxmw.*Upgrade ctxmw"):
            PostgresStore(postgres, schema=schema)

    def test_an_older_store_is_brought_up_to_date(self, postgres, schema, monkeypatch):
        first = {1: MIGRATIONS[1]}
        monkeypatch.setattr("ctxmw.store.postgres.claim.MIGRATIONS", first)
        monkeypatch.setattr("ctxmw.store.postgres.claim.LATEST", 1)
        PostgresStore(postgres, schema=schema).close()
        monkeypatch.undo()
        store = PostgresStore(postgres, schema=schema)
        store.put([row("m1", "tea")])
        store.put_blobs("ada", "a", {"m1": b"1"})
        assert store.blob_refs("ada", "a") == ["m1"]
        store.close()

    def test_a_missing_package_is_named_with_its_install_line(self):
        code = (
            "import sys; sys.modules['psycopg'] = None\n"
            "from ctxmw import ContextMiddleware\n"
            "ContextMiddleware.open('postgresql://host/x')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert MissingPackage.__name__ in done.stderr
        assert 'pip install "ctxmw[postgres]"' in done.stderr


@pytest.mark.parametrize(
    "limits", [{"connections": 0}, {"patience": -1}, {"statement_seconds": "5"}]
)
def test_limits_that_make_no_sense_are_refused(limits):
    with pytest.raises(InvalidValue, match=f"{next(iter(limits))} is"):
        Limits(**limits)


class TestRows:
    def test_a_nul_is_refused_before_anything_is_written(self, store):
        with pytest.raises(InvalidValue, match="holds a NUL character, which Postgres cannot"):
            store.put([row("m1"), row("m2", body="a\0b")])
        assert store.count("ada", Find(live=None)) == 0

    def test_a_name_too_long_for_an_index_is_named(self, store):
        long = os.urandom(6_000).hex()
        with pytest.raises(StoreError, match="use a shorter one"):
            store.put([row("m1", session=long)])

    @pytest.mark.parametrize(
        ("find", "index"),
        [
            (Find(types=("memory",)), "by_type"),
            (Find(types=("memory",), keys=("k7",)), "by_key"),
            (Find(types=("memory",), digests=("d7",)), "by_digest"),
            (Find(sessions=("s7",)), "by_session"),
        ],
    )
    def test_policies_leave_the_indexes_in_use(self, store, sql, find, index):
        kinds = ("memory", *["turn"] * 20)
        rows = [
            row(f"m{n}", "tea", key=f"k{n}", session=f"s{n}", digest=f"d{n}", type=kinds[n % 21])
            for n in range(2_000)
        ]
        store.put(rows)
        sql.execute("ANALYZE records")
        wanted = Asked.by(find)
        clauses, values = conditions(wanted)
        owner = store.address.owner("ada")
        sql.execute("SELECT set_config('ctxmw.owner', %s, false)", [str(owner)])
        asked = "EXPLAIN " + _ROWS + clauses + order(wanted)
        bound = [owner, *values, wanted.limit, wanted.offset]
        plan = sql.execute(asked, bound).fetchall()
        assert f"records_{index}" in str(plan)


class TestWaiting:
    def test_a_write_elsewhere_is_heard_at_once(self, store, postgres, schema, monkeypatch):
        # Nobody looks by himself meanwhile, so it must have been heard.
        monkeypatch.setattr("ctxmw.store.postgres.notify.LOOK_SECONDS", 2 * PATIENCE)
        other = PostgresStore(postgres, schema=schema)
        store.put([row("m1", "tea")])
        before = store.head("ada")
        listening = threading.Event()
        happened: list[bool] = []

        def wait() -> None:
            listening.set()
            happened.append(store.wait("ada", before, PATIENCE))

        waiting = threading.Thread(target=wait)
        waiting.start()
        listening.wait(PATIENCE)
        while not store._feed._count:
            time.sleep(0.01)  # until it listens
        other.put([row("m2", "tea", user="bob")])
        assert not happened
        other.put([row("m3", "tea")])
        waiting.join(PATIENCE)
        assert happened == [True]
        assert [change.ref for change in store.changes("ada", before)] == ["m3"]
        other.close()
        monkeypatch.setattr("ctxmw.store.postgres.notify.LOOK_SECONDS", 0.1)

    def test_who_hears_nothing_looks_by_himself(self, postgres, schema, monkeypatch):
        monkeypatch.setattr("ctxmw.store.postgres.notify.LOOK_SECONDS", 0.05)
        silent = PostgresStore(postgres, schema=schema, notify=False)
        silent.put([row("m1", "tea")])
        before = silent.head("ada")
        writing = threading.Timer(0.3, lambda: silent.put([row("m2", "tea")]))
        writing.start()
        assert silent.wait("ada", before, PATIENCE)
        writing.join()
        assert not silent.wait("ada", silent.head("ada"), 0.1)
        silent.close()

    def test_what_already_happened_is_not_waited_for(self, store):
        store.put([row("m1", "tea")])
        assert store.wait("ada", 0, PATIENCE)


def test_swept_tables_hold_nothing_of_what_was_deleted(store, sql, postgres_server):
    store.put([row(f"m{n}", "xyzzysecret" if n % 5 else "tea") for n in range(100)])
    store.delete("ada", [f"m{n}" for n in range(100) if n % 5])
    store.sweep()
    with psycopg.connect(postgres_server.dsn("postgres"), autocommit=True) as admin:
        admin.execute("CHECKPOINT")
    tables = [path for path in (postgres_server.data / "base").rglob("*") if path.is_file()]
    assert len(tables) > 100
    assert [path for path in tables if b"xyzzysecret" in path.read_bytes()] == []
    assert store.count("ada", Find()) == 20


class TestDoctor:
    def test_a_store_that_is_well_is_told_so(self, postgres, capsys):
        PostgresStore(postgres).close()
        assert main(["doctor", "--store", postgres]) == 0
        told = capsys.readouterr().out
        assert "ok   store: postgresql://app@127.0.0.1" in told
        assert "ok   tables: schema" in told
        assert "ok   policies: they hold for this role" in told
        assert PASSWORD not in told

    def test_a_role_that_passes_policies_by_is_bad(self, postgres_server, capsys):
        assert main(["doctor", "--store", postgres_server.dsn("postgres")]) == 1
        assert "connect as a role that is neither a superuser" in capsys.readouterr().out

    def test_a_server_that_is_away_is_bad(self, capsys):
        assert main(["doctor", "--store", "postgresql://ada:sesame@127.0.0.1:9/x"]) == 1
        told = capsys.readouterr().out
        assert "BAD  store: postgresql://ada@127.0.0.1:9/x" in told
        assert "sesame" not in told


def test_a_chroma_server_knows_the_store_by_the_same_name_on_every_machine(store, postgres, schema):
    again = PostgresStore(postgres, schema=schema)
    options = {"embedder": HashEmbedder(), "index": "chroma://127.0.0.1:9"}
    indexes = [
        ContextMiddleware(each, **options)._learner.dense.vectors._following.index
        for each in (store, again)
    ]
    assert {index._space for index in indexes} == {store.identity}
    again.close()
