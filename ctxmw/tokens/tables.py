"""The tables tokenizers are made of: found on this machine, verified, and never fetched.

tiktoken fetches a table at first use and deletes a file whose hash is wrong. Here a table is looked
for where it may lie already, checked by its hash, copied to our own folder, and only then shown to
tiktoken.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
import threading
from binascii import a2b_base64
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiktoken import Encoding

LOADING = threading.Lock()
"""Held while a table loads: tiktoken takes its folder from an environment variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file of tokens, by the name under which tiktoken keeps it."""

    file: str
    size: int
    sha256: str


TABLES = {
    "cl100k_base": Table(
        file="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        size=1_681_126,
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": Table(
        file="fb374d419588a4632f3f557e76b4b70aebbca790",
        size=3_613_922,
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


def find_table(table: Table, cache_dir: Path | None) -> bytes | None:
    """Return the table's verified content, and keep a copy of it in our own folder."""
    if cache_dir and (content := _verified(cache_dir / table.file, table)):
        return content
    for folder in _other_folders():
        if content := _verified(folder / table.file, table):
            if cache_dir:
                with suppress(OSError):  # a copy is for next time; this time works without
                    write_whole(cache_dir / table.file, content)
            return content
    return None


def _other_folders() -> Iterator[Path]:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if folder := os.environ.get(variable):
            yield Path(folder)
    with suppress(OSError):  # a machine without any folder for temporary files
        yield Path(tempfile.gettempdir()) / "data-gym-cache"
    # Imported here: as a rule the table is found in our own folder.
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError):
        package = distribution("llama-index-core")
        yield Path(str(package.locate_file("llama_index/core/_static/tiktoken_cache")))


def _verified(path: Path, table: Table) -> bytes | None:
    """Return the file's content if it is the table; anything else is left alone."""
    try:
        if not path.is_file() or path.stat().st_size != table.size:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == table.sha256 else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def load_encoding(name: str, table: Table, content: bytes) -> Encoding:
    """Let tiktoken read the table from a folder that nobody else has.

    tiktoken deletes a file with a wrong hash and goes to the network for it; here it finds exactly
    what was verified.
    """
    import tiktoken

    with tempfile.TemporaryDirectory(prefix="ctxmw-") as folder:
        (Path(folder) / table.file).write_bytes(content)
        with _environment("TIKTOKEN_CACHE_DIR", folder), _read_at_once(table, content):
            return tiktoken.get_encoding(name)


@contextmanager
def _read_at_once(table: Table, content: bytes) -> Iterator[None]:
    """Spare tiktoken the reading where it can be: it goes line by line, in twice the time."""
    reader: Any = importlib.import_module("tiktoken_ext.openai_public")
    original = getattr(reader, "load_tiktoken_bpe", None)
    if original is None:
        yield
        return

    def load(source: str, expected_hash: str | None = None) -> dict[bytes, int]:
        if expected_hash != table.sha256:  # another thread loads another table
            return dict(original(source, expected_hash))
        words = content.split()
        return dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))

    reader.load_tiktoken_bpe = load
    try:
        yield
    finally:
        reader.load_tiktoken_bpe = original


@contextmanager
def _environment(variable: str, value: str) -> Iterator[None]:
    before = os.environ.get(variable)
    os.environ[variable] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


def default_cache_dir() -> Path | None:
    if home := os.environ.get("CTXMW_HOME"):
        return Path(home) / "tokens"
    with suppress(RuntimeError):  # a user without a home folder
        return _user_cache_dir() / "ctxmw" / "tokens"
    return None


def _user_cache_dir() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
