"""Which benchmarks there are, and what each of them tells.

python -m benchmarks
"""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    for name, about in sorted(listed().items()):
        print(f"{name:<16} {about}")
    print("\nmake bench NAME=prepare ARGS='--memories 1000'; ARGS=--help tells what each takes")


def listed() -> dict[str, str]:
    """Return the first line of each benchmark; none is imported."""
    files = [*HERE.glob("*.py"), HERE / "peers" / "__main__.py"]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file != Path(__file__)}
    return {
        (file.parent.name if file.stem == "__main__" else file.stem): _first_line(text)
        for file, text in texts.items()
        if "BENCHMARK = Benchmark(" in text
    }


def _first_line(text: str) -> str:
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
