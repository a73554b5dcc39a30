"""Every notebook runs from top to bottom, without a key and without a network, and stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support import small_model
from tests.support.waiting import PATIENCE

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LARGEST = 200_000


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def test_they_are_numbered() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06", "07"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "real_model" in path.name and not small_model.is_installed():
        pytest.skip(small_model.MISSING)
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = read(path)
    resources = {"metadata": {"path": str(tmp_path)}}
    patience = {"timeout": int(PATIENCE), "startup_timeout": int(PATIENCE)}
    NotebookClient(notebook, kernel_name="python3", resources=resources, **patience).execute()
    written = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert [one for one in written if one.output_type == "error"] == []
    assert [one.text for one in written if one.get("name") == "stderr"] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_kept_of_it_is_small_whole_and_names_no_place(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    assert [cell.execution_count for cell in code(path)] == list(range(1, len(code(path)) + 1))
    places = {"/tmp/", "/home/", f"{Path.home()}/"} - {"//"}  # the home of some is "/"
    assert [place for place in places if place in text] == []
