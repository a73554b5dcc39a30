"""What is shown of code is in line with the folder, whenever that changed."""

from __future__ import annotations

import os
import shutil

import pytest

from ctxmw import ContextMiddleware

BEFORE = 'def open_vault(key):\n    """Open the vault."""\n    return turn(key)\n'
AFTER = (
    'TWO = 2\n\n\ndef open_vault(key, code):\n    """Unlock the vault."""\n    return dial(code)\n'
)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "bank"
    root.mkdir()
    (root / "vault.py").write_text(BEFORE)
    (root / "desk.py").write_text("from vault import open_vault\n\ndef serve(): open_vault(1)\n")
    return root


@pytest.fixture
def ctx(folder):
    with ContextMiddleware.open(":memory:") as memory:
        memory.index_code(folder, project="bank")
        yield memory


def shown(ctx, text):
    chat = ctx.session(project="bank")
    return chat.prepare([{"role": "user", "content": text}]).context.part


@pytest.mark.parametrize("text", ["What does open_vault do?", "fix how the vault is opened by key"])
def test_an_edit_is_seen_without_being_told_of(ctx, folder, text):
    assert "def open_vault(key)" in shown(ctx, text)
    (folder / "vault.py").write_text(AFTER)
    part = shown(ctx, text)
    assert "def open_vault(key, code)" in part
    assert "Unlock" in part
    assert "def open_vault(key)" not in part


@pytest.mark.parametrize("text", ["What does open_vault do?", "fix how the vault is opened by key"])
def test_a_deleted_file_is_not_mentioned(ctx, folder, text):
    (folder / "vault.py").unlink()
    assert "vault.py" not in shown(ctx, text)


def test_a_file_that_is_half_written_says_nothing_of_places(ctx, folder):
    (folder / "vault.py").write_text("def open_vault(key\n")
    assert "def open_vault" not in shown(ctx, "What does open_vault do?")


def test_a_touched_file_is_the_same(ctx, folder):
    os.utime(folder / "vault.py", (1, 1))
    assert "def open_vault(key)" in shown(ctx, "What does open_vault do?")


def test_what_was_indexed_elsewhere_stands(ctx, folder):
    shutil.rmtree(folder)
    part = shown(ctx, "fix how the vault is opened by key")
    assert "def open_vault(key)" in part
    assert "return turn(key)" not in part


def test_a_notice_of_an_edit_is_enough_for_what_is_new(ctx, folder):
    (folder / "safe.py").write_text("def crack_safe(): return 1\n")
    assert "crack_safe" not in shown(ctx, "What does crack_safe do?")
    ctx.notice({"type": "file_edit", "path": "safe.py"}, project="bank")
    assert "def crack_safe()" in shown(ctx, "What does crack_safe do?")
    ctx.notice({"type": "file_edit", "path": "../../etc/passwd.py"}, project="bank")
    (folder / "safe.py").unlink()
    ctx.notice({"type": "file_close", "path": str(folder / "safe.py")}, project="bank")
    assert "safe.py" not in shown(ctx, "What does crack_safe do?")
