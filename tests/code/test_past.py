"""What was said when files were changed finds them again; without git nothing is missed."""

from __future__ import annotations

import subprocess

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code.codebase import Codebase
from ctxmw.code.past import past_of
from ctxmw.code.ranking.search import search_code
from ctxmw.code.ranking.words import bag_words

PLAIN = {f"shop/part_{n}.py": f"def step_{n}(value): return value\n" for n in range(12)}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    for path, text in PLAIN.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "init", "-q")
    commit(folder, "Begin")
    return folder


def git(folder, *words):
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def edit(folder, path, message):
    place = folder / path
    place.write_text(place.read_text() + f"# {len(place.read_text())}\n")
    commit(folder, message)


def found(ctx, text):
    with Codebase(ctx.store).use("local", "shop") as code:
        return [file.path for file in search_code(code, text).files]


def test_words_of_past_changes_find_the_file(repository, tmp_path):
    edit(repository, "shop/part_7.py", "Retry when the broker is gone")
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        ctx.index_code(repository, project="shop")
        assert found(ctx, "the broker is gone again") == ["shop/part_7.py"]


def test_a_later_commit_is_known_after_indexing_again_although_no_file_changed(
    repository, tmp_path
):
    place = repository / "shop/part_3.py"
    place.write_text("def step_3(value): return -value\n")
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        ctx.index_code(repository, project="shop")
        assert found(ctx, "refunds are negative") == []
        commit(repository, "Make refunds negative")
        again = ctx.index_code(repository, project="shop")
        assert again.read == 0
        assert found(ctx, "refunds are negative") == ["shop/part_3.py"]


def test_a_change_of_the_file_keeps_its_past(repository, tmp_path):
    edit(repository, "shop/part_7.py", "Retry when the broker is gone")
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        ctx.index_code(repository, project="shop")
        (repository / "shop/part_7.py").write_text("def other(): pass\n")
        ctx.index_code(repository / "shop/part_7.py", project="shop")
        assert found(ctx, "the broker is gone") == ["shop/part_7.py"]


def test_paths_are_those_below_the_folder(repository):
    edit(repository, "shop/part_1.py", "Count apples")
    past = past_of(repository / "shop")
    assert "appl" in bag_words(past["part_1.py"])[0]


def test_a_commit_that_changes_everything_tells_nothing(repository):
    for number in range(12, 30):
        (repository / f"shop/part_{number}.py").write_text("pass\n")
    for number in range(12):
        (repository / f"shop/part_{number}.py").write_text("pass\n")
    commit(repository, "Reformat zebras")
    assert not any("zebra" in words for words in past_of(repository).values())


def test_secrets_of_messages_are_not_kept(repository):
    edit(repository, "shop/part_2.py", "Use key AKIAIOSFODNN7EXAMPLE for uploads")
    assert not any("akia" in words.lower() for words in past_of(repository).values())


@pytest.mark.parametrize("missing", ["clone", "git", "commits"])
def test_where_there_is_no_history_there_is_none(tmp_path, monkeypatch, missing):
    if missing == "git":
        monkeypatch.setenv("PATH", str(tmp_path))
    if missing == "commits":
        git(tmp_path, "init", "-q")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert past_of(tmp_path) is None
    (tmp_path / "a.py").write_text("def alone(): pass\n")
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        assert ctx.index_code(tmp_path, project="p").files == 1
