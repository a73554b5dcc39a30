"""The pages, behind their guard."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..display import style
from ..errors import CtxmwError
from .guard import Guard
from .pages import Pages

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware


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
