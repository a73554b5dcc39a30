"""The reference says what the code says, and the shell commands of the docs do what they claim."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ctxmw import Settings
from docs.reference import pages

DOCS = Path(__file__).parents[2] / "docs"
SHELL = re.compile(r"^```shell\n(.*?)^```", re.DOTALL | re.MULTILINE)
TOML = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_a_page_is_as_the_code_has_it(path):
    assert path.read_text("utf-8") == pages()[path], "run make reference"


def test_the_commands_of_the_docs_work_one_after_the_other(tmp_path):
    fences = SHELL.findall((DOCS / "cli.md").read_text("utf-8"))
    assert len(fences) >= 5
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = "set -eo pipefail\n" + "\n".join(fences)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "CTXMW_STORE": str(tmp_path / "memory.db")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Tokens are signed with RS256." in done.stdout


def test_the_settings_of_the_docs_are_settings():
    for fence in TOML.findall((DOCS / "cli.md").read_text("utf-8")):
        Settings.model_validate(tomllib.loads(fence))
