"""Patterns for paths: the globs of rules, and .gitignore.

A path is matched part by part, so a pattern of many stars takes no longer than its length times the
path's: patterns come from files that anybody may have written.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

ALTERNATIVES = 64
"""Patterns that one pattern with braces may stand for."""
LONGEST = 512
"""Characters of a pattern or a path that is looked at."""


def matches(glob: str, path: str) -> bool:
    """Say whether a path is what a rule's glob means.

    "*" and "?" stay within a folder, "**" goes over folders, "{a,b}" is either. A glob without a
    slash is a file name in any folder; one that names a folder means all that is in it.
    """
    parts = tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))
    return any(_matches_one(one, parts) for one in expanded(glob.strip()[:LONGEST]))


def expanded(glob: str) -> list[str]:
    """Return the globs without braces that a glob with braces stands for."""
    found: list[str] = []
    waiting = [glob]
    while waiting and len(found) + len(waiting) <= ALTERNATIVES:
        one = waiting.pop()
        braces = _BRACES.search(one)
        if braces is None:
            found.append(one)
        else:
            sides = one[: braces.start()], one[braces.end() :]
            waiting += [f"{sides[0]}{choice}{sides[1]}" for choice in braces[1].split(",")]
    return found


_BRACES = re.compile(r"\{([^{}]*)\}")


def _matches_one(glob: str, parts: Sequence[str]) -> bool:
    anchored = "/" in glob.rstrip("/")
    wanted = [part for part in glob.split("/") if part not in ("", ".")]
    if not wanted or not parts:
        return False
    if not anchored:
        wanted = ["**", *wanted]
    if glob.endswith("/"):
        wanted = [*wanted, "**"]
    return match_parts(wanted, parts) or match_parts([*wanted, "**"], parts)


def match_parts(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """Say whether the parts of a path are those of a pattern; "**" is any number of parts."""
    # Where one can be in the pattern after each part of the path.
    at = _with_skips({0}, wanted)
    for part in parts:
        stay = {place for place in at if place < len(wanted) and wanted[place] == "**"}
        step = {
            place + 1
            for place in at - stay
            if place < len(wanted) and _part(wanted[place]).match(part)
        }
        at = _with_skips(stay | step, wanted)
        if not at:
            return False
    return len(wanted) in at


def _with_skips(places: set[int], wanted: Sequence[str]) -> set[int]:
    """Add where one gets when "**" stands for nothing."""
    reached = set(places)
    for place in sorted(places):
        while place < len(wanted) and wanted[place] == "**":
            place += 1  # noqa: PLW2901 - walks on
            reached.add(place)
    return reached


@lru_cache(maxsize=1024)
def _part(pattern: str) -> re.Pattern[str]:
    # fnmatch's own patterns hold no backtracking since Python 3.9.
    return re.compile(fnmatch.translate(pattern))


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of a .gitignore."""

    parts: tuple[str, ...]
    anchored: bool
    folders_only: bool
    keeps: bool
    """Whether it takes back an earlier line."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The .gitignore files that hold in a folder, the outermost first.

    Each comes with the path of its folder; paths are given as their parts.
    """

    files: tuple[tuple[tuple[str, ...], tuple[IgnoreRule, ...]], ...] = ()

    def with_file(self, folder: tuple[str, ...], text: str) -> Ignored:
        """Return what holds in a folder that has such a file."""
        rules = tuple(ignore_rules(text))
        return Ignored((*self.files, (folder, rules))) if rules else self

    def covers(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Say whether a path is ignored by itself; the last line that fits decides."""
        for folder, rules in reversed(self.files):
            below = path[len(folder) :]
            for rule in reversed(rules):
                if _fits(rule, below, is_folder=is_folder):
                    return not rule.keeps
        return False


def ignore_rules(text: str) -> list[IgnoreRule]:
    """Return the rules of a .gitignore, in order."""
    return [rule for line in text.splitlines() if (rule := _ignore_rule(line[:LONGEST]))]


def _ignore_rule(line: str) -> IgnoreRule | None:
    line = _without_trailing_space(line)
    keeps = line.startswith("!")
    pattern = line[1:] if keeps else line
    if not pattern or line.startswith("#"):
        return None
    folders_only = pattern.endswith("/")
    anchored = "/" in pattern.rstrip("/")
    parts = tuple(_unescaped(part) for part in pattern.split("/") if part)
    if not parts:
        return None
    return IgnoreRule(parts=parts, anchored=anchored, folders_only=folders_only, keeps=keeps)


def _without_trailing_space(line: str) -> str:
    bare = line.rstrip(" \t")
    return line[: len(bare) + 1] if bare.endswith("\\") else bare


def _unescaped(part: str) -> str:
    """Return a part as fnmatch understands it: a backslash becomes a class of one."""
    return _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], part)


_ESCAPED = re.compile(r"\\(.)")


def _fits(rule: IgnoreRule, path: Sequence[str], *, is_folder: bool) -> bool:
    if not path or (rule.folders_only and not is_folder):
        return False
    if not rule.anchored:
        return bool(_part(rule.parts[0]).match(path[-1]))
    if rule.parts[-1] == "**" and len(rule.parts) > 1:
        # "a/**" is everything in a, and not a itself.
        return match_parts([*rule.parts[:-1], "*", "**"], path)
    return match_parts(rule.parts, path)
