"""Files of others, as JSON: one value, or a line for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import InvalidValue, StoreError


def json_in(path: Path) -> Any:
    """Return what a file holds; of lines of JSON, a list."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path} is no JSON: {error}.") from error
    if not text.strip():
        raise InvalidValue(f"{path} is empty: was it saved as a whole? Nothing was imported.")
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        return json.loads(text)
    except ValueError as whole:
        try:
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        except ValueError:
            raise InvalidValue(f"{path} is no JSON: {whole}. Nothing was imported.") from None


def file_in(path: Path, names: Sequence[str]) -> Path:
    """Return the file that is meant: this one, or the first of these names in the folder."""
    if not path.is_dir():
        return path
    for name in names:
        if (path / name).exists():
            return path / name
    raise InvalidValue(f"{path} has none of {', '.join(names)}: name the file, or its folder.")


def list_in(value: Any, names: Sequence[str], path: Path) -> list[Any]:
    """Return a list, or the one that a table has under one of these names."""
    if isinstance(value, dict):
        value = next((value[name] for name in names if isinstance(value.get(name), list)), value)
    if not isinstance(value, list):
        raise InvalidValue(f"{path} has no list, nor one under {' or '.join(names)}.")
    return value
