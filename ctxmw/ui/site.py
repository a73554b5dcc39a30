"""What every page has at hand: the memory, its templates, and how a form is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..errors import CtxmwError, InvalidValue, NotFound
from .guard import Form, body_of, form_mark, read_form
from .live import News
from .reading import Reading, pages_of, shown_page
from .templates import Templates

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

TOLD = {
    "remembered": "Remembered.",
    "edited": "Saved. The version before is kept below.",
    "forgotten": "Forgotten.",
    "rated": "Thank you: it counts where something alike is asked again.",
    "unrated": "Taken back.",
    "pinned": "Pinned: in every conversation from the next call on.",
    "on_demand": "On demand: it comes when it is searched for, and no longer by itself.",
    "unpinned": "Left to itself: it comes where it matters.",
    "put_away": "Kept out of prompts and search until you bring it back.",
    "restored": "Brought back.",
    "pinned_there": "Pinned to that conversation: shown from its next call on.",
    "kept_out_there": "Kept out of that conversation.",
    "unpinned_there": "Neither pinned nor kept out in that conversation any more.",
    "nothing": "Nothing was ticked that this can be done with.",
}
"""What a page says after something was done; an address can only choose among these."""


class Site:
    """One user's memory behind one token."""

    def __init__(self, ctx: ContextMiddleware, token: str, news: News) -> None:
        self.ctx = ctx
        self._news = news
        self.reading = Reading(ctx)
        self._token = token
        mark = form_mark(token)
        self._templates = Templates(
            user=self.reading.user, mark=mark, store=self.reading.store_name
        )
        self.mark = mark

    def show(self, request: Request, name: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page, with what was done just now."""
        asked = request.query_params
        done, n = asked.get("done", ""), asked.get("n", "")
        told = TOLD.get(done, "")
        if told and n.isdecimal() and len(n) < 6:
            told = f"{n}: {told[0].lower()}{told[1:]}"
        live = self._news.count() if request.method == "GET" and status == 200 else None
        here = urlsplit(str(request.url))
        back = here.path + (f"?{here.query}" if here.query else "")
        values = {"told": told, "live": live, "back": back, **values}
        return self._templates.response(name, status, values)

    async def form(self, request: Request) -> Form:
        """Return the form that was sent."""
        return read_form(await body_of(request), self._token)

    async def problem(self, request: Request, error: Exception) -> Response:
        """Say what did not work, and go on."""
        status = 404 if isinstance(error, NotFound) else 400
        if not isinstance(error, CtxmwError):
            status, error = 404, NotFound(f"there is no page {request.url.path!r}.")
        return self.show(request, "problem", status=status, message=str(error))


def to(path: str, done: str = "", n: int | None = None) -> Response:
    """Send the browser on to a page, which says what was done."""
    here = urlsplit(path)
    told = {"done": done, **({"n": str(n)} if n is not None else {})} if done else {}
    kept = [
        part for part in here.query.split("&") if part and part[:5] != "done=" and part[:2] != "n="
    ]
    query = "&".join([*kept, *([urlencode(told)] if told else [])])
    return RedirectResponse(here.path + (f"?{query}" if query else ""), status_code=303)


def back_in(form: Form, default: str) -> str:
    """Return the page a form was on; only one of ours."""
    back = form.get("back", default)
    ours = back.startswith("/") and not back.startswith("//") and "\\" not in back
    return back if ours and back.isprintable() else default


def asked_for(request: Request, name: str) -> str:
    """Return what the address names; raise when it names nothing."""
    value = request.query_params.get(name, "")
    if not value:
        raise NotFound(f"the address names no {name}.")
    return value


def number_in(text: str, what: str) -> int:
    """Return the number that a text is; raise for what is none."""
    if not text.isdecimal() or len(text) > 9:
        raise InvalidValue(f"{what} is {text!r:.40}: give a whole number.")
    return int(text)


def page_in(request: Request) -> int:
    """Return the page of a list that is asked for, the first one is 0."""
    return number_in(request.query_params.get("page", "0"), "the page")


def paging(total: int, page: int) -> dict[str, Any]:
    """Return what a list says of its pages; one that is too far is the last one."""
    page = shown_page(total, page)
    return {"total": total, "page": page, "pages": pages_of(total, page)}
