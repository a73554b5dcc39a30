"""Which files of ours the main calls run through, and how often they go from one to another.

    python -m benchmarks.walks [--files] [--json FILE] [--markdown]

Every walk has a memory of its own: a fresh SQLite file with 41 memories, no embedder. It is gone
once unseen, so that nothing is loaded or compiled in the walk that counts.

files      entered at least once, ctxmw's and the adapters'
functions  of them, generators and lambdas too; no comprehensions, which newer Pythons inline
switches   entries that are not in the file of the entry before, thread by thread
back       switches to a file that was entered before
rooms      folders below `ctxmw`; an adapter is one
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ctxmw
from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware, Session, memory_tools

ADAPTERS = ("ctxmw_langchain", "ctxmw_llamaindex", "ctxmw_mcp")
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")
PATIENCE = 60_000.0
"""Milliseconds for a search: who is traced is slow."""
WINDOW = 8_000
"""Tokens of the model whose conversation is compacted."""

Call = Callable[[], object]
Start = Callable[[ContextMiddleware], Call]
"""Brings a memory to where a walk begins, and returns the walk."""
Message = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A file that a walk runs through."""

    file: str
    first: str
    """The function by which it is entered first."""
    functions: tuple[str, ...]
    """All that run in it, in order of their first call."""
    entries: int
    """How often a call comes in from another file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What one call runs through."""

    name: str
    files: tuple[Entered, ...]
    """In order of their first entry."""
    functions: int
    switches: int
    back: int
    rooms: tuple[str, ...]


BENCHMARK = Benchmark(name="walks", about=__doc__, data="41 made-up memories", seed=None)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--files", action="store_true", help="every walk file by file")
    parser.add_argument("--markdown", action="store_true", help="as CONTRIBUTING has it")
    chosen = parser.parse_args()
    if chosen.markdown:
        print(_markdown([walk(name) for name in WALKS]))
        return
    BENCHMARK.tell((_row(walk(name), files=chosen.files) for name in WALKS), chosen)


def walk(name: str) -> Walk:
    """Go a walk twice, the first time unseen, and return what it ran through."""
    with _memory() as ctx:
        WALKS[name](ctx)()
    with _memory() as ctx:
        calls = _traced(WALKS[name](ctx))
    return _summed_up(name, calls)


@contextmanager
def _memory() -> Iterator[ContextMiddleware]:
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(Path(folder) / "memory.db", deadline=PATIENCE) as ctx,
    ):
        for number, (subject, said) in enumerate(SAID):
            kind, scope = KINDS[number % len(KINDS)], SCOPES[number % len(SCOPES)]
            ctx.remember(said.format(subject), kind=kind, scope=scope)
        yield ctx


KINDS = ("fact", "decision", "correction", "fact", "rule")
SCOPES = ("universal", "language:python", "project:shop")
_SUBJECTS = ("the checkout", "the database", "a release", "the tests", "an invoice", "the search")
_SENTENCES = (
    (
        "We decided that {} is written in Python, typed throughout and reviewed by two people, "
        "because the first version had faults that a second pair of eyes would have seen."
    ),
    (
        "Never change {} on a Friday afternoon: nobody is there at the weekend to mend a fault, "
        "and customers in other countries go on with their orders until late at night."
    ),
    (
        "I prefer short functions and plain names in {}, a test for everything it promises, and a "
        "comment only where a reader would otherwise ask why something is done in this way."
    ),
    (
        "What goes wrong in {} is reported to Ana before anybody else, with the time it began, the "
        "number of orders that are held up, and the name of whoever looks into it."
    ),
    (
        "Benchmarks of {} are kept beside its sources and run before it is handed to customers; a "
        "slower run than the last one is looked into before anything else is begun."
    ),
    (
        "Costs of {} are counted in cents, its dates are kept in UTC and shown in local time, and "
        "reports about them are sent to the accountants on the first working day of a month."
    ),
    (
        "Each part of {} has an owner: Ben looks after it in March, Cleo in the other months, "
        "and a list on the wall of the kitchen says whom to ask when both of them are away."
    ),
)
SAID = list(product(_SUBJECTS, _SENTENCES))[:41]


def _traced(call: Call) -> dict[int, list[CodeType]]:
    """Make a call, and return the functions of ours that were entered, thread by thread."""
    calls: dict[int, list[CodeType]] = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name not in INLINED and _file_of(code.co_filename):
            calls.setdefault(threading.get_ident(), []).append(code)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return calls


def _summed_up(name: str, calls: dict[int, list[CodeType]]) -> Walk:
    functions: dict[str, dict[CodeType, str]] = {}
    entries: Counter[str] = Counter()
    for entered in calls.values():
        last = ""
        for code in entered:
            file = _file_of(code.co_filename)
            functions.setdefault(file, {}).setdefault(code, _called(code))
            entries[file] += file != last
            last = file
    files = tuple(
        Entered(
            file=file,
            first=next(iter(found.values())),
            functions=tuple(dict.fromkeys(found.values())),
            entries=entries[file],
        )
        for file, found in functions.items()
    )
    # Nobody switches to the first file of a thread.
    switches = entries.total() - len(calls)
    return Walk(
        name=name,
        files=files,
        functions=sum(map(len, functions.values())),
        switches=switches,
        back=entries.total() - len(files),
        rooms=tuple(dict.fromkeys(map(_room, functions))),
    )


@cache
def _file_of(filename: str) -> str:
    """Return a file of ours, as seen from ctxmw or the folder of the adapters; "" of others."""
    path = Path(filename)
    if path.is_relative_to(_PACKAGE):
        return path.relative_to(_PACKAGE).as_posix()
    ours = [parent for parent in path.parents if parent.name in ADAPTERS]
    return path.relative_to(ours[0].parent).as_posix() if ours else ""


_PACKAGE = Path(ctxmw.__file__).parent


def _room(file: str) -> str:
    return file.partition("/")[0] if "/" in file else "top"


def _called(code: CodeType) -> str:
    """Return the name of a function; of what is defined inside of one, that of the outer one."""
    outer = code.co_qualname.partition(".<locals>")[0]
    return outer.rpartition(".")[2] if not outer.endswith("__init__") else outer.split(".")[-2]


def _chat(ctx: ContextMiddleware) -> Session:
    return ctx.session("walk", project="shop", language="python")


def _asked(number: int) -> list[Message]:
    """Return a conversation up to its next question."""
    return [
        {"role": "system", "content": "You help with a shop."},
        *(message for turn in _TURNS[:number] for message in turn),
        _TURNS[number][0],
    ]


def _turn(asked: str, answered: str) -> tuple[Message, Message]:
    return {"role": "user", "content": asked}, {"role": "assistant", "content": answered}


_TURNS = (
    _turn(
        "Who is told when something goes wrong in the checkout?",
        "Ana is told before anybody else. The owner of the part hears of it in the same hour.",
    ),
    _turn(
        "We decided to keep invoices for ten years. May I change the database on a Friday?",
        "No: never on a Friday afternoon. I noted that invoices are kept for ten years.",
    ),
)


def _long() -> list[Message]:
    """Return a conversation that is too long for the window."""
    turns = [
        _turn(
            f"Step {number}: what does {subject} do in module_{number}.py? {said.format(subject)}",
            f"In module_{number}.py {subject} reads its settings, checks them, and hands on "
            f"{number} rows. {said.format(subject)} " * 4,
        )
        for number, (subject, said) in enumerate(SAID)
    ]
    return [*_asked(0)[:1], *(message for turn in turns for message in turn), _TURNS[1][0]]


def _first_prepare(ctx: ContextMiddleware) -> Call:
    return partial(_chat(ctx).prepare, _asked(0))


def _second_prepare(ctx: ContextMiddleware) -> Call:
    chat = _chat(ctx)
    chat.finish(chat.prepare(_asked(0)), _TURNS[0][1])
    return partial(chat.prepare, _asked(1))


def _remember(ctx: ContextMiddleware) -> Call:
    return partial(ctx.remember, "Ports of the shop start at 8100.", kind="rule")


def _finish(ctx: ContextMiddleware) -> Call:
    prepared = _second_prepare(ctx)()
    return partial(_chat(ctx).finish, prepared, _TURNS[1][1])  # type: ignore[arg-type]


def _search(ctx: ContextMiddleware) -> Call:
    _finish(ctx)()
    return partial(ctx.search, "How long are invoices kept?")


def _compaction(ctx: ContextMiddleware) -> Call:
    return partial(_chat(ctx).prepare, _long(), window=WINDOW)


def _agent(ctx: ContextMiddleware) -> Call:
    from langchain.agents import create_agent
    from langchain_core.language_models import FakeListChatModel

    from ctxmw_langchain import ContextAgentMiddleware

    class Model(FakeListChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    model = Model(responses=[_TURNS[0][1]["content"]])
    agent: Any = create_agent(model, middleware=[ContextAgentMiddleware(ctx)])
    config = {"configurable": {"thread_id": "walk"}}
    return partial(agent.invoke, {"messages": [_TURNS[0][0]]}, config)


def _mem_search(ctx: ContextMiddleware) -> Call:
    _finish(ctx)()
    tools = {tool.name: tool for tool in memory_tools(_chat(ctx))}
    return partial(tools["mem_search"], query="Who is told when something goes wrong?")


WALKS: dict[str, Start] = {
    "a prepare, first call": _first_prepare,
    "a prepare, second turn": _second_prepare,
    "b remember": _remember,
    "c finish": _finish,
    "c search afterwards": _search,
    "d automatic compaction": _compaction,
    "e LangChain agent, one call": _agent,
    "f mem_search": _mem_search,
}


def _row(one: Walk, *, files: bool) -> Line:
    entered = tuple(f"{at.file:<36}{at.entries:>7}  {', '.join(at.functions)}" for at in one.files)
    return Line(one.name, _figures(one), notes=entered if files else ())


def _figures(one: Walk) -> dict[str, int]:
    return {
        "files": len(one.files),
        "functions": one.functions,
        "switches": one.switches,
        "back": one.back,
        "rooms": len(one.rooms),
    }


def _markdown(walks: list[Walk]) -> str:
    table = [
        "| walk | files | functions | switches of file | back | rooms |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {' | '.join([one.name, *(f'{n:,}' for n in _figures(one).values())])} |"
            for one in walks
        ),
    ]
    return "\n".join([*table, *(f"\n{_told(one)}" for one in walks)])


def _told(one: Walk) -> str:
    way = " → ".join(f"{entered.file.removesuffix('.py')} {entered.first}" for entered in one.files)
    return f"**{one.name}**: {way}."


if __name__ == "__main__":
    main()
