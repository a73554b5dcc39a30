"""Whether the tools that a request needs are bound, and none where nobody asked for one.

`python -m benchmarks.tools --catalog TOOLS.jsonl --requests REQUESTS.jsonl --unrelated TALK.jsonl`:
tools as {"api_name", "api_description", "parameters"}, requests as {"question", "tools"}, each a
conversation of its own, and conversations whose users talk of other things (the first 40 turns of
each). Without files, the sixty tools of eight servers in `data/`. Their forty requests were
written before the search, and read while its table of everyday words (`text/other_words.py`) was:
they show what it does, and prove nothing of requests that nobody has seen. `--requests-of fresh`
and `held` are twenty that were written later, before what counts as plain was: of these a third was
not looked at.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware

DATA = Path(__file__).parent / "data"
TURNS, LOOKED_AT = 40, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asks for, and the tools it takes."""

    text: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was bound."""

    recall: float
    """The mean share of a request's tools that were bound."""
    hits: int
    """Requests with at least one of their tools."""
    nothing: int
    """Requests that brought no tool at all."""
    milliseconds: float
    """The median processor time of preparing one, a conversation's first call, all that is written
    included ..."""
    searching: float
    """... and of the search for its tools alone."""
    unrelated: float
    """The share of other turns that brought a tool."""


def measure(
    ctx: ContextMiddleware, requests: Sequence[Request], unrelated: Sequence[str]
) -> Outcome:
    """Ask for everything, each in a new conversation."""
    shares, times, searched, empty = [], [], [], 0
    index = ctx.catalog.view().index
    ctx.session("warm").prepare([{"role": "user", "content": "Which tools are there?"}])
    for number, request in enumerate(requests):
        began = time.process_time()
        tools = _bound(ctx, f"r{number}", request.text)
        times.append(1000 * (time.process_time() - began))
        began = time.process_time()
        index.called_for(request.text, LOOKED_AT)
        searched.append(1000 * (time.process_time() - began))
        shares.append(len(set(tools).intersection(request.tools)) / len(request.tools))
        empty += not tools
    talk = [bool(_bound(ctx, f"u{number}", text)) for number, text in enumerate(unrelated)]
    return Outcome(
        recall=statistics.mean(shares),
        hits=sum(share > 0 for share in shares),
        nothing=empty,
        milliseconds=statistics.median(times),
        searching=statistics.median(searched),
        unrelated=statistics.mean(talk) if talk else 0.0,
    )


def _bound(ctx: ContextMiddleware, session: str, text: str) -> tuple[str, ...]:
    return ctx.session(session).prepare([{"role": "user", "content": text}], capture=False).tools


BENCHMARK = Benchmark(
    name="tools",
    about=__doc__,
    data="tools and requests, others' or of benchmarks/data",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--catalog", type=Path)
    parser.add_argument("--requests", type=Path)
    parser.add_argument("--unrelated", type=Path)
    parser.add_argument("--embedder")
    parser.add_argument("--requests-of", choices=("first", "fresh", "held"), default="first")
    parser.add_argument("--most", type=int, help="requests, for a quick look")
    given = parser.parse_args()
    read = [path for path in (given.catalog, given.requests, given.unrelated) if path]
    BENCHMARK.tell(measured(given), given, read)


def measured(given: Any) -> Iterator[Line]:
    unrelated = list(_talk(given.unrelated)) if given.unrelated else []
    with (
        TemporaryDirectory() as folder,
        ContextMiddleware.open(
            Path(folder, "tools.db"), embedder=given.embedder, deadline=None
        ) as ctx,
    ):
        if given.catalog:
            ctx.catalog.add_tools([_schema(row) for row in _rows(given.catalog)])
            requests = [_request(row, "question") for row in _rows(given.requests)]
        else:
            _offer_ours(ctx)
            requests = list(_own_requests(given.requests_of))
        requests = requests[: given.most]
        outcome = measure(ctx, requests, unrelated)
    figures = {
        "of": len(requests),
        "recall@5 %": round(100 * outcome.recall, 1),
        "one right": outcome.hits,
        "none bound": outcome.nothing,
        "prepare CPU p50 ms": round(outcome.milliseconds, 1),
        "search CPU p50 ms": round(outcome.searching, 1),
    }
    yield Line("requests", figures)
    share = round(100 * outcome.unrelated, 1)
    yield Line("unrelated turns", {"of": len(unrelated), "bring a tool %": share})


def _offer_ours(ctx: ContextMiddleware) -> None:
    rows = list(_rows(DATA / "offered_tools.jsonl"))
    for server in dict.fromkeys(row["server"] for row in rows):
        own = [row for row in rows if row["server"] == server]
        ctx.catalog.add_tools([_schema(row) for row in own], server=server)


def _own_requests(which: str) -> Iterator[Request]:
    """Yield the first forty, or the later twenty: those that may be looked at, or the others."""
    if which == "first":
        yield from (_request(row, "request") for row in _rows(DATA / "tool_requests.jsonl"))
        return
    for row in _rows(DATA / "tool_requests_fresh.jsonl"):
        if row["held"] == (which == "held"):
            yield _request(row, "request")


def _schema(row: dict[str, Any]) -> dict[str, Any]:
    # Of parameters the names alone: a catalog of an application rarely says more.
    return {
        "name": row.get("name") or row["api_name"],
        "description": row.get("description") or row["api_description"],
        "parameters": {"properties": {name: {} for name in row["parameters"]}},
    }


def _request(row: dict[str, Any], key: str) -> Request:
    return Request(text=row[key], tools=tuple(row["tools"]))


def _talk(path: Path) -> Iterator[str]:
    for row in _rows(path):
        said = [item["text"] for item in row["items"] if item["speaker"] == "user"]
        yield from said[:TURNS]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
