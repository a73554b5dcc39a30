"""Every Python fence in the README and the docs runs, top to bottom, file by file."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from ctxmw import ContextMiddleware

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MORE = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
FILE = re.compile(r"`([a-z]+/[\w/.-]+\.(?:py|md|txt))`")
NAME = re.compile(r"`(ctxmw\.(?!toml)[\w.]+)`")
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_fences_of_a_page_run_in_order_and_hold_what_they_claim(
    page, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    if "DATABASE_URL" in text:
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres"))
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start(1))
        exec(compile("\n" * line + match[1], str(page), "exec"), names)
    for value in names.values():
        if isinstance(value, ContextMiddleware):
            value.close()


def test_the_readme_shows_the_two_commands_and_a_fence_that_asserts():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    assert any("assert" in fence for fence in FENCE.findall(text))


def test_figures_that_stand_on_two_pages_are_the_same():
    row = re.compile(r"^\| (?:plain|`search|`prepare).*\|$", re.MULTILINE)
    searching = (ROOT / "docs" / "searching.md").read_text(encoding="utf-8")
    benchmarks = (ROOT / "docs" / "about" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(row.findall(searching)) >= 4
    assert row.findall(benchmarks) == row.findall(searching)


@pytest.mark.parametrize("page", [*PAGES, *MORE], ids=lambda page: page.name)
def test_files_and_names_of_ours_that_a_page_mentions_exist(page):
    text = page.read_text(encoding="utf-8")
    missing = [
        path
        for path in FILE.findall(text)
        if not (ROOT / path).exists() and not (ROOT / "ctxmw" / path).exists()
    ]
    assert missing == []
    for name in NAME.findall(text):
        resolve_name(name)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "concepts").glob("*.md")))
def test_the_page_of_a_stage_names_its_room(page):
    rooms = re.findall(r"`(ctxmw/[a-z/]+)`", page.read_text(encoding="utf-8"))
    assert rooms
    assert all((ROOT / room / "__init__.py").exists() for room in rooms)
