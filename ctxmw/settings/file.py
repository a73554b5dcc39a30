"""The file with settings: where it is looked for, and what stands in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidValue
from ..workspace.files import Unreadable, read_bytes

FILE = "ctxmw.toml"
NAMED_BY = "CTXMW_CONFIG"
_LARGEST = 64 * 1024
_DOTS = 500
"""Dots in one line: TOML takes a key of n parts apart in time that grows with n squared."""
_LEVELS = 20
"""Tables and lists inside each other: more than any setting has, and few enough to walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """A file with settings."""

    path: Path
    content: Mapping[str, Any]
    found: bool
    """Whether it merely lay there: nobody named it."""


def settings_file(
    folder: Path, named: str | Path | None, environ: Mapping[str, str]
) -> SettingsFile | None:
    """Return the file that is named, or else the one that is found from a folder upwards."""
    named = named if named is not None else environ.get(NAMED_BY) or None
    if named is not None:
        return SettingsFile(path=Path(named), content=content_of(Path(named)), found=False)
    path = find_file(folder)
    return SettingsFile(path=path, content=content_of(path), found=True) if path else None


def find_file(folder: Path) -> Path | None:
    """Return the file with the settings that hold in a folder: its own, or the nearest above."""
    here = folder.resolve()
    for each in (here, *here.parents):
        if (each / FILE).is_file():
            return each / FILE
        if b"[tool.ctxmw" in _bytes(each / "pyproject.toml"):
            return each / "pyproject.toml"
    return None


def content_of(path: Path) -> dict[str, Any]:
    """Return what a file sets; a relative store counts from its folder."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidValue(f"{path} is larger than {_LARGEST // 1024} kB: that is no settings.")
        text = path.read_text("utf-8")
        if any(line.count(".") > _DOTS for line in text.splitlines()):
            raise InvalidValue(f"{path} has a line of more than {_DOTS} dots: that is no settings.")
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue(f"{path} cannot be read: {error}.") from error
    # Brackets in brackets without end, and numbers of thousands of digits, fail in other ways.
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"{path} is not valid TOML: {error}.") from error
    if path.name == "pyproject.toml":
        content = _table(_table(content, "tool"), "ctxmw")
    if _is_deep(content):
        raise InvalidValue(f"{path} nests more than {_LEVELS} tables or lists: no setting does.")
    store = content.get("store")
    if isinstance(store, str) and store != ":memory:" and "://" not in store:
        content["store"] = str(path.parent / Path(store).expanduser())
    return content


def _is_deep(content: dict[str, Any]) -> bool:
    level: list[Any] = [content]
    for _ in range(_LEVELS):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    return bool(level)


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    return table if isinstance(table, dict) else {}


def _bytes(path: Path) -> bytes:
    try:
        # A pipe would be waited for; a link leads where it leads.
        return read_bytes(path.resolve(), _LARGEST)
    except (OSError, RuntimeError, Unreadable):
        return b""
