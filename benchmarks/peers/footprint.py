"""What an installation brings, and how long its first import takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INSTALLS = {
    "ctxmw": ([str(ROOT)], "ctxmw"),
    "Chroma": (["chromadb"], "chromadb"),
    "LlamaIndex Memory": (
        ["llama-index-core", "llama-index-vector-stores-chroma", "pydantic<2.14"],
        "llama_index.core.memory",
    ),
    "mem0": (["mem0ai"], "mem0"),
    "LangGraph store": (["langgraph"], "langgraph.store.memory"),
    "LangChain": (["langchain"], "langchain.agents.middleware"),
}
"""What one installs, and the module one imports."""


def measure(name: str) -> dict[str, Any]:
    """Install it into an empty environment; return its size, packages and time to import."""
    wanted, module = INSTALLS[name]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "env" / "bin" / "python"
        _run(sys.executable, "-m", "uv", "venv", "--quiet", str(python.parent.parent))
        _run(sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(python), *wanted)
        packages = next((python.parent.parent / "lib").glob("python*/site-packages"))
        size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
        count = len(list(packages.glob("*.dist-info")))
        # The first import writes the byte code.
        seconds = [_import_seconds(python, module) for _ in range(4)][1:]
    return {
        "packages": count,
        "megabytes": round(size / 1e6),
        "import_s": round(statistics.median(seconds), 2),
    }


def _import_seconds(python: Path, module: str) -> float:
    started = time.perf_counter()
    _run(str(python), "-c", f"import {module}")
    return time.perf_counter() - started


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
