"""How long it takes from a notice leaving an editor until it is stored, over HTTP with a token.

    python -m benchmarks.notices [--files 300] [--notices 200] [--editor]

As the extension for VS Code does it: one request for each edit, after its debounce, to a server
that serves the editor and chat. Beside it, request by request, two controls: the same way without
a word for the memory (`server/discover`), and a fixed piece of work, which tells how busy the
machine is. What is saved was changed before, and is read again until the answer comes. With
`--editor` a real VS Code is driven (`make editor` installs it), and the extension's own times are
taken.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.code_index import copied
from benchmarks.report import Benchmark, Line
from benchmarks.timing import control, percentile, timed
from tests.mcp.conftest import await_port, free_port
from tests.support.processes import running

GOAL = 50.0
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


BENCHMARK = Benchmark(
    name="notices", about=__doc__, data="Python files of the installed packages", seed=7
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--notices", type=int, default=200)
    parser.add_argument("--editor", action="store_true", help="drive a real VS Code as well")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "code"
        copied(folder, chosen.files)
        (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
        (folder / "edited.py").write_text("first = 1\n")
        BENCHMARK.tell(told(folder, Path(name), chosen.notices, editor=chosen.editor), chosen)


def told(folder: Path, home: Path, notices: int, *, editor: bool) -> Iterator[Line]:
    for what, times in measured(folder, home / "memory", notices).items():
        yield line_of(what, times)
    if editor:
        times = in_an_editor(folder, home / "vscode", notices)
        yield line_of("edit, told by VS Code", times)


def line_of(what: str, times: Sequence[float]) -> Line:
    figures = {"p50": round(percentile(times, 0.5), 1), "p95": round(percentile(times, 0.95), 1)}
    goal = GOAL if what.startswith("edit") else None
    more = {"max": round(max(times), 1), "n": len(times), "goal p95": goal}
    return Line(what, {**figures, **more}, table="ms, stored when the answer comes")


def measured(folder: Path, home: Path, notices: int) -> dict[str, list[float]]:
    """Return the times of each kind of request."""
    files = sorted(folder.rglob("*.py"))[:20]
    times: dict[str, list[float]] = defaultdict(list)
    with serving(folder, home) as server:
        server.ask("ctxmw/activity", {"type": "session_start"})
        for number in range(notices):
            path = files[number % len(files)]
            named = {"filePath": path.relative_to(folder).as_posix(), "changedSymbols": ["main"]}
            edit = {"type": "file_edit", **named}
            times["edit"].append(timed(lambda edit=edit: server.ask("ctxmw/activity", edit)))
            times["control: nothing asked"].append(timed(lambda: server.ask("server/discover", {})))
            times["control: fixed work"].append(control())
            if number % 5 == 0:
                path.write_text(path.read_text("utf-8") + f"\nSAVED_{number} = {number}\n", "utf-8")
                saved = {"type": "file_save", **named}
                times["save, read again"].append(
                    timed(lambda saved=saved: server.ask("ctxmw/activity", saved))
                )
    return times


class Server:
    """A server over one connection that stays open, as an editor has it."""

    def __init__(self, port: int, token: str) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._token = token

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {self._token}",
            "mcp-protocol-version": VERSION,
            "mcp-method": method,
        }
        self._line.request("POST", "/mcp", json.dumps(request), headers)
        answer: dict[str, Any] = json.loads(self._line.getresponse().read())
        if "error" in answer:
            raise SystemExit(answer["error"]["message"])
        return dict(answer["result"])

    def close(self) -> None:
        self._line.close()


@contextmanager
def serving(folder: Path, home: Path) -> Iterator[Server]:
    """Have a server of the folder, begun as the extension begins it; its code is indexed."""
    port, token = free_port(), secrets.token_hex(32)
    environment = {**os.environ, "CTXMW_HOME": str(home), "CTXMW_TOKEN": token}
    ctxmw = [sys.executable, "-m", "ctxmw"]
    with running(*ctxmw, "index", str(folder), cwd=folder, env=environment) as indexing:
        indexing.communicate()
    begun = [*ctxmw, "mcp", "--http", "--while-piped", "--port", str(port)]
    with running(*begun, cwd=folder, env=environment) as process:
        await_port(port, process)
        server = Server(port, token)
        yield server
        server.close()


def in_an_editor(folder: Path, home: Path, notices: int) -> list[float]:
    """Return the times that the extension itself took, from a notice to the memory's answer."""
    from tests.support import chromium, code_server

    if why := code_server.why_not() or chromium.why_not():
        raise SystemExit(why)
    home.mkdir()
    command = str(Path(sys.executable).with_name("ctxmw"))
    with code_server.editing(folder, home, command=command) as editor, chromium.chromium() as one:
        page = one.new_page(viewport={"width": 1400, "height": 4000})
        page.set_default_timeout(300_000)
        page.goto(editor.url)
        page.locator(".statusbar-item", has_text=" tokens").wait_for()
        page.locator(".explorer-folders-view .monaco-list-row", has_text="edited.py").dblclick()
        page.locator(".editor-instance .view-line").first.click()
        for _ in range(min(notices, 150)):
            page.keyboard.type("#")
            page.wait_for_timeout(500)  # longer than the debounce: each is a notice of its own
        page.keyboard.press("F1")
        page.locator(".quick-input-widget input").first.fill(">ctxmw: Show what was told")
        page.locator(".quick-input-list .monaco-list-row").first.click()
        page.get_by_text("What the memory was told").first.wait_for()
        lines = page.locator(".editor-instance .view-line").all_inner_texts()
        page.close()
    told = " ".join(lines).replace("\xa0", " ")
    return [
        float(found) for found in re.findall(r"file_edit [^\n]*?stored after ([\d.]+) ms", told)
    ]


if __name__ == "__main__":
    main()
