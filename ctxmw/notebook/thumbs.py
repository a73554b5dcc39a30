"""Buttons to say what helped, where ipywidgets is installed and a kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackage

if TYPE_CHECKING:
    from ..conversation.record import ContextRecord
    from ..middleware import ContextMiddleware

_LOOKS = {1: ("helped", "success"), -1: ("did not help", "danger")}


def rating_buttons(ctx: ContextMiddleware, record: ContextRecord) -> Any:
    """Return two buttons for the call and for each thing that it was shown.

    A press is `ctx.rate`; pressed again, a button takes it back.
    """
    try:
        import ipywidgets as widgets  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingPackage(
            "buttons need ipywidgets: pip install ipywidgets. Without, say it with "
            "ctx.rate(record, ref, 1)."
        ) from error
    known = [one for one in ctx.ratings(record=record.ref) if not one.replaced and not one.missing]
    said = {one.about: one.value for one in known}
    shown = {used.ref: used.title for used in record.used if used.shown in ("full", "brief")}

    def row(ref: str, title: str) -> Any:
        def press(value: int) -> None:
            ctx.rate(record.ref, ref or None, value)

        return _row(widgets, title, said.get(ref, 0), press)

    titles = {"": "the call as a whole", **shown}
    return widgets.VBox([row(ref, title) for ref, title in titles.items()])


def _row(widgets: Any, title: str, said: int, press: Callable[[int], None]) -> Any:
    buttons = {
        value: widgets.Button(description=label, layout=widgets.Layout(width="7.5em"))
        for value, (label, _) in _LOOKS.items()
    }

    def look(value: int) -> None:
        for own, button in buttons.items():
            button.button_style = _LOOKS[own][1] if own == value else ""

    def pressed(button: Any) -> None:
        own = next(value for value, one in buttons.items() if one is button)
        value = 0 if button.button_style else own
        press(value)
        look(value)

    for button in buttons.values():
        button.on_click(pressed)
    look(said)
    # A label shows text as it is: what was remembered stays text.
    return widgets.HBox([*buttons.values(), widgets.Label(title)])
