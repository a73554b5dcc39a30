"""The code of a folder is kept known in the background."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code.codebase import Codebase
from ctxmw.code.indexer import Bounds

SECONDS = 60


@pytest.fixture
def folder(tmp_path):
    for n in range(3):
        (tmp_path / f"part_{n}.py").write_text(f"def step_{n}(): return {n}\n")
    return tmp_path


def test_a_folder_is_known_without_anybody_waiting(folder):
    with (
        ContextMiddleware.open(":memory:") as ctx,
        ctx.keep_code(folder, project="shop") as kept,
    ):
        assert kept.wait(SECONDS)
        assert kept.indexed.files == 3
        assert kept.progress == (3, 3)
        asked = [{"role": "user", "content": "What does step_1 do?"}]
        assert "def step_1()" in ctx.session(project="shop").prepare(asked).context.part


@pytest.fixture
def project(folder):
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    return folder


def known(ctx, project="shop", user="local"):
    with Codebase(ctx.store).use(user, project) as code:
        return set(code.files) if code is not None else set()


def looked_at(ctx, root, project="shop"):
    return ctx._composition.folders.look("local", root, project)


def test_a_conversation_in_a_project_has_its_code_indexed(project):
    (project / ".gitignore").write_text("part_2.py\n")
    with ContextMiddleware.open(":memory:") as ctx:
        chat = ctx.session(cwd=project)
        assert looked_at(ctx, project).wait(SECONDS)
        assert known(ctx) == {"part_0.py", "part_1.py"}
        asked = [{"role": "user", "content": "What does step_1 do?"}]
        assert "def step_1()" in chat.prepare(asked).context.part


def test_a_folder_below_a_project_has_the_whole_project_indexed(project):
    (project / "inner").mkdir()
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.session(cwd=project / "inner")
        assert looked_at(ctx, project).wait(SECONDS)
        assert len(known(ctx)) == 3


def test_what_is_no_project_is_not_indexed(folder, monkeypatch):
    home = folder / "home"
    (home / ".git").mkdir(parents=True)
    (home / "notes.py").write_text("x = 1\n")
    monkeypatch.setenv("HOME", str(home))
    with ContextMiddleware.open(":memory:") as ctx:
        for cwd in (folder, home, "/"):
            ctx.session(cwd=cwd)
        assert not ctx._composition.folders._looks


def test_indexing_by_itself_can_be_switched_off(project):
    with ContextMiddleware.open(":memory:", index_folders=False) as ctx:
        ctx.session(cwd=project)
        assert not ctx._composition.folders._looks


def test_a_folder_is_looked_at_once_in_a_while(project):
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.session(cwd=project)
        first = looked_at(ctx, project)
        assert first.wait(SECONDS)
        ctx.session(cwd=project)
        assert looked_at(ctx, project) is first


def test_what_nobody_asked_for_has_bounds_and_lets_nothing_go(project, caplog):
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(project)
        (project / "part_0.py").write_text("def changed(): ...\n")
        for bounds in (Bounds(2), Bounds(size=60)):
            ctx._indexer.index("local", project, "shop", bounds=bounds)
        assert len(known(ctx)) == 3
    assert caplog.text.count("the rest is left out") == 2


def test_a_memory_that_is_closed_looks_at_nothing(project):
    ctx = ContextMiddleware.open(":memory:")
    ctx.close()
    assert looked_at(ctx, project) is None


def test_a_folder_without_git_and_manifest_is_the_project_it_was_indexed_as(folder):
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(folder)
        asked = [{"role": "user", "content": "What does step_1 do?"}]
        part = ctx.session(cwd=folder).prepare(asked).context.part
        assert "def step_1()" in part


def test_an_edited_or_new_file_is_known_after_a_notice(project):
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(project)
        (project / "new.py").write_text("def brand_new(): ...\n")
        ctx.notice({"type": "file_edit", "path": "new.py"}, project="shop")
        assert "new.py" in known(ctx)


def test_closing_ends_it_and_twice_is_fine(folder):
    with ContextMiddleware.open(":memory:") as ctx:
        kept = ctx.keep_code(folder, project="shop").start()
        kept.start()
        kept.close()
        kept.close()
        assert kept.wait(SECONDS)


def test_a_folder_that_is_gone_is_said(tmp_path, caplog):
    with ContextMiddleware.open(":memory:") as ctx, ctx.keep_code(tmp_path / "none") as kept:
        assert kept.wait(SECONDS)
        assert kept.indexed is None
    assert "was not looked at" in caplog.text
