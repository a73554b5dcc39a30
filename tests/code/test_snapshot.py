"""What is kept of a project's code tells the next process what the code itself would."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code import codebase, index
from ctxmw.code.ranking.search import search_code

FILES = {
    "shop/parser.py": "class Parser:\n    def read_token(self, stream):\n        return stream\n",
    "shop/cart.py": "def add_order(cart, order):\n    cart.append(order)\n",
    "shop/user.py": "def rename_user(user, name):\n    user.name = name\n",
    "web/page.py": "from shop.cart import add_order\n\ndef show_page():\n    add_order([], 1)\n",
}
QUESTIONS = ("how is a token read from the stream?", "add an order to the cart", "rename the user")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(codebase, "FILES", 2)
    for path, text in FILES.items():
        _write(tmp_path / "code", path, text)
    with _opened(tmp_path) as ctx:
        ctx.index_code(tmp_path / "code", project="shop")
        _answers(ctx)
        assert ctx.store.blob_refs("local", codebase.SPACE)
    return tmp_path


def test_the_next_process_counts_no_words(folder, monkeypatch):
    with _opened(folder) as ctx:
        answers = _answers(ctx)
    monkeypatch.setattr(codebase, "SPACE", "code:nothing")
    with _opened(folder) as ctx:
        assert _answers(ctx) == answers
    monkeypatch.undo()

    def counted(*_: object) -> None:
        raise AssertionError("words were counted")

    monkeypatch.setattr(index.CodePostings, "add", counted)
    with _opened(folder) as ctx:
        assert _answers(ctx) == answers
    assert [files[0][0] for files, _ in answers] == [
        "shop/parser.py",
        "shop/cart.py",
        "shop/user.py",
    ]


def test_a_file_that_was_changed_is_counted_anew(folder):
    _write(folder / "code", "shop/user.py", "def greet(visitor):\n    return visitor\n")
    with _opened(folder) as ctx:
        ctx.index_code(folder / "code", project="shop")
    with _opened(folder) as ctx, _code(ctx) as code:
        assert not code.named("rename_user")
        assert [one.path for one in code.named("greet")] == ["shop/user.py"]
        assert [file.path for file in search_code(code, "greet a visitor").files] == [
            "shop/user.py"
        ]
        assert len(code) == len(_anew(folder))


def test_a_file_that_is_gone_is_not_found(folder):
    (folder / "code/shop/cart.py").unlink()
    with _opened(folder) as ctx:
        ctx.index_code(folder / "code", project="shop")
    with _opened(folder) as ctx, _code(ctx) as code:
        assert sorted(code.files) == ["shop/parser.py", "shop/user.py", "web/page.py"]
        assert not code.named("add_order")
        assert len(code) == len(_anew(folder))


def test_what_was_forgotten_is_in_no_snapshot(folder):
    with _opened(folder) as ctx:
        ctx.forget(source="code:shop")
        assert ctx.store.blob_refs("local", codebase.SPACE) == []
    with _opened(folder) as ctx, _code(ctx) as code:
        assert code is None


def test_a_snapshot_holds_no_word_of_what_is_gone(folder):
    for path in ("shop/cart.py", "shop/user.py"):
        (folder / "code" / path).unlink()
    _write(folder / "code", "web/page.py", "def show_nothing():\n    pass\n")
    with _opened(folder) as ctx:
        _answers(ctx)
        ctx.index_code(folder / "code", project="shop")
        assert ctx.store.blob_refs("local", codebase.SPACE) == []
        _answers(ctx)
        kept = ctx.store.get_blobs("local", codebase.SPACE, ["*"])["*"]
    assert b"parser" in kept
    assert b"rename" not in kept
    assert b"order" not in kept


def test_a_snapshot_that_cannot_be_read_is_made_anew(folder, caplog):
    with _opened(folder) as ctx:
        answers = _answers(ctx)
        ctx.store.put_blobs("local", codebase.SPACE, {"*": b"broken"})
    with _opened(folder) as ctx:
        assert _answers(ctx) == answers
    assert "made anew" in caplog.text


def _opened(folder: Path) -> ContextMiddleware:
    return ContextMiddleware.open(folder / "memory.db", user="local")


def _code(ctx: ContextMiddleware):
    return ctx._recall.surroundings.codebase.use("local", "shop")


def _answers(ctx: ContextMiddleware) -> list[tuple[list[tuple[str, float]], int]]:
    with _code(ctx) as code:
        return [
            ([(file.path, file.score) for file in search_code(code, question).files], len(code))
            for question in QUESTIONS
        ]


def _anew(folder: Path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codebase, "SPACE", "code:nothing")
        with _opened(folder) as ctx, _code(ctx) as code:
            return code


def _write(root: Path, path: str, text: str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
