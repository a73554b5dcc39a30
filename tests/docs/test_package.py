"""What importing ctxmw brings in, and what it offers."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import ctxmw

PACKAGE = Path(ctxmw.__file__).parent
HEAVY = (
    "chromadb",
    "langchain",
    "langchain_core",
    "langgraph",
    "llama_index",
    "mcp",
    "onnxruntime",
    "psycopg",
    "tiktoken",
    "wordllama",
)


def test_importing_ctxmw_loads_no_framework_no_index_and_no_tokenizer():
    code = f"import sys, ctxmw; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_module_of_the_core_imports_a_framework():
    frameworks = {"langchain", "langchain_core", "langgraph", "llama_index", "mcp"}
    for path in PACKAGE.rglob("*.py"):
        assert not imported(path) & frameworks, path


def test_the_public_names_are_sorted_and_all_exist():
    # Constants first, as the linter has it.
    assert sorted(ctxmw.__all__, key=lambda name: (not name.isupper(), name)) == ctxmw.__all__
    assert all(hasattr(ctxmw, name) for name in ctxmw.__all__)


def test_the_store_on_postgres_is_public_and_not_loaded_with_everything():
    from ctxmw import Limits, PostgresStore
    from ctxmw.store.postgres import store

    assert (Limits, PostgresStore) == (store.Limits, store.PostgresStore)
    assert "PostgresStore" not in ctxmw.__all__


def test_docs_and_examples_import_only_what_is_public():
    root = PACKAGE.parent
    shown = [*root.glob("docs/**/*.md"), *root.glob("notebooks/*.ipynb"), *root.glob("examples/*")]
    public = {"errors", "protocols", "testing", "ui", "display", "notebook"}
    inner = {
        (path.name, name)
        for path in [*shown, root / "README.md"]
        if path.is_file()
        for name in re.findall(r"(?:from|import) ctxmw\.([\w.]+)", path.read_text("utf-8"))
        if name not in public
    }
    assert inner == set()


def imported(path: Path) -> set[str]:
    """Return the top-level packages a file imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names
