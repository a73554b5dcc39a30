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
