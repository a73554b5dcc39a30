"""How a value looks in a notebook. What it looks like is in `ctxmw.display`, loaded when asked."""

from __future__ import annotations

from typing import Any


class Displayed:
    """Shown by Jupyter as HTML, by IPython in a terminal as text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from ..display import html_of

        return html_of(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        # Where a class has a repr of its own, IPython looks no further for a `_repr_pretty_`.
        from ..display import text_of

        return {"text/plain": text_of(self)}

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        # And what is a list as well is printed by this, whatever the bundle says.
        from ..display import text_of

        printer.text(text_of(self))
