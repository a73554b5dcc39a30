"""The application's logging is the application's, whatever package we bring along."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPENED = {
    "alone": "ContextMiddleware.open(path)",
    "wordllama": "ContextMiddleware.open(path, embedder='wordllama')",
    "chromadb": "ContextMiddleware.open(path, embedder='wordllama', index='chroma')",
    "langchain": (
        "__import__('ctxmw_langchain').ContextAgentMiddleware(ContextMiddleware.open(path))"
    ),
    "llama_index.core": (
        "__import__('ctxmw_llamaindex').memory_tools(ContextMiddleware.open(path))"
    ),
    "mcp": "__import__('ctxmw_mcp').memory_server(ContextMiddleware.open(path))",
    "opentelemetry.trace": (
        "ContextMiddleware.open(path, tracing=__import__('ctxmw').Tracing()).search('anything')"
    ),
    "starlette": "__import__('ctxmw.ui')",
}
PROGRAM = """
import logging, sys

def root():
    own = logging.getLogger()
    return own.level, list(own.handlers), list(own.filters), own.disabled, own.manager.disable

before = root()
from ctxmw import ContextMiddleware
path = sys.argv[1]
opened = {opened}
assert root() == before, root()
logging.basicConfig(level=logging.ERROR)
assert logging.getLogger().level == logging.ERROR
"""


@pytest.mark.parametrize("package", OPENED)
def test_opening_leaves_the_root_logger_as_it_was(package, tmp_path):
    if package != "alone":
        pytest.importorskip(package, reason=f"{package} is not installed")
    program = PROGRAM.format(opened=OPENED[package])
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "memory.db")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
