"""Reads a project's source files into the store; after a change, only what has changed.

A file is looked at again when its size or time stamp differs, and read again when its bytes do. One
that cannot be read is left out with a warning that names it; one that is broken for the moment
keeps what was known of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValue, MissingPackage
from ..protocols import Clock, Row, Store
from ..text.cleaning import clean, digest
from ..values.items import Scope
from ..workspace.files import Unreadable, decoded, inside, read_bytes
from ..workspace.project import detect
from .codebase import SPACE, Codebase

if TYPE_CHECKING:
    from ..workspace.source_tree import SourceFile
    from .files import CodeFile, Entity

log = logging.getLogger("ctxmw")

FilesDone = Callable[[int, int], None]
_BATCH = 100
"""Files that are written at once."""
MOST_FILES = 50_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a folder is indexed; the rest is left out with a warning."""

    files: int = MOST_FILES
    size: int = 2**40
    """Bytes of all files together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What indexing found."""

    project: str
    root: Path
    files: int
    """Source files that are known now."""
    entities: int
    read: int
    """Files that were new or had changed."""
    moved: int
    gone: int
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Files that were left out, and why."""
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """The names of what is new, different or gone, by file."""


class Indexer:
    """Indexes the code of one user's project."""

    def __init__(self, store: Store, codebase: Codebase, clock: Clock) -> None:
        self._store = store
        self._codebase = codebase
        self._clock = clock

    def index(
        self,
        user: str,
        path: Path,
        project: str | None,
        progress: FilesDone | None = None,
        bounds: Bounds | None = None,
    ) -> Indexed:
        """Index a folder, or one file, and return what was found."""
        from ..workspace.source_tree import source_files
        from .past import past_of

        target = _existing(path)
        folder = target if target.is_dir() else target.parent
        name = project or detect(folder).project or folder.name or "project"
        known = self._known(user, name)
        root = _root_of(known, folder)
        below = "" if root == folder else folder.relative_to(root).as_posix()
        whole = target.is_dir()
        if whole:
            found, whole = _first_of(
                source_files(root, below), folder, bounds or Bounds(MOST_FILES)
            )
        else:
            found = [_stated(root, target)]
        job = _Job(self._store, self._clock, user=user, project=name, root=root, known=known)
        if target.is_dir():
            job.past = past_of(root)
        job.read(found, progress)
        # What was left out is not gone.
        if whole:
            job.drop_all_but(found, below)
        return _report(job)

    def update(self, user: str, project: str, root: Path, paths: Iterable[str]) -> Indexed:
        """Look at these files again; they may be new, changed or gone."""
        from ..workspace.source_tree import is_source

        known = self._known(user, project)
        job = _Job(self._store, self._clock, user=user, project=project, root=root, known=known)
        wanted = [path for path in paths if is_source(root, path)]
        there = [path for path in wanted if (root / path).is_file()]
        job.read([_stated(root, root / path) for path in there], None)
        job.drop([path for path in wanted if path not in there])
        return _report(job)

    def touched(self, user: str, project: str, path: str) -> None:
        """Look at one file again that somebody says was edited, if its folder is indexed here."""
        known = self._known(user, project)
        roots = {Path(file.root) for file in known.values()}
        for root in roots:
            place = root / path  # an absolute path stays as it is
            if place.is_relative_to(root) and root.is_dir():
                try:
                    self.update(user, project, root, [place.relative_to(root).as_posix()])
                except (OSError, ValueError) as error:
                    log.warning("%s was not read again: %s", clean(str(place)), error)

    def _known(self, user: str, project: str) -> dict[str, CodeFile]:
        with self._codebase.use(user, project) as code:
            return dict(code.files) if code is not None else {}


class _Job:
    """One run over some files."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        user: str,
        project: str,
        root: Path,
        known: Mapping[str, CodeFile],
    ) -> None:
        from .languages.local import LocalImports

        self.project = project
        self.root = root
        self.changes = self.moved = self.gone = 0
        self.skipped: dict[str, str] = {}
        self.changed: dict[str, tuple[str, ...]] = {}
        self.past: Mapping[str, str] | None = None
        """What git tells; None when it was not asked, or tells nothing."""
        self._store = store
        self._clock = clock
        self._user = user
        self._known = known
        self.entities = {path: len(file.entities) for path, file in known.items()}
        """How many definitions each file has that is known now."""
        self._folders: dict[Path, Path] = {}
        """Where folders are, with their links resolved: a run looks once."""
        self._imports = LocalImports(root, known.keys())
        self._by_hash = {file.hash: file for file in known.values()}

    def read(self, found: Sequence[SourceFile], progress: FilesDone | None) -> None:
        """Read what has changed, and write it a batch at a time."""
        from .languages.local import LocalImports

        paths = {*self._known, *(source.path for source in found)}
        self._imports = LocalImports(self.root, paths)
        rows: list[Row] = []
        for done, source in enumerate(found, start=1):
            file = self._file(source)
            if file is not None:
                rows.append(file.row())
            if rows and (len(rows) >= _BATCH or done == len(found)):
                self._store.put(rows)
                rows = []
            if progress is not None:
                progress(done, len(found))
        if rows:
            self._store.put(rows)

    def drop_all_but(self, found: Sequence[SourceFile], below: str) -> None:
        """Let go of the files below a folder that are not there any more."""
        there = {source.path for source in found}
        prefix = f"{below}/" if below else ""
        own = [file for file in self._known.values() if file.root == str(self.root)]
        self.drop(
            [file.path for file in own if file.path.startswith(prefix) and file.path not in there]
        )
        self._drop_other_roots()

    def drop(self, paths: Iterable[str]) -> None:
        """Let go of files: the row stays, empty, and says so to whoever follows the feed."""
        known = [self._known[path] for path in paths if path in self._known]
        for file in known:
            self.changed[file.path] = tuple(entity.name for entity in file.entities[1:])
        self._store.put([self._emptied(file).row() for file in known])
        if known:
            self._store.drop_blobs(self._user, SPACE)  # it holds their words
        self.gone += len(known)
        for file in known:
            self.entities.pop(file.path, None)

    def _file(self, source: SourceFile) -> CodeFile | None:
        """Return the file as it is now, with its past; None when nothing has changed."""
        file = self._as_read(source)
        latest = file or self._known.get(source.path)
        if latest is None or self.past is None:
            return file
        past = self.past.get(source.path, "")
        return file if latest.past == past else latest.model_copy(update={"past": past})

    def _as_read(self, source: SourceFile) -> CodeFile | None:
        from .files import READING, Unparsable

        old = self._known.get(source.path)
        same_root = old is not None and (old.root, old.reading) == (str(self.root), READING)
        if old and same_root and (old.size, old.modified) == (source.size, source.modified):
            return None
        try:
            _check_name(source.path)
            data = read_bytes(self._place(source.path))
            hashed = sha256(data).hexdigest()
            if old is not None and old.hash == hashed and same_root:
                return old.model_copy(update={"size": len(data), "modified": source.modified})
            return self._parsed(source, data, hashed, old)
        except (Unreadable, Unparsable, MissingPackage) as error:
            self._skip(source.path, str(error))
            return None

    def _parsed(
        self, source: SourceFile, data: bytes, hashed: str, old: CodeFile | None
    ) -> CodeFile:
        from .files import READING, CodeFile, parse

        text = decoded(data)
        # Read again even when it was only moved: its module has another name now.
        parsed = parse(source.language, source.path, text)
        moved = self._was_moved(hashed)
        self.changes += not moved
        self.moved += moved
        self.changed[source.path] = _differences(old.entities if old else (), parsed.entities)
        self.entities[source.path] = len(parsed.entities)
        return CodeFile(
            user=self._user,
            ref=f"code:{digest(self.project, source.path)[:32]}",
            at=self._clock(),
            scope=str(Scope("project", self.project)),
            source=f"code:{self.project}",
            root=str(self.root),
            path=source.path,
            language=source.language,
            hash=hashed,
            size=len(data),
            modified=source.modified,
            lines=len(text.splitlines()),
            reading=READING,
            imports=self._imports.meant(source.language, source.path, parsed.imports),
            entities=parsed.entities,
            past=old.past if old else "",
        )

    def _place(self, path: str) -> Path:
        """Return where a file is; its folder is under the root, whatever links lead there."""
        place = self.root / path
        if place.is_symlink():
            return inside(self.root, place)
        folder = self._folders.get(place.parent)
        if folder is None:
            folder = self._folders[place.parent] = inside(self.root, place.parent)
        return folder / place.name

    def _was_moved(self, hashed: str) -> bool:
        """Say whether a file of another name held the same and is gone now."""
        file = self._by_hash.get(hashed)
        return file is not None and file.size > 0 and not (self.root / file.path).exists()

    def _emptied(self, file: CodeFile) -> CodeFile:
        nothing = {"hash": "", "entities": (), "imports": (), "size": 0, "at": self._clock()}
        return file.model_copy(update=nothing)

    def _drop_other_roots(self) -> None:
        """Let go of what an earlier run knew from a folder inside this one, under other paths."""
        for file in self._known.values():
            place = Path(file.root) / file.path
            if file.root != str(self.root) and place.is_relative_to(self.root):
                own = place.relative_to(self.root).as_posix()
                if own != file.path:
                    self.drop([file.path])

    def _skip(self, path: str, reason: str) -> None:
        self.skipped[path] = reason
        log.warning("%s is left out: %s", clean(str(self.root / path)), reason)


def _report(job: _Job) -> Indexed:
    return Indexed(
        project=job.project,
        root=job.root,
        files=len(job.entities),
        entities=sum(job.entities.values()),
        read=job.changes,
        moved=job.moved,
        gone=job.gone,
        skipped=job.skipped,
        changed=job.changed,
    )


def _check_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise Unreadable("its name is not UTF-8") from None


def _existing(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise InvalidValue(
            f"there is no folder or file {str(path)!r:.200} to index: give one that exists."
        ) from None


def _root_of(known: Mapping[str, CodeFile], folder: Path) -> Path:
    """Return the root that paths are relative to: an earlier one, when the folder is in it."""
    roots = {Path(file.root) for file in known.values()}
    around = [root for root in roots if folder.is_relative_to(root)]
    return min(around, key=lambda root: len(root.parts), default=folder)


def _first_of(
    sources: Iterable[SourceFile], folder: Path, bounds: Bounds
) -> tuple[list[SourceFile], bool]:
    """Return as many files as the bounds allow, and whether these are all."""
    found: list[SourceFile] = []
    size = 0
    for source in sources:
        size += source.size
        if len(found) >= bounds.files or size > bounds.size:
            log.warning(
                "%s has more than %d source files: the rest is left out", folder, len(found)
            )
            return found, False
        found.append(source)
    return found, True


def _stated(root: Path, file: Path) -> SourceFile:
    from ..workspace.source_tree import SourceFile, language_of

    path = file.relative_to(root).as_posix()
    language = language_of(path)
    if language is None:
        raise InvalidValue(f"{path!r} is no source file of a language that is read.")
    status = file.lstat()
    return SourceFile(
        path=path, language=language, size=status.st_size, modified=status.st_mtime_ns
    )


def _differences(old: Iterable[Entity], new: Iterable[Entity]) -> tuple[str, ...]:
    """Return the names of what is new, different or gone."""
    before, after = ({one.name: _told(one) for one in entities} for entities in (old, new))
    names = dict.fromkeys([*after, *before])
    return tuple(name for name in names if before.get(name) != after.get(name))


def _told(entity: Entity) -> tuple[object, ...]:
    return (entity.kind, entity.signature, entity.doc, entity.mark, entity.bases)
