"""Nothing stale is shown: files are looked at before what is known of them is said.

What has changed since it was indexed is read again and known from then on in this process; writing
it down is left to whoever indexes. What is gone is let go. A folder that is not on this machine was
indexed elsewhere: what is known of it stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingPackage
from ..workspace.files import Unreadable, decoded, inside, read_bytes, read_under
from .files import CodeFile, Parsed, Unparsable, parse, without_definitions
from .languages.local import LocalImports

if TYPE_CHECKING:
    from .index import ProjectCode

MOST = 24
"""Files that are read again for one message."""


def look_again(code: ProjectCode, paths: Iterable[str]) -> set[str]:
    """Bring what is known of these files in line with the folder; return those that changed."""
    changed: set[str] = set()
    meanings: dict[str, LocalImports] = {}
    for path in dict.fromkeys(paths):
        file = code.files.get(path)
        if file is None or len(changed) >= MOST:
            continue
        meant = meanings.setdefault(file.root, LocalImports(Path(file.root), code.files))
        now = _as_it_is(file, meant)
        if now is None:
            code.let_go(path)
            changed.add(path)
        elif now is not file:
            changed |= {path} if now.hash != file.hash else set()
            code.take_in(now)
    return changed


def source_lines(file: CodeFile) -> list[str] | None:
    """Return the lines of a file as it was indexed; None when that cannot be read here."""
    try:
        text = read_under(Path(file.root), Path(file.root) / file.path)
    except Unreadable:
        return None
    return text.splitlines()


def _as_it_is(file: CodeFile, meanings: LocalImports) -> CodeFile | None:
    """Return the file as it is now; the same when nothing changed, None when it is gone."""
    root = Path(file.root)
    place = root / file.path
    try:
        status = place.lstat()
    except (OSError, ValueError):
        return None if _is_folder(root) else file
    if (status.st_size, status.st_mtime_ns) == (file.size, file.modified):
        return file
    try:
        data = read_bytes(inside(root, place))
        hashed = sha256(data).hexdigest()
        as_stated = {"size": len(data), "modified": status.st_mtime_ns, "hash": hashed}
        if hashed == file.hash:
            return file.model_copy(update=as_stated)
        text = decoded(data)
    except Unreadable:
        return None
    parsed = _parsed(file, text)
    imports = meanings.meant(file.language, file.path, parsed.imports)
    told = {"imports": imports, "entities": parsed.entities}
    return file.model_copy(update={**as_stated, **told, "lines": len(text.splitlines())})


def _parsed(file: CodeFile, text: str) -> Parsed:
    try:
        return parse(file.language, file.path, text)
    except (Unparsable, MissingPackage):
        # Half written: where its definitions stand is not known for the moment.
        return without_definitions(file.path, text)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
