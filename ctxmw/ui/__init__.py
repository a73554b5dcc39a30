"""A page on this machine to look at a memory: `ctxmw ui`.

Server-rendered, reachable from this machine only, and only with the token that the command prints.
Its one script puts times into the reader's zone and follows what agents write; all else works
without it. What the page changes goes through `ContextMiddleware`.
"""

from __future__ import annotations

from ..errors import MissingPackage

try:
    import jinja2 as _jinja2
    import markdown_it as _markdown_it
    import starlette as _starlette
    import uvicorn as _uvicorn
except ImportError as error:
    raise MissingPackage('the local page needs packages: pip install "ctxmw[ui]"') from error

from .server import app_for, serve

__all__ = ["app_for", "serve"]

del _jinja2, _markdown_it, _starlette, _uvicorn
