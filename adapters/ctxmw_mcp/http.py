"""The server over HTTP: on this machine only unless told otherwise, and never without a check.

A web page can make a browser send requests to a server on the same machine, by a name that it
points there: so the Host must be one of ours, and an Origin too where there is one. Then a token
says who it is.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from mcp.server import Server
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxmw import ContextMiddleware, InvalidValue

from .server import memory_server

PATH = "/mcp"
GRACE = 2
"""Seconds to finish what is being answered: a client that listens would keep us for ever."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def http_app(
    server: Server[Any],
    *,
    tokens: Mapping[str, str] | None,
    host: str = "127.0.0.1",
    port: int = 8765,
    allow_hosts: Sequence[str] = (),
    allow_origins: Sequence[str] = (),
) -> Starlette:
    """Return the ASGI application.

    `tokens` says whose each bearer token is. None serves everybody who reaches it as the memory's
    one user: allowed on this machine only. `allow_hosts` and `allow_origins` name what may be
    asked for beside this machine, such as "memory.example.org" and "https://app.example.org".
    """
    if tokens is None and host not in LOOPBACK:
        raise InvalidValue(f"host is {host!r}, which others can reach: give tokens.")
    if host not in LOOPBACK and not allow_hosts:
        raise InvalidValue(
            f"host is {host!r}: name the hosts that clients ask for, such as memory.example.org."
        )
    names = [name if name != "::1" else "[::1]" for name in LOOPBACK]
    hosts = [*(f"{name}:{port}" for name in names), *allow_hosts]
    origins = [*(f"http://{name}:{port}" for name in names), *allow_origins]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
        auth=_auth(host, port) if tokens is not None else None,
        token_verifier=Tokens(tokens) if tokens is not None else None,
    )
    # Outermost, so that a page learns nothing at all, not even that a token is missing.
    app.user_middleware.insert(0, Middleware(OnlyFrom, hosts=hosts, origins=origins))
    return app


def run_http(
    ctx: ContextMiddleware,
    *,
    tokens: Mapping[str, str] | None,
    host: str = "127.0.0.1",
    port: int = 8765,
    allow_hosts: Sequence[str] = (),
    allow_origins: Sequence[str] = (),
    ready: Callable[[], None] | None = None,
    seconds: float = 10.0,
    **options: Any,
) -> None:
    """Serve clients over HTTP until SIGINT or SIGTERM; `ready` is called when all is in order.

    Whoever connects has so many seconds to send the headers of a request.
    """
    import uvicorn

    from .patience import patient

    app = http_app(
        memory_server(ctx, **options),
        tokens=tokens,
        host=host,
        port=port,
        allow_hosts=allow_hosts,
        allow_origins=allow_origins,
    )
    if ready is not None:
        ready()
    # Not httptools, the other parser there may be: it leaves spaces around the values of headers.
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        http=patient(seconds),
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )


class Tokens:
    """Knows tokens by their hashes, so that how long a look takes says nothing about them."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        for token, user in tokens.items():
            if len(token) < 16 or not user:
                raise InvalidValue(
                    f"the token of {user!r} has {len(token)} characters: give each user one of "
                    "at least 16, such as `python -c 'import secrets; print(secrets.token_hex())'`."
                )
        self._users = {_hash(token): user for token, user in tokens.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose a token is; None when it is nobody's."""
        given = _hash(token)
        found = [user for known, user in self._users.items() if hmac.compare_digest(known, given)]
        if not found:
            return None
        return AccessToken(token=token, client_id=found[0], subject=found[0], scopes=[])


class OnlyFrom:
    """Refuses requests that ask for another host, or come from the page of another site."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request that is meant for us."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is not None and headers.get("host") not in self._hosts:
            refusal = PlainTextResponse("this host is not served here", status_code=421)
            await refusal(scope, receive, send)
        elif headers is not None and headers.get("origin", "") not in {*self._origins, ""}:
            refusal = PlainTextResponse("this origin is not allowed", status_code=403)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _auth(host: str, port: int) -> AuthSettings:
    # Tokens are handed out by the person who runs the server: there is no place to send people to.
    name = f"[{host}]" if ":" in host else host
    return AuthSettings(issuer_url=AnyHttpUrl(f"http://{name}:{port}"), resource_server_url=None)


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()
