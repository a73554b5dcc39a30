"""What the adapter imports, and what it says about versions."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings
from pathlib import Path

import pydantic
import pytest

import ctxmw
import ctxmw_llamaindex
from ctxmw_llamaindex.versions import warn_of_pydantic

FILES = sorted(Path(ctxmw_llamaindex.__file__).parent.glob("*.py"))
FRAMEWORK = {"llama_index", "llama_index_instrumentation", "workflows", "pydantic"}


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
        assert top in FRAMEWORK or top in sys.stdlib_module_names, top


def test_the_public_names_are_sorted_and_all_exist():
    assert sorted(ctxmw_llamaindex.__all__) == ctxmw_llamaindex.__all__
    assert all(hasattr(ctxmw_llamaindex, name) for name in ctxmw_llamaindex.__all__)


def test_it_is_quiet_with_the_pydantic_that_works():
    assert pydantic.VERSION.startswith("2.13.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for version in ("2.10.6", "2.13.5", pydantic.VERSION):
            warn_of_pydantic(version)


@pytest.mark.parametrize("version", ["2.14.0", "2.14.3", "2.15.0b1", "3.0.0"])
def test_it_says_what_a_newer_pydantic_breaks_and_what_to_do(version):
    with pytest.warns(RuntimeWarning, match="agents forget the chat between runs") as told:
        warn_of_pydantic(version)
    assert version in str(told[0].message)
    assert 'pip install "pydantic<2.14"' in str(told[0].message)


def test_a_missing_framework_is_named_with_the_line_that_installs_it():
    code = "import sys; sys.modules['llama_index'] = None; import ctxmw_llamaindex"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'pip install "ctxmw[llamaindex]"' in done.stderr
