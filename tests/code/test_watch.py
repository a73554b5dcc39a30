"""A watched folder: saves are indexed and told to conversations."""

from __future__ import annotations

import sys
import threading

import pytest

from ctxmw import ContextMiddleware, MissingPackage
from tests.support.waiting import until


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    (root / "auth.py").write_text("def login(user):\n    return user\n", encoding="utf-8")
    return root


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        yield ctx


def watching() -> int:
    return sum(thread.name == "ctxmw-watch" for thread in threading.enumerate())


def said(ctx, text="What is wrong here?"):
    return ctx.session(project="shop").prepare([{"role": "user", "content": text}]).context.part


def test_a_save_becomes_an_activity_with_what_changed(ctx, shop):
    with ctx.watch(shop, project="shop") as watch:
        assert watch.indexed.files == 1
        assert said(ctx) == ""
        (shop / "auth.py").write_text(
            "def login(user):\n    return user\n\n\ndef logout(): pass\n", encoding="utf-8"
        )
        until(lambda: "def logout()" in said(ctx))
        assert "def login" not in said(ctx).split("## File Context")[0]


def test_new_and_deleted_files_are_seen_and_other_files_are_not(ctx, shop):
    (shop / ".gitignore").write_text("gen/\n", encoding="utf-8")
    (shop / "gen").mkdir()
    with ctx.watch(shop, project="shop"):
        (shop / "gen" / "made.py").write_text("def made(): pass\n", encoding="utf-8")
        (shop / "notes.txt").write_text("x", encoding="utf-8")
        (shop / "pay.py").write_text("def pay_now(): pass\n", encoding="utf-8")
        until(lambda: "pay_now" in said(ctx, "What about pay_now()?"))
        (shop / "auth.py").unlink()
        until(lambda: "def login" not in said(ctx, "What about `login`?"))
    assert "made" not in said(ctx, "What about `made`?")


def test_closing_ends_the_thread_and_twice_is_fine(ctx, shop):
    watch = ctx.watch(shop, project="shop").start()
    assert watching() == 1
    watch.close()
    watch.close()
    assert watching() == 0
    watch.wait()


def test_a_fault_of_ours_does_not_end_the_watch(ctx, shop, caplog, monkeypatch):
    with ctx.watch(shop, project="shop") as watch:
        fails = iter([True])
        update = watch._indexer.update

        def once(*args):
            if next(fails, False):
                raise OSError("gone")
            return update(*args)

        monkeypatch.setattr(watch._indexer, "update", once)
        (shop / "a.py").write_text("def a_one(): pass\n", encoding="utf-8")
        until(lambda: "were not taken in" in caplog.text)
        (shop / "b.py").write_text("def b_two(): pass\n", encoding="utf-8")
        until(lambda: "b_two" in said(ctx, "b_two?"))


def test_without_watchfiles_the_install_line_is_named(ctx, shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[watch\]"'):
        ctx.watch(shop)
