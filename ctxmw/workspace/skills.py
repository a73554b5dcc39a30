"""Agent Skills: folders with a SKILL.md, whose name and description tell when to read the rest.

Whoever wrote them need not be a friend: nothing is read outside of the folder, nothing is run, and
what cannot be used is left out with a warning.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..text.cleaning import clean, one_line
from ..text.secrets.redaction import redact, redact_name
from .files import Unreadable, inside, read_under
from .frontmatter import BadFrontmatter, split

log = logging.getLogger("ctxmw")

FILE = "SKILL.md"
SKILL_FOLDERS = (".claude/skills", ".github/skills", "skills")
"""Where a project has its skills."""
LARGEST = 256 * 1024
MOST_SKILLS = 200
MOST_FILES = 100
_DESCRIBED = 1024
_NAMED = 64
INCLUDES = ("always", "manual", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill."""

    name: str
    description: str
    body: str
    """What to do, in full."""
    path: str
    """Its folder, as seen from the top."""
    files: tuple[str, ...] = ()
    """What else is in the folder, as seen from the top."""
    include: str = "agent"
    """"always" named, "agent" where a request calls for it, "manual": only for people."""

    @property
    def text(self) -> str:
        """The body, and what lies beside it."""
        listed = [f"- {file}" for file in self.files]
        return "\n".join([self.body, *(["", "Files of this skill:", *listed] if listed else [])])


Stamp = tuple[tuple[str, int], ...]
"""What is there, and since when it is as it is."""


def stamp_of(cwd: Path, root: Path) -> Stamp:
    """Return what changes when a skill comes, goes or is written anew."""
    found: list[tuple[str, int]] = []
    for top in _tops(cwd, root):
        below: list[Path] = []
        with suppress(OSError):
            below = sorted(top.iterdir())
        for path in [top, *below][: MOST_SKILLS + 1] if below else []:
            with suppress(OSError, ValueError):
                found.append((str(path), (path / FILE).lstat().st_mtime_ns))
    return tuple(found)


def _tops(cwd: Path, root: Path) -> list[Path]:
    """Return where skills may be, the nearest first."""
    folders = [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]
    return [folder.joinpath(*place.split("/")) for folder in folders for place in SKILL_FOLDERS]


def skills_around(cwd: Path, root: Path) -> list[Skill]:
    """Return the skills of a folder and those above it up to the root; the nearest of a name."""
    found: dict[str, Skill] = {}
    for top in _tops(cwd, root):
        for skill in skills_below(root, top):
            found.setdefault(skill.name, skill)
    return list(found.values())[:MOST_SKILLS]


def skills_below(root: Path, top: Path) -> Iterator[Skill]:
    """Yield the skills in a folder: of itself, or of each folder in it."""
    if not os.path.lexists(top):
        return
    try:
        inside(root, top)
        below = sorted(path for path in top.iterdir() if path.is_dir())
    except (Unreadable, OSError) as error:
        _left_out(top, str(error))
        return
    for folder in [top, *below][: MOST_SKILLS + 1]:
        if os.path.lexists(folder / FILE) and (skill := _skill(root, folder)):
            yield skill


def _skill(root: Path, folder: Path) -> Skill | None:
    try:
        document = split(clean(read_under(root, folder / FILE, LARGEST)))
        head = document.head
        name, about = head.get("name", folder.name), head.get("description")
        include = head.get("include", "manual" if head.get("disable-model-invocation") else "agent")
        if not isinstance(name, str) or not name.strip():
            raise BadFrontmatter(f"its name is {name!r:.40}, no text")
        if not isinstance(about, str) or not about.strip():
            raise BadFrontmatter("it has no description, so nobody could tell when it is of use")
        if include not in INCLUDES:
            raise BadFrontmatter(f"include is {include!r:.40}, none of {', '.join(INCLUDES)}")
        return Skill(
            name=redact_name(one_line(name, _NAMED)),
            description=redact(one_line(about, _DESCRIBED)).text,
            body=redact(document.body).text.strip(),
            path=folder.relative_to(root).as_posix(),
            files=tuple(_files(root, folder)),
            include=include,
        )
    except (Unreadable, BadFrontmatter) as error:
        _left_out(folder / FILE, str(error))
        return None


def _files(root: Path, folder: Path) -> list[str]:
    found: list[str] = []
    for at, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = [name for name in sorted(names) if name != FILE and not name.startswith(".")]
        found += [redact_name(Path(at, name).relative_to(root).as_posix()) for name in shown]
        if len(found) >= MOST_FILES:
            return found[:MOST_FILES]
    return found


def _left_out(path: Path, reason: str) -> None:
    # A folder of others' may hold anything, and every command would say it again.
    log.info("%s is left out: %s", one_line(str(path), 300), reason)
