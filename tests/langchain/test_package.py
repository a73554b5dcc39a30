"""The adapter stands on public names of ctxmw and on LangChain, and says what is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ctxmw
import ctxmw_langchain

PACKAGE = Path(ctxmw_langchain.__file__).parent
FRAMEWORK = {"langchain", "langchain_core", "langgraph", "pydantic"}


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_only_public_names_of_ctxmw_and_the_framework_are_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            top = node.module.partition(".")[0]
            assert top in FRAMEWORK | {"ctxmw"} | sys.stdlib_module_names, node.module
            if top == "ctxmw":
                assert node.module == "ctxmw"
                assert {alias.name for alias in node.names} <= set(ctxmw.__all__)
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
            assert names <= FRAMEWORK | {"ctxmw"} | sys.stdlib_module_names
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "ctxmw" or node.attr in ctxmw.__all__


def test_the_public_names_are_sorted_and_all_exist():
    assert sorted(ctxmw_langchain.__all__) == ctxmw_langchain.__all__
    assert all(hasattr(ctxmw_langchain, name) for name in ctxmw_langchain.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = ctxmw_langchain.nothing


def test_runnables_and_tools_need_langchain_core_only():
    code = (
        "import sys; sys.modules['langchain'] = sys.modules['langgraph'] = None\n"
        "import ctxmw_langchain\n"
        "try: ctxmw_langchain.ContextAgentMiddleware\n"
        "except ImportError as error: print(error)"
    )
    assert 'pip install "ctxmw[agents]"' in python(code)


def test_without_langchain_core_the_install_line_is_told():
    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "try: import ctxmw_langchain\n"
        "except ImportError as error: print(error)"
    )
    assert 'pip install "ctxmw[langchain]"' in python(code)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout
