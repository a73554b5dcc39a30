"""Whether a message brings the code it is about, and nothing when it is about something else.

    python -m benchmarks.code_context [--messages 200] [--seed 7]

Indexes the installed langchain_core. Messages are made from its own symbols, paths and docstrings,
read with `ast` here and not taken from our index; ordinary ones are in benchmarks/data.
"""

from __future__ import annotations

import ast
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.report import Benchmark, Line
from benchmarks.timing import percentiles
from ctxmw import ContextMiddleware, Prepared
from ctxmw.code.relations import related
from ctxmw.recall.outcome import ItemOutcome

DATA = Path(__file__).parent / "data"
PROJECT = "langchain_core"
CODE = ("module", "class", "function", "method", "constant", "file")
MEMORIES = (
    "Prefer early returns.",
    "Streaming goes through astream_events only.",
    "The release is cut on Thursdays.",
    "Tool schemas are generated, never written by hand.",
    "Never log prompts in production.",
)
NAMED = (
    "How does {name} work?",
    "What does {name} do exactly?",
    "I get a strange result from {name}, any idea why?",
    "Please add a parameter to {name}",
    "Working on {name} now",
    "Can you explain {name} to me?",
    "Why is {name} so slow?",
    "write a test for {name}",
)
FILES = (
    "Look at {path} for the implementation",
    "What is in {path}?",
    "I changed {path}, please review it",
    "Please refactor {path}.",
    "There is a bug in {path}, can you find it?",
)
TOLD = (
    "Where is the code that would {doc}?",
    "Which function is there to {doc}?",
    "How do we {doc}?",
    "I need something to {doc}",
    "What is responsible here: {doc}?",
)


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition, as Python itself reads it."""

    path: str
    name: str
    line: int
    doc: str


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    message: str
    path: str
    line: int | None
    name: str = ""


BENCHMARK = Benchmark(
    name="code_context",
    about=__doc__,
    data="the installed langchain_core, and lists of ordinary chat of ours",
    seed=7,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=BENCHMARK.seed)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen.messages, chosen.seed, show=chosen.show), chosen)


def measured(messages: int, seed: int, *, show: bool = False) -> Iterator[Line]:
    import langchain_core

    root = Path(langchain_core.__file__).parent
    cases = list(built(list(defined_in(root)), messages, Random(seed)))
    folder = tempfile.TemporaryDirectory()
    with folder, ContextMiddleware.open(Path(folder.name) / "memory.db") as ctx:
        started = time.process_time()
        found = ctx.index_code(root, project=PROJECT)
        spent = time.process_time() - started
        figures = {"definitions": found.entities, "files": found.files, "s CPU": round(spent, 2)}
        yield Line("indexed", figures)
        for text in MEMORIES:
            ctx.remember(text, kind="decision", scope=f"project:{PROJECT}")
        yield from about_code(ctx, cases, show=show)
        yield from ordinary(ctx, show=show)
        yield from running(ctx, cases)


def about_code(ctx: ContextMiddleware, cases: list[Case], *, show: bool) -> Iterator[Line]:
    right: Counter[str] = Counter()
    total = Counter(case.kind for case in cases)
    injected = wanted = 0
    wall, cpu, missed = [], [], []
    for case in cases:
        began, used = time.perf_counter(), time.thread_time()
        prepared = asked(ctx, case.message)
        wall.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.thread_time() - used))
        shown = code_in(prepared)
        part = prepared.context.part
        good = [one for one in shown if is_wanted(one, case) or is_within(one, case, part)]
        right[case.kind] += bool(good)
        injected += sum(one.tokens for one in shown)
        wanted += sum(one.tokens for one in shown if one in good or is_near(ctx, one, case))
        if not good:
            names = [one.name for one in shown]
            missed.append(f"{case.message!r} wants {case.path}:{case.line}, got {names}")
    for kind, n in {**total, "all": len(cases)}.items():
        found = right.total() if kind == "all" else right[kind]
        notes = tuple(missed) if show and kind == "all" else ()
        yield Line(kind, {"of": n, "right %": _share(found, n)}, "the right entity", notes)
    figures = {"of": injected, "wanted or near %": _share(wanted, injected)}
    yield Line("tokens of code", figures)
    yield Line("prepare, first turn", percentiles(wall), table="ms")
    yield Line("prepare, first turn, CPU", percentiles(cpu), table="ms")


def ordinary(ctx: ContextMiddleware, *, show: bool) -> Iterator[Line]:
    for name in ("ordinary_chat", "small_talk_held_out"):
        lines = (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        with_code, with_any = [], []
        for line in lines:
            prepared = asked(ctx, line)
            with_code += [line] if code_in(prepared) else []
            with_any += [line] if prepared.context.part else []
        figures = {
            "of": len(lines),
            "code %": _share(len(with_code), len(lines)),
            "anything %": _share(len(with_any), len(lines)),
        }
        notes = tuple(dict.fromkeys([*with_code, *with_any])) if show else ()
        yield Line(name, figures, table="messages that bring", notes=notes)


def _share(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


def running(ctx: ContextMiddleware, cases: list[Case]) -> Iterator[Line]:
    chat = ctx.session("running", project=PROJECT)
    messages: list[dict[str, str]] = []
    wall, cpu = [], []
    for case in cases:
        messages.append({"role": "user", "content": case.message})
        began, used = time.perf_counter(), time.thread_time()
        prepared = chat.prepare(list(messages))
        wall.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.thread_time() - used))
        chat.finish(prepared, "Done.")
        messages = [*messages[-20:], {"role": "assistant", "content": "Done."}]
    yield Line("prepare, next turn", percentiles(wall[1:]), table="ms")
    yield Line("prepare, next turn, CPU", percentiles(cpu[1:]), table="ms")


def asked(ctx: ContextMiddleware, text: str) -> Prepared:
    messages = [{"role": "user", "content": text}]
    return ctx.session(project=PROJECT).prepare(messages, capture=False)


def code_in(prepared: Prepared) -> list[ItemOutcome]:
    every = prepared.context.used
    return [one for one in every if one.kind in CODE and one.shown != "none"]


def is_wanted(one: ItemOutcome, case: Case) -> bool:
    if case.line is None:
        return one.name == case.path
    return one.name.endswith(f" in {case.path}:{case.line}")


def is_within(one: ItemOutcome, case: Case, part: str) -> bool:
    """Say whether a file that was found is shown with the definition that is meant."""
    return one.name == case.path and f" {case.line}: " in part


def is_near(ctx: ContextMiddleware, one: ItemOutcome, case: Case) -> bool:
    """Say whether an item is a direct neighbour: the class, a member, the file, or a relation."""
    name, _, place = one.name.partition(" in ")
    path = place.rpartition(":")[0] or one.name
    if path == case.path and (one.kind in ("file", "module") or case.line is None):
        return True
    outer = {case.name.rpartition(".")[0], name.rpartition(".")[0]} - {""}
    if path == case.path and (case.name in outer or name in outer):
        return True
    with ctx._recall.surroundings.codebase.use("local", PROJECT) as code:
        assert code is not None
        here = [d for d in code.in_file(case.path) if d.entity.line == case.line]
        return any(other.place == place for d in here for _, other in related(code, d, 1000))


def defined_in(root: Path) -> Iterator[Defined]:
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield _defined(path, node, "")
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield _defined(path, inner, f"{node.name}.")


def _defined(
    path: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, inside: str
) -> Defined:
    doc = (ast.get_docstring(node) or "").partition("\n")[0]
    return Defined(path, inside + node.name, node.lineno, doc)


def built(defined: list[Defined], n: int, random: Random) -> Iterator[Case]:
    """Yield the messages: a third each of plain names and of names with their class, the rest
    files and what docstrings tell."""
    names = Counter(one.name.rpartition(".")[2] for one in defined)
    whole = Counter(one.name for one in defined)
    plain = [
        one
        for one in defined
        if "." not in one.name and names[one.name] == 1 and _looks_like_code(one.name)
    ]
    methods = [
        one for one in defined if "." in one.name and whole[one.name] == 1 and "__" not in one.name
    ]
    docs = Counter(one.doc for one in defined)
    told = [
        one
        for one in defined
        if docs[one.doc] == 1 and 5 <= len(one.doc.split()) <= 14 and "__" not in one.name
    ]
    for one in random.sample(plain, n * 3 // 10):
        said = random.choice(("{}", "`{}`", "{}", "the {} thing")).format(one.name)
        yield Case("symbol", random.choice(NAMED).format(name=said), one.path, one.line, one.name)
    for one in random.sample(methods, n * 3 // 10):
        cls, _, own = one.name.partition(".")
        ways = (f"{one.name}", f"{one.name}()", f"`{one.name}`", f"the `{own}` method of {cls}")
        yield Case(
            "method",
            random.choice(NAMED).format(name=random.choice(ways)),
            one.path,
            one.line,
            one.name,
        )
    for one in random.sample(defined, n // 10):
        ways = (
            one.path,
            f"./{one.path}",
            f"{PROJECT}/{one.path}"[len(PROJECT) + 1 :],
            one.path.replace("/", "\\"),
        )
        yield Case("path", random.choice(FILES).format(path=random.choice(ways)), one.path, None)
    for one in random.sample(plain, n // 10):
        at = f"{one.path}:{one.line}"
        yield Case("line", random.choice(FILES).format(path=at), one.path, one.line, one.name)
    for one in random.sample(told, n - 2 * (n * 3 // 10) - 2 * (n // 10)):
        doc = one.doc.replace("`", "").rstrip(".")
        doc = doc[:1].lower() + doc[1:]
        yield Case("docstring", random.choice(TOLD).format(doc=doc), one.path, one.line, one.name)


def _looks_like_code(name: str) -> bool:
    return "_" in name.strip("_") or any(c.isupper() for c in name[1:])


if __name__ == "__main__":
    main()
