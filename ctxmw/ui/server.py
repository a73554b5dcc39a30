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
from .guard import Guard
from .pages import Pages
from .patience import SECONDS, patient

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
    bound = _bound(port)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/?token={token}"
    # No access log: the first address holds the token.
    config = uvicorn.Config(
        app_for(ctx, token=token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        http=patient(seconds),
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    try:
        _Server(config, lambda: ready(address)).run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        bound.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise InvalidValue(f"port {port} cannot be used ({error}): choose another.") from error
    return bound


def app_for(ctx: ContextMiddleware, *, token: str) -> Starlette:
    """Return the pages of a memory as an ASGI application; whoever has the token may see them."""
    pages = Pages(ctx, token)
    post = partial(Route, methods=["POST"])
    routes = [
        Route("/", _home),
        Route("/conversations", pages.conversations),
        Route("/conversation", pages.conversation),
        Route("/records/{ref}", pages.record),
        Route("/memories", pages.memories, methods=["GET"]),
        post("/memories", pages.remember),
        Route("/items/{ref}", pages.item),
        post("/items/{ref}/edit", pages.edit),
        post("/items/{ref}/pin", pages.pin),
        Route("/items/{ref}/forget", pages.forget_page, methods=["GET"]),
        post("/items/{ref}/forget", pages.forget),
        Route("/catalog", pages.catalog),
        Route("/inspector", pages.inspector, methods=["GET"]),
        post("/inspector", pages.inspect),
        Route("/style.css", _style),
        Route("/icon.svg", _icon),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={CtxmwError: pages.problem, 404: pages.problem},
    )


def _home(_: Request) -> Response:
    return RedirectResponse("/conversations", status_code=303)


def _style(_: Request) -> Response:
    return Response(style() + _read("page.css"), media_type="text/css")


def _icon(_: Request) -> Response:
    return Response(_read("icon.svg"), media_type="image/svg+xml")


def _read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
