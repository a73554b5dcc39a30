"""MCP: the memory as a server for editors, assistants and agents.

    memory_server(ctx).run(...)           # or, from a shell: ctxmw mcp
    app = http_app(memory_server(ctx), tokens={"...": "ada"})

Tools search, fetch, remember and forget; resources show what a prompt would be given; a prompt
opens a conversation with it; `ctxmw/activity` tells what is done in an editor.
"""

from ctxmw import MissingPackage

try:
    from mcp.server import Server  # noqa: F401 - mcp 1 has the package, but not what is needed
    from mcp_types import RequestParams  # noqa: F401
except ImportError as error:
    raise MissingPackage('ctxmw_mcp needs mcp 2.3 or newer: pip install "ctxmw[mcp]"') from error

from .http import http_app, run_http
from .server import memory_server, run_stdio

__all__ = ["http_app", "memory_server", "run_http", "run_stdio"]
