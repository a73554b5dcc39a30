"""What is done in an editor: as a tool, as a request of its own, and as a notification.

Every transport delivers requests and tool calls. Notifications arrive over a pipe and from older
clients; newer ones over HTTP keep no connection that could carry them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp_types import EmptyResult, NotificationParams, RequestParams
from pydantic import ConfigDict

from ctxmw import CtxmwError

from .addresses import plain_path
from .callers import Callers, Request
from .updates import Updates

METHOD = "ctxmw/activity"
OTHER_METHOD = "ctx-sys/activity"
"""What it was called before this server had a name."""
EXTENSION = "io.github.ctxmw/activity"


class ActivityRequest(RequestParams):
    """Such as {"type": "file_edit", "filePath": "src/auth.py", "changedSymbols": ["login"]}."""

    model_config = ConfigDict(extra="allow")


class ActivityNotification(NotificationParams):
    """The same, with no answer awaited."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Activities:
    """Hands on what editors tell."""

    callers: Callers
    updates: Updates

    def register(self, server: Server[Any]) -> None:
        """Have a server take activity as a request and as a notification."""
        for method in (METHOD, OTHER_METHOD):
            server.add_request_handler(method, ActivityRequest, self.request)
            server.add_notification_handler(method, ActivityNotification, self.notification)
        server.extensions[EXTENSION] = {"method": METHOD}

    async def notice(self, request: Request, activity: dict[str, Any]) -> None:
        """Tell every open conversation of the project, then who subscribed."""
        user = self.callers.user(request)
        told = dict(activity)
        named = next((name for name in _PATHS if isinstance(told.get(name), str)), "path")
        path = self.callers.inside(plain_path(told.get(named) or ""))
        if path:
            told[named] = path
        await self.callers.ctx.anotice(told, user=user, project=self.callers.project)
        await self.updates.publish(user, path)

    async def request(self, request: Request, params: ActivityRequest) -> EmptyResult:
        """Take an activity and say that it has arrived."""
        await self.notice(request, _given(params))
        return EmptyResult()

    async def notification(self, request: Request, params: ActivityNotification) -> None:
        """Take an activity; nobody waits to hear what is wrong with it."""
        try:
            await self.notice(request, _given(params))
        except CtxmwError:
            return


_PATHS = ("path", "filePath", "file_path", "file")


def _given(params: ActivityRequest | ActivityNotification) -> dict[str, Any]:
    return dict(params.model_extra or {})
