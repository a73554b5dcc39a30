"""What the adapter imports, and what it says when its framework is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ctxmw
import ctxmw_mcp

FILES = sorted(Path(ctxmw_mcp.__file__).parent.glob("*.py"))
FRAMEWORK = {"anyio", "mcp", "mcp_types", "pydantic", "starlette", "uvicorn"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_imports_public_names_of_ctxmw_and_its_framework_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            top = str(node.module).partition(".")[0]
            if top == "ctxmw":
                assert node.module == "ctxmw", node.module
                assert {alias.name for alias in node.names} <= set(ctxmw.__all__)
                continue
        elif isinstance(node, ast.Import):
            top = node.names[0].name.partition(".")[0]
        else:
            continue
        assert top in {"ctxmw"} | FRAMEWORK or top in sys.stdlib_module_names, top


def test_nothing_private_of_the_framework_is_touched():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                owner = getattr(node.value, "id", "")
                assert owner in ("self", "ctxmw") or node.attr == "__version__", (path, node.attr)


def test_the_public_names_are_sorted_and_all_exist():
    assert sorted(ctxmw_mcp.__all__) == ctxmw_mcp.__all__
    assert all(hasattr(ctxmw_mcp, name) for name in ctxmw_mcp.__all__)


def test_without_mcp_the_command_says_what_to_install():
    code = (
        "import sys; sys.modules['mcp'] = None; from ctxmw.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert 'pip install "ctxmw[mcp]"' in done.stderr
