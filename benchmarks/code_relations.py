"""Whether the relations between files and definitions are true, by a tool that compiles.

    python -m benchmarks.code_relations python FOLDER --tool ENV/bin/python
    python -m benchmarks.code_relations typescript FOLDER --tool DIR/node_modules
    python -m benchmarks.code_relations go FOLDER --tool go
    python -m benchmarks.code_relations rust FOLDER --tool rustc

FOLDER is indexed, and what is told of it is compared with what the tool tells: precision is the
share of our relations that the tool tells too, recall the share of the tool's that we tell. Nothing
is downloaded here; by hand, outside the project:

    python -m venv ENV && ENV/bin/pip install jedi
    pip download --no-deps --only-binary :all: httpx==0.27.2     (a wheel is a FOLDER once unzipped)
    npm install --prefix DIR typescript@5 rxjs@7 zod@3.25.76     (DIR/node_modules/rxjs is a FOLDER)
    apt-get install golang; apt-get download golang-github-gin-gonic-gin-dev   (dpkg -x unpacks it)
    apt-get install rustc; apt-get download librust-clap-builder-dev

Python's calls are compared too; a call whose target jedi does not know is counted apart. Go is
compared by package, as `go list` tells it. Of Rust the tree of modules is compared, with the files
that rustc reads for a crate (`--emit=dep-info`, no dependency is needed).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.code.index import ProjectCode
from ctxmw.code.relations import related

HERE = Path(__file__).parent / "compilers"
Pair = tuple[str, str]


BENCHMARK = Benchmark(
    name="code_relations",
    about=__doc__,
    data="the source of a package, and what a compiler tells of it",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("language", choices=("python", "typescript", "go", "rust"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", required=True, help="what tells the truth; see above")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print so many that differ"
    )
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    with tempfile.TemporaryDirectory() as name, ContextMiddleware.open(Path(name) / "m.db") as ctx:
        ctx.index_code(folder, project="compared")
        with ctx._recall.surroundings.codebase.use("local", "compared") as code:
            if code is None:
                sys.exit(f"{folder} has no source files that are read")
            rows = compare(chosen.language, code, folder, chosen.tool, chosen.show)
            BENCHMARK.tell(rows, chosen, [folder])


def compare(language: str, code: ProjectCode, folder: Path, tool: str, show: int) -> Iterator[Line]:
    ours = {(one, two) for one in code.files for two in code.graph.imported(one)}
    if language == "python":
        told = asked([tool, str(HERE / "jedi_relations.py"), str(folder)])
        yield agreed("imports", ours, pairs(told["imports"]), show)
        yield from calls(code, told, show)
    elif language == "typescript":
        told = asked(["node", str(HERE / "typescript_imports.cjs"), str(folder), tool])
        yield agreed("imports", ours, pairs(told["imports"]), show)
    elif language == "go":
        seen, truth = listed(folder, tool)
        # Folders such as testdata are no packages for it.
        known = {dirname(one) for one in seen}
        packages = {(one, dirname(two)) for one, two in ours if one in seen}
        of_packages = {
            ((dirname(one), is_go_test(one)), two) for one, two in packages if two in known
        }
        yield agreed("packages", named(of_packages), named(truth), show)
    else:
        children = {("", two) for one, two in modules(code)}
        yield agreed("modules", children, compiled(code, folder, tool), show)


def asked(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} did not answer: {done.stderr[-600:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def pairs(told: Iterable[Iterable[str]]) -> set[Pair]:
    found = {(one, two) for one, two in told}
    return {(one, two) for one, two in found if one != two}


def agreed(what: str, ours: set[Pair], truth: set[Pair], show: int) -> Line:
    both = len(ours & truth)
    figures = {
        "told": len(ours),
        "of the tool": len(truth),
        "both": both,
        "precision %": share(both, len(ours)),
        "recall %": share(both, len(truth)),
    }
    differ = (("only ours", ours - truth), ("only the tool's", truth - ours))
    notes = [f"{who}: {one} -> {two}" for who, some in differ for one, two in sorted(some)[:show]]
    return Line(what, figures, notes=tuple(notes))


def share(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def calls(code: ProjectCode, told: dict[str, Any], show: int) -> Iterator[Line]:
    """Compare who calls what; a class that is called is its constructor as well."""
    truth: set[Pair] = set()
    for caller, path, _, line in told["calls"]:
        inside = [one for one in code.in_file(path) if one.entity.line == line]
        truth |= {(caller, f"{path}::{one.entity.name}") for one in inside}
    truth = {(one, two) for one, two in truth if one != two}
    told_names = {(caller, name) for caller, _, name, _ in told["calls"]}
    unknown = {(caller, name) for caller, _, name in told["unknown"]} - told_names
    ours = set(called(code))
    not_known = {one for one in ours - truth if (one[0], one[1].rpartition(".")[2]) in unknown}
    not_known |= {one for one in ours - truth if (one[0], one[1].rpartition("::")[2]) in unknown}
    yield agreed("calls", ours - not_known, truth, show)
    notes = tuple(f"not known: {one} -> {two}" for one, two in sorted(not_known)[:show])
    yield Line("calls of which jedi knows nothing", {"told": len(not_known)}, notes=notes)


def called(code: ProjectCode) -> Iterator[Pair]:
    for path in code.files:
        for one in code.in_file(path):
            if one.entity.kind in ("function", "method"):
                for relation, other in related(code, one, 10_000):
                    if relation == "calls":
                        yield f"{path}::{one.entity.name}", f"{other.path}::{other.entity.name}"
                    elif relation in ("called by", "tested by") and other.entity.kind != "class":
                        yield f"{other.path}::{other.entity.name}", f"{path}::{one.entity.name}"


def listed(folder: Path, tool: str) -> tuple[set[str], set[tuple[tuple[str, bool], str]]]:
    """Return the files that `go list` counts, and which package of the module imports which."""
    command = [tool, "list", "-e", "-json", "./..."]
    environment = os.environ | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GO111MODULE": "on"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    decoder, text, packages = json.JSONDecoder(), done.stdout.lstrip(), []
    while text:
        package, end = decoder.raw_decode(text)
        packages.append(package)
        text = text[end:].lstrip()
    where = {one["ImportPath"]: relative(one["Dir"], folder) for one in packages}
    seen: set[str] = set()
    truth: set[tuple[tuple[str, bool], str]] = set()
    for one in packages:
        own = where[one["ImportPath"]]
        for kind in ("", "Test", "XTest"):
            seen |= {f"{own}/{name}".lstrip("/") for name in one.get(f"{kind}GoFiles", ())}
            inside = [name for name in one.get(f"{kind}Imports", ()) if name in where]
            truth |= {((own, bool(kind)), where[name]) for name in inside}
    return seen, truth


def named(found: set[tuple[tuple[str, bool], str]]) -> set[Pair]:
    # A test of a package may import what it stands in.
    return {(f"{own}{' (tests)' if is_test else ''}", two) for (own, is_test), two in found}


def relative(path: str, folder: Path) -> str:
    own = Path(path).resolve().relative_to(folder).as_posix()
    return "" if own == "." else own


def is_go_test(path: str) -> bool:
    return path.endswith("_test.go")


def modules(code: ProjectCode) -> Iterator[Pair]:
    """Yield which file declares which other one as its module."""
    root = next((one for one in ("src/lib.rs", "src/main.rs") if one in code.files), "")
    waiting, seen = [root] if root else [], set(root)
    while waiting:
        one = waiting.pop()
        for text in code.files[one].imports:
            if text.startswith("mod "):
                for child in code.graph._targets(code.files[one], [text]):
                    yield one, child
                    if child not in seen:
                        seen.add(child)
                        waiting.append(child)


def compiled(code: ProjectCode, folder: Path, tool: str) -> set[Pair]:
    """Return the files that rustc reads for the crate, but for the one it begins with.

    With all features, and with and without what is only for tests and documentation.
    """
    root = next(one for one in ("src/lib.rs", "src/main.rs") if one in code.files)
    manifest = tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))
    optional = [name for name, one in manifest.get("dependencies", {}).items() if "optional" in one]
    features = [f'--cfg=feature="{name}"' for name in (*manifest.get("features", {}), *optional)]
    found: set[str] = set()
    for more in ([], ["--cfg=test", "--cfg=loom", "--cfg=docsrs"]):
        with tempfile.NamedTemporaryFile(suffix=".d") as out:
            # It stops at what it does not know, after all files were read.
            emit = ["--edition=2021", "--crate-type=lib", f"--emit=dep-info={out.name}"]
            subprocess.run(
                [tool, *emit, *features, *more, root], cwd=folder, capture_output=True, check=False
            )
            lines = Path(out.name).read_text("utf-8").splitlines()
        found |= {normpath(line.removesuffix(":")) for line in lines if line.endswith(".rs:")}
    return {("", path) for path in found if path != root and path.startswith("src/")}


if __name__ == "__main__":
    main()
