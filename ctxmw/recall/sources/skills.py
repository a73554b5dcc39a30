"""Skills on offer: name and description compete for the budget, the body comes when asked for.

Those of the folder at hand, as they are now, and those that the application added. A found skill is
trusted as found rules are: not where it came along with somebody else's code. None of them stands
in a system prompt unless it says "always", as a rule may.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InvalidValue
from ...runtime.lru import LruCache
from ...text.cleaning import digest
from ...text.terms import content_terms
from ...values.items import Include, Item, code_ref
from ...values.situation import Situation
from ...workspace.project import resolved
from .directory import is_vendored

if TYPE_CHECKING:
    from ...workspace.skills import Skill, Stamp

log = logging.getLogger("ctxmw")

MOST = 5
"""Skills that one request may bring."""
_ENOUGH = 2
"""Words that a request and a description have in common, where none is of the name."""
_ADDED = "added"


class Skills:
    """The skills of the application, and of the folders that conversations take place in."""

    name = "skills"

    def __init__(self) -> None:
        self.added: dict[str, Skill] = {}
        """What the application has added, by name: read it, and add with `add`."""
        self._tops: dict[str, Path] = {}
        """Which folder each of them came with."""
        self._lock = threading.Lock()
        self._found: LruCache[tuple[str, str], tuple[Stamp, list[Skill]]] = LruCache(64)

    def add(self, folder: str | Path) -> list[str]:
        """Offer the skills of a folder to every conversation; return their names.

        One that was added before gives way to one of its name; two in one folder are an error.
        """
        from ...workspace.skills import skills_below

        if not isinstance(folder, str | Path) or not Path(folder).is_dir():
            raise InvalidValue(
                f"there is no folder {str(folder)!r:.200}: give one that holds skills, each in a "
                "folder with a SKILL.md."
            )
        top = resolved(Path(folder))
        skills = list(skills_below(top, top))
        if not skills:
            raise InvalidValue(
                f"{str(folder)!r:.200} has no skill that can be used: it needs folders with a "
                "SKILL.md that has a description."
            )
        named: dict[str, Skill] = {}
        for skill in skills:
            first = named.setdefault(skill.name, skill)
            if first is not skill:
                raise InvalidValue(
                    f"{str(folder)!r:.200} has two skills {skill.name!r}, in {first.path} and in "
                    f"{skill.path}: a request could bring one of them only. Rename one."
                )
        with self._lock:
            self._say_what_goes(named, top)
            self.added |= named
            self._tops |= dict.fromkeys(named, top)
        return list(named)

    def _say_what_goes(self, named: Mapping[str, Skill], top: Path) -> None:
        """Tell of each skill of another folder that gives way to one of its name."""
        for name in named:
            if (before := self._tops.get(name, top)) != top:
                log.warning(
                    "the skill %r of %s takes the place of that of %s: rename one of them to have "
                    "both.",
                    *(name, top, before),
                )

    def items(self, situation: Situation, /) -> list[Item]:
        """Return those that always hold, and the best of those that the request calls for."""
        called = [(_match(skill, situation.query), skill) for skill in self._all(situation)]
        best = sorted(((n, s) for n, s in called if n and s.include == "agent"), key=_by_match)
        shown = [skill for _, skill in called if skill.include == "always"]
        shown += [skill for _, skill in best[:MOST]]
        return [_item(skill, fetches=situation.fetches) for skill in shown]

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return a skill by its ref, with all that it says and the files beside it."""
        for skill in self._all(situation):
            if _item(skill).ref == ref:
                item = _item(skill)
                return Item(
                    ref=item.ref,
                    kind=item.kind,
                    text=skill.text,
                    lane=item.lane,
                    section=item.section,
                    label=f"skill {skill.name} ({skill.path})",
                    trust=item.trust,
                    source=item.source,
                )
        return None

    def _all(self, situation: Situation) -> list[Skill]:
        with self._lock:
            added = dict(self.added)
        # A folder that somebody works in must not speak for the application.
        around = (skill for skill in self._around(situation) if skill.name not in added)
        return [*added.values(), *around]

    def _around(self, situation: Situation) -> list[Skill]:
        from ...workspace.skills import skills_around, stamp_of

        if situation.cwd is None:
            return []
        root = situation.root or situation.cwd
        key = (str(root), str(situation.cwd))
        known, now = self._found.get(key), stamp_of(situation.cwd, root)
        if known is not None and known[0] == now:
            return known[1]
        found = skills_around(situation.cwd, root) if now else []
        self._found.put(key, (now, found))
        return found


def _by_match(rated: tuple[int, Skill]) -> tuple[int, str]:
    return -rated[0], rated[1].name


def _match(skill: Skill, query: str) -> int:
    """Return how much of what is asked the skill speaks of; 0 when that is too little."""
    asked = set(content_terms(query))
    named = asked.intersection(content_terms(skill.name.replace("-", " ")))
    shared = asked.intersection(content_terms(skill.description))
    return len(named) * 2 + len(shared) if named or len(shared) >= _ENOUGH else 0


def _item(skill: Skill, *, fetches: bool = True) -> Item:
    always = skill.include == "always"
    include: Include = "always" if always else "agent"
    ref = code_ref("skill", skill.path, skill.text)
    return Item(
        ref=ref,
        kind="reference",
        text=skill.description,
        lane="pinned" if always else "turn",
        section="references",
        label=f"skill {skill.name}" + (f", mem_get {ref}" if fetches else ""),
        title=f"skill {skill.name}",
        include=include,
        trust="untrusted" if is_vendored(skill.path) else "trusted",
        source=skill.path,
        ages=False,
        version=digest(skill.description)[:16],
        score=0.8,
    )
