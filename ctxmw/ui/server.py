"""The pages, behind their guard, on a port of this machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..display import style
from ..errors import CtxmwError, InvalidValue
from .changes import Changes
from .guard import Guard
from .inspector import Inspector
from .live import News
from .pages import Pages
from .patience import SECONDS, patient
from .site import Site

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware


GRACE = 2
"""Seconds to finish what is being answered: a browser that reads nothing does not keep us."""


def serve(
    ctx: ContextMiddleware,
    *,
    port: int = 0,
    ready: Callable[[str], None],
    seconds: float = SECONDS,
) -> None:
    """Serve the pages until interrupted; `ready` is told the address once it answers.

    Port 0 takes any that is free. Nothing but this machine can reach it. Whoever connects has so
    many seconds to ask for something.
    """
    token = secrets.token_urlsafe(24)
    bound, news = _bound(port), News(ctx)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/?token={token}"
    # No access log: the first address holds the token.
    config = uvicorn.Config(
        app_for(ctx, token=token, news=news),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        http=patient(seconds),
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    try:
        _Server(config, lambda: ready(address), news.close).run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        bound.close()


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], closing: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._closing = closing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Pages that follow what is written would keep their connections open.
        self._closing()
        await super().shutdown(sockets=sockets)


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise InvalidValue(f"port {port} cannot be used ({error}): choose another.") from error
    return bound


def app_for(ctx: ContextMiddleware, *, token: str, news: News | None = None) -> Starlette:
    """Return the pages of a memory as an ASGI application; whoever has the token may see them."""
    news = news or News(ctx)
    site = Site(ctx, token, news)
    pages, changes, inspector = Pages(site), Changes(site), Inspector(site)
    post = partial(Route, methods=["POST"])
    get = partial(Route, methods=["GET"])
    routes = [
        get("/", _home),
        get("/conversations", pages.conversations),
        get("/conversation", pages.conversation),
        get("/conversation/export", pages.export),
        get("/records/{ref}", pages.record),
        post("/records/{ref}/rate", changes.rate),
        get("/memories", pages.memories),
        post("/memories", changes.remember),
        get("/items/{ref}", pages.item),
        post("/items/{ref}/edit", changes.edit),
        post("/items/{ref}/pin", changes.pin),
        post("/ticked", changes.act),
        get("/forget", pages.forget_page),
        post("/forget", changes.forget),
        get("/usage", pages.usage),
        get("/catalog", pages.catalog),
        get("/inspector", inspector.page),
        post("/inspector", inspector.inspect),
        get("/events", news.events),
        get("/style.css", _style),
        get("/page.js", _script),
        get("/icon.svg", _icon),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={CtxmwError: site.problem, 404: site.problem},
    )


def _home(_: Request) -> Response:
    return RedirectResponse("/conversations", status_code=303)


def _style(_: Request) -> Response:
    return Response(style() + _read("page.css"), media_type="text/css")


def _script(_: Request) -> Response:
    return Response(_read("page.js"), media_type="text/javascript")


def _icon(_: Request) -> Response:
    return Response(_read("icon.svg"), media_type="image/svg+xml")


def _read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
