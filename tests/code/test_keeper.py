"""The code of a folder is kept known in the background."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware

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
