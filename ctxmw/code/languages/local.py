"""What the imports of a file mean in its folder, before anything is known of the other files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ...workspace.go_modules import GoModules
from .rust_crates import RustCrates
from .script_modules import ScriptModules


class LocalImports:
    """Tells imports of a folder's own files from those of others, by its manifests.

    What is the folder's own begins with a slash or a dot from then on, or with a word that only its
    language has.
    """

    def __init__(self, root: Path, paths: Collection[str]) -> None:
        self._go = GoModules(root)
        self._scripts = ScriptModules(root, paths)
        self._rust = RustCrates(root, paths)

    def meant(self, language: str, importer: str, imports: tuple[str, ...]) -> tuple[str, ...]:
        """Return the imports of a file, those of this folder as paths from its root."""
        if language == "go":
            found = [self._go.local(text, importer) for text in imports]
        elif language in ("javascript", "typescript"):
            found = [self._scripts.local(text, importer) for text in imports]
        elif language == "rust":
            found = [self._rust.local(text, importer, imports) for text in imports]
        else:
            return imports
        return tuple(dict.fromkeys(found))
