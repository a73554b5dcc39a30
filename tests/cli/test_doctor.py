"""The doctor sees what is wrong, says how to fix it, and harms nothing by looking."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Timer

import pytest

from ctxmw import ContextMiddleware
from ctxmw.cli import doctor
from ctxmw.cli.main import main
from ctxmw.store.sqlite import file as sqlite_file


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Gears are made of brass.")
        ctx.remember("Boats float.")
    return path


def found(path) -> dict[str, doctor.Finding]:
    return {finding.about: finding for finding in doctor.look_at_store(path)}


def test_a_store_that_is_well_is_told_so(path):
    assert {finding.level for finding in found(path).values()} == {"good"}
    assert "2 records" in found(path)["store"].says


def test_a_store_that_is_not_there_yet_is_no_trouble_and_is_not_made(tmp_path):
    assert found(tmp_path / "none.db")["store"].level == "note"
    assert not (tmp_path / "none.db").exists()


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("not a database")
    assert found(other)["store"].level == "bad"
    assert other.read_text() == "not a database"


def test_search_that_lost_a_record_is_seen_and_mended(path, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.commit()
    connection.close()
    assert found(path)["search"].level == "bad"
    assert main(["doctor", "--store", str(path)]) == 1
    assert "ctxmw doctor --mend" in capsys.readouterr().out
    assert main(["doctor", "--mend", "--store", str(path)]) == 0
    assert found(path)["search"].level == "good"
    with ContextMiddleware.open(path) as ctx:
        assert ctx.search("boats")


def test_a_file_that_another_process_writes_is_waited_for(path):
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for look in (doctor.mend_search, found):
        writer.execute("BEGIN IMMEDIATE")
        done = Timer(0.2, writer.execute, ["COMMIT"])
        done.start()
        looked = look(path)
        done.join()
    assert looked["search"].level == "good"
    writer.close()


def test_search_is_not_said_to_be_wrong_when_it_could_not_be_looked_at(path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.05)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    looked = found(path)
    writer.close()
    assert "search" not in looked
    assert "Another process holds the file" in looked["store"].says


def test_a_store_may_be_named_as_seen_from_the_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assert found(Path(path.name))["store"].level == "good"


def test_records_without_vectors_are_counted(path):
    pytest.importorskip("wordllama")
    with ContextMiddleware.open(path, embedder="wordllama") as ctx:
        ctx.reindex()
    (vectors,) = [finding for about, finding in found(path).items() if about.startswith("vector")]
    assert (vectors.level, vectors.says) == ("good", "2 of 2 records have one")
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Wheels turn.")
    (vectors,) = [finding for about, finding in found(path).items() if about.startswith("vector")]
    assert (vectors.level, vectors.says) == ("note", "2 of 3 records have one")
    assert "ctxmw reindex" in vectors.fix


def machine() -> dict[str, doctor.Finding]:
    return {finding.about: finding for finding in doctor.look_at_machine()}


def test_every_extra_is_looked_for(monkeypatch):
    assert machine()["extra mcp"].level == "good"
    monkeypatch.setattr(doctor, "_version", lambda package: "")
    assert machine()["extra mcp"].fix == 'pip install "ctxmw[mcp]"'


@pytest.mark.parametrize(
    ("versions", "about", "fix"),
    [
        ({"pydantic": "2.14.0", "llama-index-core": "0.14"}, "pydantic", "pydantic<2.14"),
        ({"mcp": "2.3.0", "langchain-mcp-adapters": "0.3.1"}, "mcp", "environment of its own"),
        ({"mcp": "1.30.0"}, "mcp", "ctxmw[mcp]"),
    ],
)
def test_packages_that_do_not_go_together_are_seen(monkeypatch, versions, about, fix):
    monkeypatch.setattr(doctor, "_version", lambda package: versions.get(package, ""))
    assert machine()[about].level == "bad"
    assert fix in machine()[about].fix


def test_packages_that_go_together_are_not_complained_about(monkeypatch):
    good = {"pydantic": "2.13.5", "llama-index-core": "0.14", "mcp": "2.3.0"}
    monkeypatch.setattr(doctor, "_version", lambda package: good.get(package, ""))
    assert "bad" not in {finding.level for finding in machine().values()}


def test_tokens_without_tables_and_an_old_sqlite_are_told(monkeypatch):
    monkeypatch.setattr(doctor, "find_table", lambda table, folder: None)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 30, 0))
    assert machine()["tokens o200k_base"].level == "note"
    assert machine()["sqlite"].level == "bad"


def test_a_server_that_does_not_answer_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = "postgresql://nobody:secret@127.0.0.1:9/none?connect_timeout=1"
    assert main(["doctor", "--store", store]) == 1
    said = capsys.readouterr().out
    assert "store" in said
    assert "secret" not in said


def test_wrong_settings_are_told(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ctxmw.toml").write_text("max_token = 5")
    assert main(["doctor"]) == 1
    assert "Did you mean 'max_tokens'?" in capsys.readouterr().out
