from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.store.open import store_at
from ctxmw.store.sqlite import file as sqlite_file
from ctxmw.store.sqlite import schema as sqlite_schema
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import finish, python, row


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def ours(path: Path) -> Path:
    """A store that was closed, with a few rows."""
    store = SqliteStore(path)
    store.put([row(f"m{n}", f"tea number {n} " + "x" * 3_000) for n in range(20)])
    store.close()
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def assert_refused(path: Path, *message: str) -> None:
    """Opening raises, names the file and the next step, and changes nothing."""
    before = contents(path.parent)
    with pytest.raises(StoreError) as raised:
        SqliteStore(path)
    assert all(part in str(raised.value) for part in (str(path), *message)), raised.value
    assert contents(path.parent) == before


class TestNew:
    def test_any_folder_that_exists_will_do(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b c#%?" / "memory.db"
        path.parent.mkdir(parents=True)
        store = SqliteStore(str(path))
        store.put([row()])
        assert path.exists()
        store.close()

    def test_a_folder_that_does_not_exist_is_an_error_and_is_not_made(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"there is no folder '.*no/such'\. Make it"):
            SqliteStore(tmp_path / "no" / "such" / "memory.db")
        assert list(tmp_path.iterdir()) == []

    def test_the_folder_of_the_users_data_is_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "share" / "ctxmw"
        monkeypatch.setenv("CTXMW_HOME", str(home))
        store_at(None).close()
        assert (home / "memory.db").is_file()

    def test_an_empty_file_is_ours_to_fill(self, path: Path) -> None:
        path.touch()
        SqliteStore(path).close()
        assert path.stat().st_size > 0

    def test_only_its_owner_may_read_it(self, path: Path) -> None:
        SqliteStore(path).close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_its_header_tells_whose_it_is_and_which_version(self, ours: Path) -> None:
        header = ours.read_bytes()[:100]
        assert header[68:72] == b"ctxm"
        assert int.from_bytes(header[60:64], "big") == sqlite_schema.LATEST

    def test_a_store_stays_where_it_was_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        store = SqliteStore("memory.db")
        monkeypatch.chdir("/")
        store.put([row()])
        assert store.path == tmp_path / "memory.db"
        store.close()

    @pytest.mark.parametrize("path", ["", "a\0b", None, b"memory.db", 7])
    def test_what_is_no_path_is_refused(self, path: str) -> None:
        with pytest.raises(InvalidValue, match="path must be"):
            SqliteStore(path)

    def test_processes_that_open_a_new_file_at_once_all_succeed(self, tmp_path: Path) -> None:
        # Every process waits for its line, so that all of them open at the same moment.
        code = (
            "print('ready', flush=True)\n"
            "for n in range(6):\n"
            "    sys.stdin.readline()\n"
            "    s = SqliteStore(f'{sys.argv[1]}/{n}.db')\n"
            "    s.put([row(f'{os.getpid()}')]); s.close(); print('done', flush=True)\n"
        )
        processes = [python(code, tmp_path) for _ in range(3)]
        for round_ in range(7):
            for process in processes:
                assert process.stdout
                assert process.stdin
                assert process.stdout.readline() == ("done\n" if round_ else "ready\n")
            for process in processes if round_ < 6 else ():
                process.stdin.write("go\n")
                process.stdin.flush()
        for process in processes:
            finish(process)
        for n in range(6):
            store = SqliteStore(tmp_path / f"{n}.db")
            assert store.count("ada", Find()) == 3
            store.close()


class TestNotOurs:
    def test_a_text_file(self, path: Path) -> None:
        path.write_text("Dear diary, " * 500)
        assert_refused(path, "is not an SQLite file", "Choose another path")

    def test_a_short_text_file(self, path: Path) -> None:
        path.write_text("hi")
        assert_refused(path, "is not an SQLite file")

    @pytest.mark.parametrize("journal", ["delete", "wal"])
    def test_an_sqlite_file_of_another_program(self, path: Path, journal: str) -> None:
        theirs = sqlite3.connect(path)
        theirs.execute(f"PRAGMA journal_mode = {journal}")
        theirs.execute("PRAGMA user_version = 1")
        theirs.execute("CREATE TABLE records (id)")
        theirs.commit()
        theirs.close()
        assert_refused(path, "another program", "Choose another path")

    def test_an_sqlite_file_that_another_program_has_open(self, path: Path) -> None:
        theirs = sqlite3.connect(path, isolation_level=None)
        theirs.execute("PRAGMA journal_mode = WAL")
        theirs.execute("PRAGMA application_id = 7")
        theirs.execute("CREATE TABLE t (id)")
        assert_refused(path, "another program")
        theirs.close()

    def test_a_newer_schema(self, ours: Path) -> None:
        newer = sqlite3.connect(ours, isolation_level=None)
        newer.execute(f"PRAGMA user_version = {sqlite_schema.LATEST + 1}")
        newer.close()
        assert_refused(ours, f"schema {sqlite_schema.LATEST + 1}", "Upgrade ctxmw")

    def test_a_newer_schema_that_stands_in_the_log_only(self, ours: Path) -> None:
        newer = sqlite3.connect(ours, isolation_level=None)
        newer.execute(f"PRAGMA user_version = {sqlite_schema.LATEST + 1}")
        assert (ours.parent / "memory.db-wal").stat().st_size > 0
        with pytest.raises(StoreError, match="Upgrade ctxmw"):
            SqliteStore(ours)
        newer.close()

    def test_a_folder(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(StoreError, match=r"memory\.db is not a regular file\. Give the path"):
            SqliteStore(path)
        assert list(path.iterdir()) == []

    def test_a_pipe_does_not_hang(self, path: Path) -> None:
        os.mkfifo(path)
        with pytest.raises(StoreError, match="not a regular file"):
            SqliteStore(path)

    def test_a_folder_that_is_a_file(self, path: Path) -> None:
        path.write_text("I am a file")
        with pytest.raises(StoreError, match="choose another path"):
            SqliteStore(path / "memory.db")
        assert path.read_text() == "I am a file"


class TestDamaged:
    @pytest.mark.parametrize("length", [40, 4_096, 20_000])
    def test_a_file_that_was_cut_off(self, ours: Path, length: int) -> None:
        ours.write_bytes(ours.read_bytes()[:length])
        assert_refused(ours, "damaged", "backup")

    def test_a_file_whose_tables_are_overwritten(self, ours: Path) -> None:
        whole = ours.read_bytes()
        ours.write_bytes(whole[:100] + b"\xa5" * 3_996 + whole[4_096:])
        assert_refused(ours, "damaged", "backup")

    def test_a_file_whose_tables_are_gone(self, ours: Path) -> None:
        with sqlite3.connect(ours) as other:
            other.execute("DROP TABLE state")
        other.close()
        assert_refused(ours, "lost its tables", "backup")

    def test_damage_that_shows_only_in_use(self, ours: Path) -> None:
        whole = ours.read_bytes()
        half = len(whole) // 2
        ours.write_bytes(whole[:half] + b"\xa5" * half)
        store = SqliteStore(ours)
        with pytest.raises(StoreError, match="damaged") as raised:
            store.query("ada", Find())
        assert isinstance(raised.value.__cause__, sqlite3.DatabaseError)
        store.close()


class TestUnwritable:
    """Run by somebody who is not root, for whom nothing is read-only."""

    CODE = (
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: SqliteStore(sys.argv[1]); print('opened')\n"
        "except StoreError as error: print(error)\n"
    )

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        # Not under pytest's own folder, which is closed to everybody else.
        with tempfile.TemporaryDirectory() as parent:
            Path(parent).chmod(0o755)
            folder = Path(parent) / "folder"
            folder.mkdir()
            yield folder
            folder.chmod(0o755)

    def test_a_folder_that_is_read_only(self, folder: Path) -> None:
        folder.chmod(0o555)
        printed = finish(python(self.CODE, folder / "memory.db"))
        assert f"{folder}/memory.db: Permission denied" in printed
        assert "choose another path" in printed
        assert list(folder.iterdir()) == []

    @pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o777, 0o444), (0o555, 0o666)])
    def test_a_store_that_is_read_only(
        self, folder: Path, folder_mode: int, file_mode: int
    ) -> None:
        path = folder / "memory.db"
        SqliteStore(path).close()
        path.chmod(file_mode)
        folder.chmod(folder_mode)
        before = contents(folder)
        printed = finish(python(self.CODE, path))
        assert f"{path} cannot be written" in printed
        assert "choose another path" in printed
        assert contents(folder) == before


class TestMigrations:
    def test_an_older_file_is_brought_up_to_date_with_its_rows(self, path: Path) -> None:
        older = sqlite3.connect(path, isolation_level=None)
        older.execute("BEGIN")
        sqlite_schema.apply(1, older)
        older.execute("INSERT INTO users (name) VALUES ('ada')")
        older.execute(
            "INSERT INTO records VALUES (1, 1, 'm1', 'memory', 1, '2026-03-02T12:00:00+00:00', 1,"
            " '', '', '', '', '', 'tea', '{}')"
        )
        older.execute("COMMIT")
        older.close()
        store = SqliteStore(path)
        assert [hit.ref for hit, _ in store.search("ada", ["tea"], Find())] == ["m1"]
        store.close()

    def test_each_leaves_its_record(self, ours: Path) -> None:
        file = sqlite3.connect(ours)
        numbers = file.execute("SELECT number, name FROM migrations ORDER BY number").fetchall()
        file.close()
        assert numbers == [
            (1, "rows_and_changes"),
            (2, "full_text_search"),
            (3, "blobs_of_rows"),
            (4, "copies_outlive_history"),
        ]

    def test_one_that_fails_leaves_the_file_at_the_number_before(
        self, ours: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(connection: sqlite3.Connection) -> None:
            connection.execute("CREATE TABLE half (id)")
            connection.execute("CREATE TABLE half (id)")

        with monkeypatch.context() as patch:
            following = sqlite_schema.LATEST + 1
            patch.setitem(sqlite_schema.MIGRATIONS, following, broken)
            patch.setattr(sqlite_schema, "LATEST", following)
            with pytest.raises(StoreError, match="half"):
                SqliteStore(ours)
        file = sqlite3.connect(ours)
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_schema")}
        file.close()
        assert "half" not in tables
        SqliteStore(ours).close()


class TestErrorsInUse:
    def test_a_file_that_stays_locked(self, ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_file, "PATIENCE", 0.1)
        store = SqliteStore(ours)
        other = sqlite3.connect(ours, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked\. Another process holds") as raised:
            store.put([row("new")])
        assert str(ours) in str(raised.value)
        assert isinstance(raised.value.__cause__, sqlite3.OperationalError)
        assert store.get("ada", ["new"]) == []
        other.execute("ROLLBACK")
        store.put([row("new")])
        assert len(store.get("ada", ["new"])) == 1
        other.close()
        store.close()

    def test_a_file_that_was_taken_away(self, ours: Path) -> None:
        store = SqliteStore(ours)
        ours.unlink()
        with pytest.raises(StoreError, match="deleted or moved"):
            store.get("ada", ["m1"])
        assert not ours.exists()

    def test_a_disk_that_takes_no_more_keeps_all_or_nothing(self, ours: Path) -> None:
        code = (
            "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "s = SqliteStore(sys.argv[1]); size = os.path.getsize(sys.argv[1]) + 300_000\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
            "try:\n"
            "    with s.atomic('ada'):\n"
            "        s.put([row('first', 'rare')])\n"
            "        s.put([row(f'b{n}', 'words ' * 2_000) for n in range(400)])\n"
            "except StoreError as error: print(error)\n"
            "print(s.count('ada', Find()), s.search('ada', ['rare'], Find()))\n"
            "os._exit(0)\n"
        )
        printed = finish(python(code, ours))
        assert str(ours) in printed
        assert "Nothing was written" in printed
        assert printed.splitlines()[-1] == "20 []"
        store = SqliteStore(ours)
        assert store.count("ada", Find()) == 20
        store.close()
