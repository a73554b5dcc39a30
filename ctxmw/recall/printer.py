"""How blocks are printed and counted in this memory."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from ..protocols import Renderer
from ..runtime.lru import LruCache, Share
from ..tokens.prompt_counter import PromptCounter
from ..values.situation import Situation
from .admission import Arriving
from .render import title_of
from .selection import Layout

PRINTED = 1_500_000
"""How much printed text of single items may be kept at hand, in bytes ..."""
BESIDES = 300
"""... of which each takes so many besides its text."""


def _kept() -> LruCache[tuple[Hashable, ...], tuple[str, int]]:
    return LruCache(16_384, room=PRINTED, weigh=lambda kept: len(kept[0]) + BESIDES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printer:
    """Renders items, and counts what that takes."""

    renderer: Renderer
    count: PromptCounter
    arriving: Arriving
    """What comes by itself, and how many lines of it."""
    printed: LruCache[tuple[Hashable, ...], tuple[str, int]] = field(default_factory=_kept)
    """What was printed before, by user."""

    @property
    def counter(self) -> str:
        """The name of the counter, for records."""
        return self.count.name

    @property
    def exact(self) -> bool:
        """Whether the counter counts as the model does."""
        return self.count.exact

    def layout(self, situation: Situation) -> Layout:
        """Return how blocks are printed for this situation."""

        def title(section: str) -> str:
            return title_of(section, project=situation.project, language=situation.language)

        return Layout(
            renderer=self.renderer,
            count=self.count,
            title=title,
            printed=Share(self.printed, situation.user),
            arriving=self.arriving,
        )
