"""A real VS Code in a browser: code-server, with the extension of this project installed.

`make editor` installs it beside the environment. It is large, so tests that need it are skipped
where it is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mcp.conftest import await_port, free_port
from tests.support.processes import running

PLACE = Path(os.environ.get("CTXMW_CODE_SERVER", Path(sys.prefix) / "editor"))
VSIX = PLACE / "ctxmw.vsix"
NODE = PLACE / "node_modules"
SETTINGS = {
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "workbench.enableExperiments": False,
    "extensions.ignoreRecommendations": True,
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "workbench.tree.renderIndentGuides": "none",
    "chat.commandCenter.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}


def why_not() -> str:
    """Return why there is no editor here; "" when there is one."""
    if not all(one.exists() for one in (PLACE / ".editor-installed", NODE / "node/bin/node")):
        return (
            "no VS Code here: run make editor, or make test-all, where Node's packages can be had"
        )
    return ""


@dataclass(frozen=True, kw_only=True)
class Editor:
    """An editor that runs."""

    url: str
    memory: Path
    """The store that its server has."""


@contextmanager
def editing(folder: Path, home: Path, *, command: str = "") -> Iterator[Editor]:
    """Run an editor on a folder, with everything of its own in `home`."""
    data, extensions, port = home / "data", home / "extensions", free_port()
    (data / "User").mkdir(parents=True)
    settings = {**SETTINGS, "ctxmw.command": command}
    (data / "User" / "settings.json").write_text(json.dumps(settings))
    path = f"{NODE / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ,
        "PATH": path,
        "HOME": str(home),
        "CTXMW_HOME": str(home / "memory"),
    }
    own = ["--user-data-dir", data, "--extensions-dir", extensions]
    code_server = [
        NODE / "node" / "bin" / "node",
        NODE / "code-server" / "out" / "node" / "entry.js",
        *own,
    ]
    subprocess.run(
        [*code_server, "--install-extension", VSIX],
        check=True,
        env=environment,
        capture_output=True,
    )
    alone = ["--auth", "none", "--disable-telemetry", "--disable-update-check"]
    where = ["--bind-addr", f"127.0.0.1:{port}", "--disable-workspace-trust"]
    with (home / "code-server.log").open("w") as said:
        options = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said, "env": environment}
        with running(*code_server, *alone, *where, folder, **options) as process:
            await_port(port, process, home / "code-server.log")
            yield Editor(
                url=f"http://127.0.0.1:{port}/?folder={folder}",
                memory=home / "memory" / "memory.db",
            )
            process.terminate()
            process.wait()
