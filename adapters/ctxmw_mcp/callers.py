"""Who asks, and in which conversation.

The user is the one whose token came with the request; without tokens, the one the memory was opened
for. No argument can name another. The conversation is the one an argument names, else that of the
connection, else the project's of this day: newer clients keep no connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

from ctxmw import ContextMiddleware, MissingUser, Session

Request = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """Finds the user and the conversation of a request."""

    ctx: ContextMiddleware
    project: str | None = None
    language: str | None = None
    cwd: str | Path | None = None
    """The folder whose rules and files come along."""
    connection: str = ""
    """The conversation of the one connection there is, when the server talks over a pipe."""

    def user(self, request: Request) -> str:
        """Return whose memory is asked; raise when nobody was named."""
        scope = getattr(request.request, "scope", {})
        caller = scope.get("user")
        if isinstance(caller, AuthenticatedUser):
            return caller.access_token.subject or caller.access_token.client_id
        if self.ctx.user is None:
            raise MissingUser("this server has many users and the request carries no token.")
        return self.ctx.user

    def connection_of(self, request: Request) -> str:
        """Return what is the same for all requests of one connection; "" when there is none."""
        headers = getattr(request.request, "headers", {})
        session = headers.get("mcp-session-id")
        return f"mcp-{session[:24]}" if session else self.connection

    def conversation(self, request: Request, named: str | None = None, **options: Any) -> Session:
        """Return the conversation of a request."""
        return self.ctx.session(
            named or self.connection_of(request) or self._today(),
            user=self.user(request),
            project=self.project,
            language=self.language,
            cwd=self.cwd,
            **options,
        )

    def inside(self, path: str) -> str:
        """Return a path as seen from the folder, when it is one of that folder's."""
        if self.cwd is None or not Path(path).is_absolute():
            return path
        try:
            return Path(path).relative_to(Path(self.cwd).absolute()).as_posix()
        except ValueError:
            return path

    def _today(self) -> str:
        return f"{self.project or 'anywhere'}-{datetime.now(UTC).date().isoformat()}"
