"""Thumbs: two buttons beside what a call was shown, pressed where something was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...conversation.record import ContextRecord
from ...display.elements import Html, tag
from ...recall.outcome import ItemOutcome
from ...search.feedback import Feedback

if TYPE_CHECKING:
    from ..site import Site

_BUTTONS = ((1, "helped"), (-1, "did not help"))


class Thumbs:
    """The ratings of one user, as buttons."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def told(self, record: ContextRecord) -> list[Feedback]:
        """Return what is said of a call in words, and holds."""
        return [one for one in self._said(record) if one.note or one.missing]

    def of_call(self, record: ContextRecord) -> Html:
        """Return the buttons of a whole call."""
        whole = [one.value for one in self._said(record) if not one.about and not one.missing]
        return self._buttons(record, "", whole[0] if whole else 0)

    def of_items(self, record: ContextRecord) -> Callable[[ItemOutcome], Html | None]:
        """Return what makes the buttons of each thing that a call showed."""
        said = {one.about: one.value for one in self._said(record) if one.about}

        def buttons(used: ItemOutcome) -> Html | None:
            return self._buttons(record, used.ref, said.get(used.ref, 0))

        return buttons

    def _said(self, record: ContextRecord) -> list[Feedback]:
        return [one for one in self._site.ctx.ratings(record=record.ref) if not one.replaced]

    def _buttons(self, record: ContextRecord, about: str, said: int) -> Html:
        hidden = {"mark": self._site.mark, "about": about}
        fields = [
            tag("input", type="hidden", name=name, value=value) for name, value in hidden.items()
        ]
        # Pressed again, a button takes back what it said.
        buttons = [
            tag(
                "button",
                label,
                name="value",
                value=0 if said == value else value,
                aria_pressed="true" if said == value else "false",
                class_="thumb",
            )
            for value, label in _BUTTONS
        ]
        action = f"/records/{record.ref}/rate"
        return tag("form", *fields, *buttons, action=action, method="post", class_="thumbs")
