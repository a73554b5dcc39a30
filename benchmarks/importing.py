"""How long it takes to take in what another memory left.

    python -m benchmarks.importing [--records 100000] [--chats 0]

Writes an export, and takes it in twice: the second time everything is there already. Conversations
are all stored first, and can be found; then they are learned from.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware

_START = datetime(2024, 1, 1, tzinfo=UTC)
_THINGS = ("tea", "trains", "window seats", "short answers", "metric units", "dark themes")


BENCHMARK = Benchmark(
    name="importing", about=__doc__, data="an export that is made up here", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--chats", type=int, default=0, help="conversations of 10 messages instead")
    chosen = parser.parse_args()
    BENCHMARK.tell(taken_in(chosen.records, chosen.chats), chosen)


def taken_in(records: int, chats: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="ctxmw-") as folder:
        path = Path(folder)
        source = _chats(path, chats) if chats else _mem0(path, records)
        with ContextMiddleware.open(path / "memory.db") as ctx:
            for run in ("first", "again"):
                began, worked = time.perf_counter(), time.process_time()
                stored = [0.0]

                def told(done: int, total: int, stored: list[float] = stored) -> None:
                    if done <= total // 2:
                        stored[0] = time.process_time()

                taken = ctx.import_from(source, path / f"{source}.json", progress=told)
                took, cpu = time.perf_counter() - began, time.process_time() - worked
                values = {"s": round(took, 1), "s of CPU": round(cpu, 1)}
                if chats:
                    values["s of CPU to store"] = round(stored[0] - worked, 1)
                yield Line(run, values, notes=(str(taken),))


def _mem0(folder: Path, records: int) -> str:
    found = [
        {
            "id": f"id-{n}",
            "memory": f"Person {n % 997} likes {_THINGS[n % 6]} on day {n} of the year.",
            "user_id": "ada",
            "created_at": (_START + timedelta(minutes=n)).isoformat(),
            "metadata": {"category": _THINGS[n % 6]},
        }
        for n in range(records)
    ]
    (folder / "mem0.json").write_text(json.dumps({"results": found}))
    return "mem0"


def _chats(folder: Path, chats: int) -> str:
    found = []
    for n in range(chats):
        at = _START + timedelta(hours=n)
        said = [
            {
                "uuid": f"{n}-{m}",
                "sender": ("human", "assistant")[m % 2],
                "text": f"Message {m} of chat {n} is about {_THINGS[(n + m) % 6]}.",
                "created_at": (at + timedelta(minutes=m)).isoformat(),
            }
            for m in range(10)
        ]
        found.append({"uuid": f"chat-{n}", "name": f"Chat {n}", "chat_messages": said})
    (folder / "claude.json").write_text(json.dumps(found))
    return "claude"


if __name__ == "__main__":
    main()
