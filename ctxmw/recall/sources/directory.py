"""What a folder tells an agent: AGENTS.md, CLAUDE.md, README.md, and rules for some of its files.

Files are read from the current folder up to the project's root, never beyond it. AGENTS.md,
CLAUDE.md and rules that always hold open the conversation; a rule for some files comes when one of
them is in play, and README.md when a question is about what it says. A file that cannot be used is
left out with a warning that names it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Literal

from ...runtime.lru import LruCache
from ...search.ranking.term_match import matcher
from ...text.cleaning import clean, digest, one_line, words
from ...text.secrets.redaction import redact
from ...values.items import Item, code_ref
from ...values.situation import Rating, Situation, Weights
from ...workspace.files import Unreadable, inside, read_under
from ...workspace.frontmatter import BadFrontmatter, split
from ...workspace.globs import matches

log = logging.getLogger("ctxmw")

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
README = "README.md"
RULE_FOLDERS = (".ctxmw/rules", ".github/instructions", ".cursor/rules", ".claude/rules")
"""Where rules are; the first is ours."""
LARGEST = 256 * 1024
"""Bytes beyond which a file is left out."""
MOST_RULES = 200
_PARAGRAPHS = 300
_RULE_ENDINGS = (".md", ".mdc")
_VENDORED = frozenset(
    "bower_components carthage deps external extern node_modules pods site-packages submodules"
    " third-party third_party thirdparty vendor vendored vendors venv virtualenv".split()
)
"""Folders of code that others wrote."""
_OPENING = 1200
"""Characters of a long text that are shown when all of it does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """One file that tells an agent something."""

    path: str
    """Relative to the root."""
    text: str
    role: Literal["instructions", "rule", "readme"]
    globs: tuple[str, ...] = ()
    """The files it is about; empty: all."""
    always: bool = True
    distance: int = 0
    """How many folders up it stands."""

    @property
    def is_vendored(self) -> bool:
        """Whether it came along with somebody else's code."""
        return is_vendored(self.path)

    def holds_for(self, files: Collection[str]) -> bool:
        """Say whether one of these files is what the rule is about."""
        return any(matches(glob, file) for glob in self.globs for file in files)

    def item(self) -> Item:
        """Return the file as an item: in the pinned lane, or in a turn's part."""
        pinned = self.role != "readme" and self.always
        return Item(
            ref=code_ref("guide", self.path, self.text),
            kind="reference" if self.role == "readme" else "rule",
            text=self.text,
            lane="pinned" if pinned else "turn",
            section="references" if self.role == "readme" else "rules",
            label=self.path,
            title=self.path,
            include="always" if pinned else "agent",
            priority="low" if self.role == "readme" else "normal",
            # Whoever may write a README need not be one who may instruct the agent, nor need
            # those whose code was copied into the project.
            trust="untrusted" if self.role == "readme" or self.is_vendored else "trusted",
            source=self.path,
            ages=False,
            version=digest(self.text)[:16],
            passage=_opening(self.text) if pinned else "",
            place=self.distance,
        )


def is_vendored(path: str) -> bool:
    """Say whether a path leads through a folder of code that others wrote."""
    return not _VENDORED.isdisjoint(part.lower() for part in PurePath(path).parts)


class Directory:
    """The files of the folders that conversations take place in."""

    name = "directory"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._guides: LruCache[tuple[str, str], tuple[Guide, ...]] = LruCache(64)
        self._paragraphs: LruCache[str, list[tuple[str, frozenset[str]]]] = LruCache(16)

    def items(self, situation: Situation, /) -> Sequence[Item]:
        """Return what always holds here, nearest first, as the files are now."""
        if situation.cwd is None:
            return ()
        guides = self._read(situation.cwd, situation.root or situation.cwd)
        return [guide.item() for guide in guides if guide.always and guide.role != "readme"]

    def rules_for(self, situation: Situation, files: Collection[str]) -> list[Item]:
        """Return the rules about files that are in play."""
        guides = self._known(situation)
        about = [guide for guide in guides if not guide.always and guide.holds_for(files)]
        rating = Rating.of(situation, self._weights)
        return [rating.matched(guide.item(), match=1.0, reasons=()) for guide in about]

    def readme_for(
        self, situation: Situation, about: str, weight: float, floor: float, *, asked: bool
    ) -> list[Item]:
        """Return what README.md says about something; how it begins, when that was asked for."""
        if not weight or not (about or asked):
            return []
        found = [
            self._readme(guide, situation, "" if asked else about)
            for guide in self._known(situation)
            if guide.role == "readme"
        ]
        # Of equals the nearest, which is the first.
        best = max(found, key=lambda item: item.score, default=None)
        if best is None or not best.match or weight * best.score < floor:
            return []
        return [replace(best, score=round(weight * best.score, 4))]

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return the file with this ref, if it is still as it was."""
        items = (guide.item() for guide in self._known(situation))
        return next((item for item in items if item.ref == ref), None)

    def _known(self, situation: Situation) -> tuple[Guide, ...]:
        """Return the files as they were when a conversation here last began an epoch."""
        if situation.cwd is None:
            return ()
        root = situation.root or situation.cwd
        known = self._guides.get((str(root), str(situation.cwd)))
        return self._read(situation.cwd, root) if known is None else known

    def _read(self, cwd: Path, root: Path) -> tuple[Guide, ...]:
        guides = tuple(_without_doubles(read_guides(cwd, root)))
        self._guides.put((str(root), str(cwd)), guides)
        return guides

    def _readme(self, guide: Guide, situation: Situation, about: str) -> Item:
        """Return the paragraph that tells most, and how well it does; how it begins, without."""
        share, part = self._best_of(guide, about) if about else (1.0, _opening(guide.text))
        rating = Rating.of(situation, self._weights)
        return rating.matched(guide.item(), match=share, reasons=(), passage=part)

    def _best_of(self, guide: Guide, about: str) -> tuple[float, str]:
        paragraphs = self._paragraphs.get_or_make(guide.text, lambda: _paragraphs(guide.text))
        match = matcher(about, [held for _, held in paragraphs])
        if match is None:
            return 0.0, ""
        share, at = max((match(held), -at) for at, (_, held) in enumerate(paragraphs))
        text = paragraphs[-at][0]
        return share, _opening(text) or text


def _paragraphs(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the paragraphs of a text, each with its words."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    return [(part, frozenset(words(part))) for part in parts[:_PARAGRAPHS]]


def read_guides(cwd: Path, root: Path) -> Iterator[Guide]:
    """Yield what stands in a folder and those above it up to the root, the nearest first."""
    for distance, folder in enumerate(_up_to(cwd, root)):
        for name in INSTRUCTIONS:
            yield from _guide(root, folder / name, "instructions", distance)
        yield from _guide(root, folder / README, "readme", distance)
    for distance, folder in enumerate(_up_to(cwd, root)):
        for path in _rule_files(root, folder):
            yield from _rule(root, folder, path, distance)


def _up_to(cwd: Path, root: Path) -> list[Path]:
    if not cwd.is_relative_to(root):
        return []
    return [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]


def _guide(
    root: Path, path: Path, role: Literal["instructions", "readme"], distance: int
) -> Iterator[Guide]:
    if not os.path.lexists(path):
        return
    try:
        text = redact(clean(read_under(root, path, LARGEST))).text.strip()
    except Unreadable as error:
        _warn(path, str(error))
        return
    if text:
        yield Guide(path=_relative(path, root), text=text, role=role, distance=distance)


def _rule_files(root: Path, folder: Path) -> list[Path]:
    found: list[Path] = []
    for place in RULE_FOLDERS:
        top = folder.joinpath(*place.split("/"))
        if not os.path.lexists(top):
            continue
        try:
            # A link may lead to the whole disk: it is not walked to find that out.
            inside(root, top)
        except Unreadable as error:
            _warn(top, str(error))
            continue
        for at, folders, names in os.walk(top, followlinks=False):
            folders.sort()
            found += [Path(at, name) for name in sorted(names) if name.endswith(_RULE_ENDINGS)]
            if len(found) > MOST_RULES:
                _warn(top, f"it has more than {MOST_RULES} rules")
                return found[:MOST_RULES]
    return found


def _rule(root: Path, folder: Path, path: Path, distance: int) -> Iterator[Guide]:
    try:
        document = split(clean(read_under(root, path, LARGEST)))
        globs, always = applies_to(document.head)
    except (Unreadable, BadFrontmatter) as error:
        _warn(path, str(error))
        return
    text = redact(document.body).text.strip()
    if text and (globs or always):
        below = _relative(folder, root)
        yield Guide(
            path=_relative(path, root),
            text=text,
            role="rule",
            globs=tuple(_below(below, glob) for glob in globs),
            always=always,
            distance=distance,
        )


def applies_to(head: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Return the globs of a rule's head, and whether the rule always holds.

    `applyTo`, `globs` and `paths` are lists or texts with commas. Without any of them, and unless
    `alwaysApply` says no, a rule always holds.
    """
    globs: list[str] = []
    for name in ("applyTo", "globs", "paths"):
        globs += _globs(head.get(name), name)
    always = head.get("alwaysApply")
    if always is not None and not isinstance(always, bool):
        raise BadFrontmatter(f"alwaysApply is {always!r:.40}, neither true nor false")
    everything = any(glob in ("**", "*", "**/*") for glob in globs)
    if always is None:
        always = everything or not globs
    return tuple(globs), always


def _globs(value: object, name: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [glob for part in _split(value) if (glob := part.strip())]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return [glob for part in value[:100] if (glob := part.strip())]
    raise BadFrontmatter(f"{name} is {value!r:.40}, no list of globs")


def _split(text: str) -> list[str]:
    """Return what stands between commas; those in braces belong to a glob."""
    parts, depth = [""], 0
    for char in text[:2000]:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _below(folder: str, glob: str) -> str:
    """Return a glob of a rule further down as one of the root."""
    if folder in ("", "."):
        return glob
    return f"{folder}/{glob}" if "/" in glob else f"{folder}/**/{glob}"


def _without_doubles(guides: Iterator[Guide]) -> Iterator[Guide]:
    """Yield each text once: CLAUDE.md is often the same file as AGENTS.md."""
    seen: set[str] = set()
    for guide in guides:
        if guide.text not in seen:
            seen.add(guide.text)
            yield guide


def _opening(text: str) -> str:
    """Return how a long text begins, up to the end of a paragraph or line; "" for a short one."""
    if len(text) <= _OPENING:
        return ""
    head = text[:_OPENING]
    later = _OPENING // 2
    cut = max(head.rfind("\n\n"), head.rfind("\n", later), head.rfind(". ", later) + 1)
    return head[: cut if cut > 0 else _OPENING].rstrip() + " …"


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _warn(path: Path, reason: str) -> None:
    log.warning("%s is left out: %s", one_line(str(path), 300), reason)
