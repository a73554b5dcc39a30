"""A page on this machine to look at a memory: `ctxmw ui`.

Server-rendered, no script, reachable from this machine only, and only with the token that the
command prints. It reads while agents write; what it changes goes through `ContextMiddleware`.
"""

from __future__ import annotations

from ..errors import MissingPackage

try:
    import jinja2 as _jinja2
    import starlette as _starlette
    import uvicorn as _uvicorn
except ImportError as error:
    raise MissingPackage('the local page needs packages: pip install "ctxmw[ui]"') from error

from .server import app_for, serve

__all__ = ["app_for", "serve"]

del _jinja2, _starlette, _uvicorn
