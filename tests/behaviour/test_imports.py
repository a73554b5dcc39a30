"""What an import loads: whoever needs little of the package waits for little of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ctxmw

HEAVY = ("numpy", "pydantic", "tiktoken", "sqlite3", "ctxmw.middleware")
"""What takes most of the time of loading everything."""
OPTIONAL = (
    "chromadb",
    "wordllama",
    "onnxruntime",
    "psycopg",
    "opentelemetry",
    "starlette",
    "IPython",
    "tiktoken",
)


@pytest.mark.parametrize(
    "statement", ["import ctxmw", "import ctxmw.errors", "import ctxmw.cli.main"]
)
def test_an_import_loads_nothing_heavy(statement):
    assert _loaded(statement, HEAVY) == []


def test_a_hook_waits_for_little_where_a_process_answers_it():
    statement = "import ctxmw.cli.main, ctxmw.cli.commands.hook, ctxmw.cli.resident.caller"
    assert _loaded(statement, ("ctxmw.text.cleaning", "dataclasses", "inspect", "secrets")) == []


def test_the_seams_load_no_pipeline():
    assert _loaded("import ctxmw.protocols, ctxmw.testing.doubles", ("ctxmw.middleware",)) == []


def test_what_is_public_loads_no_optional_package():
    assert _loaded("from ctxmw import *", OPTIONAL) == []


NOT_FOR_A_FIRST_PROMPT = (
    "asyncio",
    "ctxmw.calls.finish",
    "ctxmw.calls.on_demand",
    "ctxmw.code.files",
    "ctxmw.code.index",
    "ctxmw.code.languages",
    "ctxmw.code.ranking.search",
    "ctxmw.code.watch",
    "ctxmw.compaction.make_view",
    "ctxmw.compaction.note",
    "ctxmw.conversation.history",
    "ctxmw.conversation.usage",
    "ctxmw.learning.lessons",
    "ctxmw.learning.summarizers",
    "ctxmw.memory.documents",
    "ctxmw.memory.forget",
    "ctxmw.memory.hits",
    "ctxmw.memory.remember",
    "ctxmw.recall.sources.code.look",
    "ctxmw.search.vectors.vectors",
    "ctxmw.settings.settings",
    "ctxmw.store.postgres",
    "ctxmw.store.transfer",
    "ctxmw.text.patterns.ambiguity",
    "ctxmw.text.speech.own_words",
    "ctxmw.workspace.source_tree",
    "tree_sitter",
    "yaml",
)


def test_a_first_prompt_loads_nothing_that_it_does_not_use(tmp_path):
    statement = f"""
from ctxmw import ContextMiddleware
with ContextMiddleware.open({str(tmp_path / "memory.db")!r}, user="local") as ctx:
    ctx.session("first").prepare([{{"role": "user", "content": "How should I write tests?"}}])
"""
    assert _loaded(statement, NOT_FOR_A_FIRST_PROMPT) == []


NOT_FOR_A_HOOK = (
    "asyncio",
    "chromadb",
    "ctxmw.calls.finish",
    "ctxmw.code.languages.python",
    "ctxmw.code.languages.tree_sitter",
    "ctxmw.code.watch",
    "ctxmw.compaction.make_view",
    "ctxmw.conversation.history",
    "ctxmw.learning.lessons",
    "ctxmw.memory.documents",
    "ctxmw.memory.forget",
    "ctxmw.memory.remember",
    "ctxmw.search.vectors.vectors",
    "ctxmw.store.postgres",
    "ctxmw.store.transfer",
    "http.client",
    "mcp",
    "starlette",
    "tree_sitter",
)


def test_inject_loads_nothing_that_it_does_not_use(tmp_path):
    where = ["--store", str(tmp_path / "memory.db"), "--project", "shop"]
    (tmp_path / "code").mkdir()
    (tmp_path / "code/cart.py").write_text("def add_order(cart, order): ...\n")
    with ctxmw.ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        ctx.remember("Orders are added with add_order.")
        ctx.index_code(tmp_path / "code", project="shop")
    asked = ["inject", "How do I add an order to the cart?", *where]
    statement = f"""
import contextlib, io
from ctxmw.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as told:
    assert main({asked!r}) == 0
assert "add_order" in told.getvalue()
"""
    assert _loaded(statement, NOT_FOR_A_HOOK) == []


@pytest.mark.parametrize("name", ctxmw.__all__)
def test_every_public_name_is_found(name):
    assert getattr(ctxmw, name) is not None
    assert name in dir(ctxmw)


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="no attribute 'Sesion'"):
        _ = ctxmw.Sesion  # type: ignore[attr-defined]


def _loaded(statement: str, names: tuple[str, ...]) -> list[str]:
    """Return which of these modules a new process has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*(name for name in {names} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()
