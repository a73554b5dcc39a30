"""Every Python fence in the README and the docs runs, top to bottom, file by file."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

import pytest
from opentelemetry import trace

from ctxmw import ContextMiddleware
from docs import measured
from docs.measured import row_of
from tests.support.openai_stub import OpenAIStub

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MORE = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
FIGURES = sorted(measured.FIGURES.glob("*.json"))
FILE = re.compile(r"`([a-z]+/[\w/.-]+\.(?:py|md|txt))`")
NAME = re.compile(r"`(ctxmw\.(?!toml)[\w.]+)`")
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def openai(monkeypatch):
    """OpenAI's clients talk to a server on this machine."""
    with OpenAIStub() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, server.url)
        yield server


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_fences_of_a_page_run_in_order_and_hold_what_they_claim(
    page, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if "DATABASE_URL" in "".join(FENCE.findall(text)):
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres"))
    if page.name == "deepagents.md":
        pytest.importorskip("deepagents", reason="deepagents is not installed")
    if "OpenAI" in text:
        request.getfixturevalue("openai")
    if "set_tracer_provider" in text:
        # The process has one provider for good: the page's own is one for the page.
        monkeypatch.setattr(trace, "set_tracer_provider", partial(trace_with, monkeypatch))
    run(page)


def test_the_quick_start_brings_what_it_says_it_brings(tmp_path, monkeypatch, openai, capsys):
    monkeypatch.chdir(tmp_path)
    run(ROOT / "docs" / "quickstart.md")
    sent = [request["messages"] for request in openai.requests]
    tuesday, wednesday, local = sent[1], sent[2], sent[3]
    printed = capsys.readouterr().out
    shown = re.findall(r"^# (.+)$", (ROOT / "docs" / "quickstart.md").read_text("utf-8"), re.M)
    claimed = shown[shown.index("<ctxmw>") : shown.index("</ctxmw>") + 1]
    assert tuesday[0]["content"].rstrip() == "\n".join(claimed)
    assert "\n".join(claimed) in printed
    assert "too loud" in str(wednesday)
    assert "Prices are integers in cents." in str(local)
    ada, bob, hotels = (str(messages) for messages in sent[4:])
    assert "window seats" in hotels
    assert "vegetarian" in hotels
    assert "aisle" not in ada + hotels
    assert "window" not in bob


def trace_with(monkeypatch, provider):
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)


def test_the_service_of_the_docs_is_the_one_in_the_examples():
    page = (ROOT / "docs" / "fastapi.md").read_text("utf-8")
    service = (ROOT / "examples" / "fastapi" / "service.py").read_text("utf-8")
    assert service.partition("\n\n")[2] == FENCE.findall(page)[0]


def run(page: Path) -> None:
    """Run the fences of a page as its reader would, one after the other."""
    names: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start(1))
        exec(compile("\n" * line + match[1], str(page), "exec", dont_inherit=True), names)
    for value in names.values():
        if isinstance(value, ContextMiddleware):
            value.close()


def test_the_readme_shows_the_two_commands_and_a_fence_that_asserts():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    assert any("assert" in fence for fence in FENCE.findall(text))


def test_figures_that_stand_on_two_pages_are_the_same():
    searching = (ROOT / "docs" / "searching.md").read_text(encoding="utf-8")
    sets = ("locomo-dev", "realtalk-dev", "beam100k-dev")
    found = [row_of("retrieval-search", name)["rec@1000"] for name in sets]
    shown = [row_of("retrieval-prepare", name)["part"] for name in sets]
    assert f"| `search`, no embedder | {' | '.join(map(str, found))} |" in searching
    assert f"| `prepare`, its default part | {' | '.join(map(str, shown))} |" in searching


def test_the_page_of_benchmarks_is_what_was_measured():
    written = (ROOT / "docs" / "benchmarks" / "index.md").read_text(encoding="utf-8")
    assert written == measured.page(), "python -m docs.measured"
    assert "[[" not in written


@pytest.mark.parametrize(
    "file", sorted(measured.FIGURES.glob("*.json")), ids=lambda file: file.stem
)
def test_figures_tell_by_which_command_on_what_and_on_which_commit(file):
    told = json.loads(file.read_text(encoding="utf-8"))
    assert file.stem in {*measured.RUNS, "peers"}
    assert told["command"].startswith(f"python -m benchmarks.{told['benchmark']}")
    assert all(told[name] for name in ("data", "commit", "date", "rows"))
    assert "seed" in told


def test_a_figure_that_nobody_measured_is_said_to_be_none(tmp_path, monkeypatch):
    (tmp_path / "page.template").write_text("[[coins]]: [[coins :: a :: {heads} of {n}]]")
    told = {"commit": "abc", "date": "2026-05-01", "rows": []}
    told["rows"] = [{"name": "a", "table": "", "figures": {"heads": 3, "n": 7}}]
    monkeypatch.setattr(measured, "TEMPLATE", tmp_path / "page.template")
    monkeypatch.setattr(measured, "FIGURES", tmp_path)
    assert measured.page() == "not measured: not measured"
    (tmp_path / "coins.json").write_text(json.dumps(told))
    assert measured.page() == "`abc`, 2026-05-01: 3 of 7"


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
