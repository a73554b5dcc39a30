"""Go modules of a folder: which imports are of its own packages."""

from __future__ import annotations

import re
from pathlib import Path

from .files import Unreadable, read_under

_MODULE = re.compile(r"^module[ \t]++\"?([^\s\"]++)", re.MULTILINE)
_LARGEST = 64 * 1024


class GoModules:
    """Tells what an import of a Go file means, by the go.mod above it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[str, str] | None] = {}

    def local(self, text: str, importer: str) -> str:
        """Return an import of this module as a path from the root: "/oauth2"; others as given."""
        found = self._above(importer.rpartition("/")[0])
        if found is None:
            return text
        folder, module = found
        if text != module and not text.startswith(f"{module}/"):
            return text
        inside = text[len(module) :].strip("/")
        return "/" + "/".join(filter(None, (folder, inside)))

    def _above(self, folder: str) -> tuple[str, str] | None:
        """Return the nearest folder with a go.mod, and the module's name."""
        if folder not in self._known:
            self._known[folder] = self._read(folder)
        return self._known[folder]

    def _read(self, folder: str) -> tuple[str, str] | None:
        try:
            text = read_under(self._root, self._root / folder / "go.mod", _LARGEST)
        except Unreadable:
            text = ""
        module = _MODULE.search(text)
        if module is not None:
            return folder, module[1]
        return self._above(folder.rpartition("/")[0]) if folder else None
