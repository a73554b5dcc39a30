"""How blocks are printed and counted in this memory."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocols import Renderer, TokenCounter
from ..values.situation import Situation
from .admission import Arriving
from .render import title_of
from .selection import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Printer:
    """Renders items, and counts what that takes."""

    renderer: Renderer
    count: TokenCounter
    arriving: Arriving
    """What comes by itself, and how many lines of it."""

    @property
    def counter(self) -> str:
        """The name of the counter, for records."""
        return str(getattr(self.count, "name", "custom"))

    @property
    def exact(self) -> bool:
        """Whether the counter counts as the model does."""
        return bool(getattr(self.count, "exact", True))

    def layout(self, situation: Situation) -> Layout:
        """Return how blocks are printed for this situation."""

        def title(section: str) -> str:
            return title_of(section, project=situation.project, language=situation.language)

        return Layout(
            renderer=self.renderer,
            count=self.count,
            title=title,
            arriving=self.arriving,
        )
