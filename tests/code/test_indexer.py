"""A project's source files in the store: read once, then only what has changed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw.code.codebase import Codebase
from ctxmw.protocols import Find
from ctxmw.workspace.source_tree import source_files

CART = '''"""Sells."""


class Cart:
    """Holds things."""

    def add(self, item):
        return item
'''


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    (root / "shop").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    (root / "shop" / "cart.py").write_text(CART, encoding="utf-8")
    (root / "shop" / "pay.py").write_text("def pay(cart):\n    return 1\n", encoding="utf-8")
    return root


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:") as ctx:
        yield ctx


def names(ctx, project="shop"):
    with Codebase(ctx.store).use("local", project) as code:
        files = code.files if code is not None else {}
        return {one.name for file in files.values() for one in file.entities}


def test_a_folder_is_indexed_under_the_project_it_belongs_to(ctx, shop):
    found = ctx.index_code(shop)
    assert (found.project, found.files, found.read, found.skipped) == ("shop", 2, 2, {})
    assert names(ctx) >= {"Cart", "Cart.add", "pay", "shop.cart"}


def test_a_second_run_reads_nothing(ctx, shop):
    ctx.index_code(shop)
    head = ctx.store.head("local")
    assert ctx.index_code(shop).read == 0
    assert ctx.store.head("local") == head


def test_only_the_changed_file_is_written_again(ctx, shop):
    ctx.index_code(shop)
    head = ctx.store.head("local")
    (shop / "shop" / "cart.py").write_text(CART.replace("add", "put"), encoding="utf-8")
    found = ctx.index_code(shop)
    assert found.read == 1
    assert found.changed == {"shop/cart.py": ("Cart.put", "Cart.add")}
    assert len(ctx.store.changes("local", head)) == 1
    assert "Cart.put" in names(ctx)
    assert "Cart.add" not in names(ctx)


def test_a_changed_body_is_a_change_of_its_method_alone(ctx, shop):
    ctx.index_code(shop)
    (shop / "shop" / "cart.py").write_text(
        CART.replace("return item", "return 2"), encoding="utf-8"
    )
    assert ctx.index_code(shop).changed == {"shop/cart.py": ("Cart.add",)}


def test_a_touched_file_that_holds_the_same_is_not_read_as_new(ctx, shop):
    ctx.index_code(shop)
    os.utime(shop / "shop" / "cart.py", (1, 1))
    assert ctx.index_code(shop).read == 0
    assert ctx.index_code(shop).read == 0


def test_a_moved_file_is_known_under_its_new_path(ctx, shop):
    ctx.index_code(shop)
    (shop / "shop" / "cart.py").rename(shop / "shop" / "basket.py")
    found = ctx.index_code(shop)
    assert (found.read, found.moved, found.gone) == (0, 1, 1)
    assert names(ctx) >= {"Cart", "shop.basket"}
    assert "shop.cart" not in names(ctx)
    with Codebase(ctx.store).use("local", "shop") as code:
        assert sorted(code.files) == ["shop/basket.py", "shop/pay.py"]


def test_a_deleted_file_is_let_go(ctx, shop):
    ctx.index_code(shop)
    (shop / "shop" / "pay.py").unlink()
    assert ctx.index_code(shop).gone == 1
    assert "pay" not in names(ctx)


def test_a_file_that_is_broken_for_the_moment_keeps_what_was_known(ctx, shop, caplog):
    ctx.index_code(shop)
    (shop / "shop" / "cart.py").write_text("class Cart(:\n", encoding="utf-8")
    found = ctx.index_code(shop)
    assert found.skipped == {"shop/cart.py": "its syntax is wrong in line 1"}
    assert "shop/cart.py is left out" in caplog.text
    assert "Cart" in names(ctx)


def test_a_folder_inside_an_indexed_one_keeps_the_paths(ctx, shop):
    ctx.index_code(shop)
    (shop / "shop" / "new.py").write_text("def new(): pass\n", encoding="utf-8")
    assert ctx.index_code(shop / "shop").files == 3
    with Codebase(ctx.store).use("local", "shop") as code:
        assert sorted(code.files) == ["shop/cart.py", "shop/new.py", "shop/pay.py"]


def test_a_folder_around_an_indexed_one_takes_its_place(ctx, shop):
    ctx.index_code(shop / "shop", project="shop")
    assert ctx.index_code(shop, project="shop").files == 2
    with Codebase(ctx.store).use("local", "shop") as code:
        assert sorted(code.files) == ["shop/cart.py", "shop/pay.py"]


def test_one_file_can_be_indexed(ctx, shop):
    found = ctx.index_code(shop / "shop" / "cart.py")
    assert (found.project, found.files) == ("shop", 1)


def test_another_process_sees_what_was_indexed(tmp_path, shop):
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path) as one, ContextMiddleware.open(path) as other:
        assert names(other) == set()
        one.index_code(shop)
        assert "Cart" in names(other)
        shutil.rmtree(shop / "shop")
        one.index_code(shop)
        assert names(other) == set()


def test_two_users_and_two_projects_know_only_their_own(ctx, shop):
    ctx.index_code(shop, user="ann", project="a")
    assert names(ctx, "a") == set()
    with Codebase(ctx.store).use("ann", "b") as code:
        assert code is None


def test_a_server_names_its_user(shop):
    with ContextMiddleware.open(":memory:", user=None) as ctx:
        with pytest.raises(MissingUser):
            ctx.index_code(shop)
        with pytest.raises(MissingUser):
            ctx.notice({"type": "file_open", "path": "a.py"})


def test_forgetting_the_code_of_a_project_takes_it_out_of_old_prompts_too(ctx, shop):
    ctx.index_code(shop)
    chat = ctx.session("s", project="shop")
    prepared = chat.prepare([{"role": "user", "content": "What does the `Cart` class do?"}])
    assert "Holds things." in prepared.context.part
    chat.finish(prepared, "It holds.")
    assert ctx.forget(source="code:shop") == 2
    assert names(ctx) == set()
    rows = ctx.store.query("local", Find(live=None))
    assert not [row.type for row in rows if "Holds things." in row.body]


def test_progress_counts_to_the_end(ctx, shop):
    told = []
    ctx.index_code(shop, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("path", ["/nowhere/at/all", "", 7, "nul\0name"])
def test_what_cannot_be_indexed_is_said(ctx, path):
    with pytest.raises(InvalidValue):
        ctx.index_code(path)


def test_a_file_of_no_language_is_refused(ctx, shop):
    (shop / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidValue, match="no source file"):
        ctx.index_code(shop / "notes.txt")


def test_hostile_files_are_left_out_by_name_and_nothing_hangs(ctx, shop, tmp_path, caplog):
    code = shop / "shop"
    outside = tmp_path / "outside.py"
    outside.write_text("def secret(): pass\n", encoding="utf-8")
    (code / "link.py").symlink_to(outside)
    (code / "loop").symlink_to(code)
    os.mkfifo(code / "pipe.py")
    with (code / "giant.py").open("wb") as file:
        file.truncate(1024**3)
    (code / "binary.py").write_bytes(b"x = 1\0\0")
    (code / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
    (code / "folder.py").mkdir()
    (code / "deep.py").write_text("(" * 10_000, encoding="utf-8")
    found = ctx.index_code(shop)
    left_out = {"link.py", "pipe.py", "giant.py", "binary.py", "latin.py", "deep.py"}
    assert {path.removeprefix("shop/") for path in found.skipped} == left_out
    assert all(name in caplog.text for name in left_out)
    assert names(ctx) >= {"Cart", "pay"}
    assert "secret" not in names(ctx)


@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode there")
def test_a_file_whose_name_is_no_text_is_left_out(ctx, shop):
    with suppress(OSError):  # some file systems refuse such a name themselves
        Path(os.fsdecode(os.fsencode(shop) + b"/shop/b\xff.py")).write_bytes(b"def odd(): pass\n")
        found = ctx.index_code(shop)
        assert found.files == 2
        assert list(found.skipped.values()) == ["its name is not UTF-8"]


def test_a_file_that_goes_while_its_folder_is_read_is_not_there(shop):
    sources = source_files(shop)
    assert next(sources).path == "shop/cart.py"
    (shop / "shop" / "pay.py").unlink()
    assert list(sources) == []


def test_a_folder_of_too_many_files_is_read_up_to_a_bound(ctx, shop, caplog, monkeypatch):
    monkeypatch.setattr("ctxmw.code.indexer.MOST_FILES", 1)
    assert ctx.index_code(shop).files == 1
    assert "more than 1 source files" in caplog.text


def test_what_git_ignores_is_not_indexed(ctx, shop):
    (shop / ".gitignore").write_text("gen/\n*_pb2.py\n!keep_pb2.py\n", encoding="utf-8")
    for path in (
        "gen/a.py",
        "shop/x_pb2.py",
        "shop/keep_pb2.py",
        ".venv/lib.py",
        "node_modules/m.js",
    ):
        (shop / path).parent.mkdir(parents=True, exist_ok=True)
        (shop / path).write_text("x = 1\n", encoding="utf-8")
    ctx.index_code(shop)
    with Codebase(ctx.store).use("local", "shop") as code:
        assert sorted(code.files) == ["shop/cart.py", "shop/keep_pb2.py", "shop/pay.py"]


async def test_the_twins_do_the_same(ctx, shop):
    assert (await ctx.aindex_code(shop)).files == 2
    await ctx.anotice({"type": "file_open", "path": "shop/cart.py"}, project="shop")
