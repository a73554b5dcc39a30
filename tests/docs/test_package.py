"""What importing ctxmw brings in, and what it offers."""

from __future__ import annotations

import ast
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
    assert sorted(ctxmw.__all__) == ctxmw.__all__
    assert all(hasattr(ctxmw, name) for name in ctxmw.__all__)


def imported(path: Path) -> set[str]:
    """Return the top-level packages a file imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names
