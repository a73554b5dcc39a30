"""Every benchmark speaks one language: a table, the same as JSON, and its data and seed by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import listed
from benchmarks.report import Benchmark, Line, shown
from benchmarks.timing import keeps_compiled

ROOT = Path(__file__).parents[2]
SHARED = ("__init__", "__main__", "report", "source_trees", "stand_ins", "stores", "timing")
"""What benchmarks are made with."""
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in SHARED)
COINS = Benchmark(name="coins", about="How coins fall.", data="ten coins", seed=3)


@pytest.fixture
def called(monkeypatch):
    def call(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        module = f"benchmarks.{name}" + (".__main__" if name == "peers" else "")
        return import_module(module).main()

    return call


@pytest.mark.parametrize("name", [*NAMES, "peers"])
def test_a_benchmark_tells_what_it_takes_its_data_and_its_seed(name, called, capsys):
    with pytest.raises(SystemExit) as ended:
        called(name, "--help")
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"python -m benchmarks.{name} " in told
    assert "--json FILE" in told
    assert "data: " in told
    assert "seed: " in told


def test_the_list_has_every_benchmark_and_what_it_measures(capsys, called):
    assert sorted([*NAMES, "peers"]) == sorted(listed())
    assert all(listed().values())


def test_a_benchmark_prints_a_table_and_writes_the_same_as_json(tmp_path, called, capsys):
    called("precision", "--held-back", "--json", str(tmp_path / "told.json"))
    printed = capsys.readouterr().out
    told = json.loads((tmp_path / "told.json").read_text())
    (row,) = told["rows"]
    assert (told["benchmark"], told["seed"], row["name"]) == ("precision", None, "held back")
    assert f"data: {told['data']}" in printed
    assert all(name in printed for name in row["figures"])
    assert shown(row["figures"]["precision"]) in printed


def test_rows_with_other_columns_begin_a_table_of_their_own(capsys):
    rows = [Line("a", {"heads": 4}), Line("b", {"heads": 6}), Line("all", {"heads": 10, "of": 20})]
    COINS.tell(rows, Namespace(json=None))
    printed = capsys.readouterr().out
    assert [line.split() for line in printed.splitlines() if "heads" in line] == [
        ["heads"],
        ["heads", "of"],
    ]


def test_a_row_is_printed_before_the_next_is_measured(capsys):
    def rows():
        yield Line("first", {"heads": 4})
        assert "first" in capsys.readouterr().out
        yield Line("second", {"heads": 6})

    assert len(COINS.tell(rows(), Namespace(json=None))) == 2


def test_the_seed_that_was_chosen_is_told_and_files_by_their_names_alone(tmp_path, capsys):
    chosen = Namespace(json=tmp_path / "told.json", seed=11)
    COINS.tell([], chosen, [Path("/somewhere/of/mine/coins.jsonl")])
    told = json.loads(chosen.json.read_text())
    assert (told["seed"], told["data"]) == (11, "ten coins (coins.jsonl)")
    assert "seed: 11" in capsys.readouterr().out
    assert "/somewhere" not in chosen.json.read_text()


def test_a_cold_start_is_measured_with_modules_that_are_compiled_already(tmp_path):
    (tmp_path / "greeting.py").write_text("print('hello')\n")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | keeps_compiled(tmp_path)
    command = [sys.executable, "-c", "import greeting"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert list((tmp_path / "compiled").rglob("greeting.*.pyc"))
