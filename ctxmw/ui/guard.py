"""Who may see the page, and what a browser may do with it.

The token of the URL is exchanged for a cookie at once, so it is in no link, referrer or bookmark.
Only requests that name this machine are answered, whatever a foreign name server says. A page may
load its style sheet, its icon and its script from here, and nothing from anywhere else; no script
can stand in a page itself.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import InvalidValue

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_LARGEST_FORM = 1_000_000
OURS = "same-origin"
"""What a browser says of a request that one of these pages makes."""


class Guard:
    """Lets in who has the token, from this machine; everything else is refused."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        refusal = self._refusal(asked)
        await (refusal or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, asked: HTTPConnection) -> Response | None:
        """Return what to answer instead of the page; None when it may be seen."""
        host = asked.headers.get("host", "")
        if host.rpartition(":")[0] not in LOOPBACK and host not in LOOPBACK:
            return PlainTextResponse("This page is for this machine only.", status_code=403)
        if asked.scope["method"] != "GET" and asked.headers.get("sec-fetch-site", OURS) != OURS:
            return PlainTextResponse("This came from another site.", status_code=403)
        if given := asked.query_params.get("token"):
            return self._welcome(asked) if _same(given, self._token) else _FORBIDDEN
        cookie = asked.cookies.get(self._cookie(asked), "")
        return None if _same(cookie, self._token) else _FORBIDDEN

    def _welcome(self, asked: HTTPConnection) -> Response:
        left = asked.url.remove_query_params("token")
        answer = RedirectResponse(left.path + (f"?{left.query}" if left.query else ""), 303)
        name = self._cookie(asked)
        answer.set_cookie(name, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _cookie(self, asked: HTTPConnection) -> str:
        # Cookies do not know ports: two pages on one machine must not overwrite each other's.
        return f"ctxmw-{asked.url.port or 80}"


def form_mark(token: str) -> str:
    """Return what every form carries, so that no other site can send one."""
    return hmac.new(token.encode(), b"form", sha256).hexdigest()


async def body_of(request: Request) -> bytes:
    """Return what a request carries; of more than a form may have, no more than that is read."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > _LARGEST_FORM:
        raise _too_large(f"{int(told):,} bytes")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_FORM:
            raise _too_large("too many bytes")
    return bytes(body)


def _too_large(has: str) -> InvalidValue:
    return InvalidValue(f"the form has {has}: at most {_LARGEST_FORM:,} are read.")


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form."""

    fields: Mapping[str, Sequence[str]]

    def get(self, name: str, default: str = "") -> str:
        """Return a field, the default when it is not there."""
        return next(iter(self.fields.get(name, ())), default).replace("\r\n", "\n")

    def every(self, name: str) -> list[str]:
        """Return all that was ticked or told under one name."""
        return list(dict.fromkeys(self.fields.get(name, ())))


def read_form(body: bytes, token: str) -> Form:
    """Return the fields of a form, or raise when it is not one of ours."""
    try:
        form = Form(parse_qs(body.decode(), keep_blank_values=True))
    except UnicodeDecodeError:
        raise InvalidValue("the form is not UTF-8.") from None
    if not _same(form.get("mark"), form_mark(token)):
        raise InvalidValue("the form is not from this page, or from before it was restarted.")
    return form


_FORBIDDEN = PlainTextResponse(
    "Open the address that `ctxmw ui` printed: it carries the token.", status_code=403
)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _with_headers(send: Send) -> Send:
    added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sending
