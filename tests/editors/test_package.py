"""The extension as it is packed: what it says of itself is there. Needs no Node."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

import ctxmw

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
ABOUT = json.loads((EXTENSION / "package.json").read_text("utf-8"))
SOURCES = {path.name: path.read_text("utf-8") for path in (EXTENSION / "src").glob("*.ts")}


def pack(folder: Path, vsix: Path) -> list[str]:
    spec = spec_from_file_location("pack", EXTENSION / "pack.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pack(folder, vsix)


def test_every_command_is_offered_and_registered():
    offered = {one["command"].removeprefix("ctxmw.") for one in ABOUT["contributes"]["commands"]}
    named = re.compile(r"^      (\w+): \(", re.MULTILINE)
    registered = set(named.findall(SOURCES["commands.ts"]))
    registered |= set(re.findall(r'registerCommand\("ctxmw\.(\w+)"', SOURCES["extension.ts"]))
    assert offered == registered


def test_every_menu_names_a_command():
    offered = {one["command"] for one in ABOUT["contributes"]["commands"]}
    menus = ABOUT["contributes"]["menus"].values()
    assert {entry["command"] for menu in menus for entry in menu} <= offered


def test_every_setting_is_read_and_described():
    page = (ROOT / "docs" / "editor.md").read_text("utf-8")
    read = "\n".join(SOURCES.values())
    for name in ABOUT["contributes"]["configuration"]["properties"]:
        own = name.removeprefix("ctxmw.")
        assert f'"{own}"' in read, own
        assert f"`{own}`" in page, own


def test_every_request_is_one_that_the_server_takes():
    served = (ROOT / "adapters" / "ctxmw_mcp" / "requests.py").read_text("utf-8")
    asked = set(re.findall(r'"ctxmw/(\w+)"', "\n".join(SOURCES.values())))
    assert {"inspect", "rate", "activity"} <= asked
    for name in asked - {"activity"}:
        assert f'"{name}": (' in served, name


def test_it_has_the_version_of_ctxmw_and_needs_nothing_at_run_time():
    assert ABOUT["version"] == ctxmw.__version__
    assert "dependencies" not in ABOUT
    assert not list(EXTENSION.glob("package-lock.json"))


def test_it_is_packed_with_its_tables_of_contents_and_the_same_each_time(tmp_path):
    built = tmp_path / "built"
    (built / "out").mkdir(parents=True)
    for name in ("package.json", "README.md"):
        (built / name).write_bytes((EXTENSION / name).read_bytes())
    with pytest.raises(SystemExit, match="compile the extension first"):
        pack(built, tmp_path / "a.vsix")
    (built / "out" / "extension.js").write_text("exports.activate = () => {};")
    names = pack(built, tmp_path / "a.vsix")
    pack(built, tmp_path / "b.vsix")
    assert (tmp_path / "a.vsix").read_bytes() == (tmp_path / "b.vsix").read_bytes()
    assert "extension/out/extension.js" in names
    with ZipFile(tmp_path / "a.vsix") as packed:
        manifest = ElementTree.fromstring(packed.read("extension.vsixmanifest"))
        types = packed.read("[Content_Types].xml").decode()
    (identity,) = manifest.iter("{http://schemas.microsoft.com/developer/vsx-schema/2011}Identity")
    assert identity.get("Id") == "ctxmw"
    assert identity.get("Version") == ctxmw.__version__
    assert all(f".{name.rpartition('.')[2]}" in types for name in names if "/" in name)
