"""The pages on a port of this machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from ..errors import InvalidValue
from .app import app_for
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
