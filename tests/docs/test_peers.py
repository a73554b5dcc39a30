"""The comparison with other memories: the same measure for all, and a page that says what it is."""

from __future__ import annotations

import json
from argparse import Namespace
from xml.etree import ElementTree

import pytest

from benchmarks.peers import report
from benchmarks.peers.__main__ import compare, lines
from benchmarks.peers.entries import ENTRIES
from benchmarks.peers.faults import leak_through_a_shared_instance
from benchmarks.peers.systems import Entry, packed
from benchmarks.retrieval import COUNT

SAID = {"1": ("Ann", "I adopted a grey kitten named Pixel."), "2": ("Bob", "How was the film?")}
TALK = {
    "conv": "c",
    "items": [
        {"id": ref, "session": "s", "ts": f"2026-05-01T10:0{ref}:00", "speaker": who, "text": text}
        for ref, (who, text) in SAID.items()
    ],
    "questions": [
        {"qid": "q", "question": "Which pet did Ann adopt?", "category": "1", "evidence": ["1"]}
    ],
}
HERE = ("ctxmw", "FTS5", "Chroma", "LangGraph store")
"""Systems whose packages the tests have."""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "talk.jsonl").write_text(json.dumps(TALK) + "\n")
    return tmp_path


def run(data, *only, **options):
    chosen = {"sizes": [40], "turns": 3, "most": None, "embedder": "wordllama"} | options
    return compare(Namespace(data=data, only=list(only), **chosen))


@pytest.mark.parametrize("name", HERE)
def test_every_system_is_asked_the_same_and_finds_the_only_evidence(data, name, monkeypatch):
    one = tuple(entry for entry in ENTRIES if entry.name == name)
    monkeypatch.setattr("benchmarks.peers.entries.ENTRIES", one)
    row = run(data, "recall")["recall"]["talk"][name]
    assert (row["rec@1000"], row["overruns"], row["questions"]) == (100.0, 0, 1)


def test_a_system_that_is_not_installed_is_left_out_and_named(data, monkeypatch):
    absent = Entry(name="Nobody", make=lambda folder, embedder: None, needs=("nobody_has_this",))
    monkeypatch.setattr("benchmarks.peers.entries.ENTRIES", (absent,))
    results = run(data, "recall", "growth")
    assert results["recall"] == {"talk": {}}
    assert "nobody_has_this" in results["missing"]["Nobody"]


def test_a_system_that_fails_is_a_row_and_the_others_go_on(data, monkeypatch, capsys):
    def broken(folder, embedder):
        raise RuntimeError("no such server")

    fine = next(entry for entry in ENTRIES if entry.name == "FTS5")
    both = (Entry(name="Broken", make=broken), fine)
    monkeypatch.setattr("benchmarks.peers.entries.ENTRIES", both)
    rows = run(data, "recall")["recall"]["talk"]
    assert rows["Broken"] == {"error": "RuntimeError: no such server"}
    assert rows["FTS5"]["rec@500"] == 100.0
    assert "no such server" in capsys.readouterr().err


def test_all_figures_are_rows_of_a_table_each(data, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.entries.ENTRIES", (ENTRIES[0], ENTRIES[2]))
    told = list(lines(run(data, "recall")))
    recalled = [line for line in told if line.table == "recall talk"]
    assert [line.name for line in recalled] == ["ctxmw", "FTS5"]
    assert recalled[0].figures["rec@1000"] == 100.0
    assert all(line.notes for line in told if line.table == "could not be run")


def test_a_budget_is_filled_from_a_ranked_list_and_never_passed():
    ranked = [("a", "one two three"), ("b", "word " * 50), ("c", "four")]
    found = packed(ranked, 10)
    assert found.ids == {"a", "c"}
    assert COUNT(found.text) <= 10


def test_the_page_has_a_row_for_each_system_and_its_plots_are_valid(data, tmp_path, monkeypatch):
    some = tuple(entry for entry in ENTRIES if entry.name in ("ctxmw", "FTS5"))
    monkeypatch.setattr("benchmarks.peers.entries.ENTRIES", some)
    results = run(data, "recall", "growth")
    report.write(results, tmp_path / "page")
    page = (tmp_path / "page" / "peers.md").read_text()
    assert "| FTS5 | 100.0 | 100.0 | 100.0 |" in page
    for plot in ("peers-recall.svg", "peers-growth.svg"):
        drawn = ElementTree.fromstring((tmp_path / "page" / plot).read_text())
        assert [node.text for node in drawn.iter() if node.text == "FTS5"]


def test_one_persons_words_are_not_shown_to_another_by_ours():
    pytest.importorskip("llama_index.vector_stores.chroma", reason="make peers")
    assert leak_through_a_shared_instance("wordllama").ours_right
