"""What an editor tells arrives: as a tool call, as a request, and as a notification."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import EmptyResult, Notification, Request

from ctxmw import ContextMiddleware
from ctxmw_mcp import memory_server
from ctxmw_mcp.resources import AUTO, FILE
from tests.support.waiting import PATIENCE

EDIT = {"type": "file_edit", "filePath": "src/auth.py", "changedSymbols": ["AuthService"]}
CODE = '''
class AuthService:
    """Checks tokens at the door."""

    def verify(self, token: str) -> bool:
        """Return whether the token is good."""
        return bool(token)
'''


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ContextMiddleware]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "auth.py").write_text(CODE)
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        memory.index_code(tmp_path, project="shop")
        yield memory


@pytest.fixture(params=["legacy", "auto"])
def connect(request, ctx):
    return lambda: Client(memory_server(ctx, project="shop", connection="c1"), mode=request.param)


async def read(client: Client, uri: str) -> str:
    return (await client.read_resource(uri)).contents[0].text


async def tell_by_tool(client: Client, activity: dict[str, Any]) -> None:
    assert not (await client.call_tool("activity", activity)).is_error


async def tell_by_request(client: Client, activity: dict[str, Any]) -> None:
    request = Request[dict[str, Any], str](method="ctxmw/activity", params=activity)
    await client.session.send_request(request, EmptyResult)


@pytest.mark.parametrize("tell", [tell_by_tool, tell_by_request])
async def test_what_is_edited_is_in_the_automatic_context(connect, tell):
    async with connect() as client:
        assert "AuthService" not in await read(client, AUTO)
        await tell(client, EDIT)
        assert "Checks tokens at the door." in await read(client, AUTO)


async def test_an_older_client_may_tell_it_as_a_notification(ctx):
    server = memory_server(ctx, project="shop", connection="c1")
    async with Client(server, mode="legacy") as client:
        said = Notification[dict[str, Any], str](method="ctxmw/activity", params=EDIT)
        await client.session.send_notification(said)
        wrong = Notification[dict[str, Any], str](method="ctxmw/activity", params={"type": "fly"})
        await client.session.send_notification(wrong)
        with anyio.fail_after(PATIENCE):
            while "AuthService" not in await read(client, AUTO):  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)


async def test_a_file_tells_what_is_in_it(connect):
    async with connect() as client:
        assert "Checks tokens at the door." in await read(client, f"{FILE}src/auth.py")


@pytest.mark.parametrize(
    "activity", [{"type": "fly"}, {"type": "file_edit"}, {}, {"type": "file_open", "filePath": 5}]
)
async def test_an_activity_that_is_none_is_refused(connect, activity):
    async with connect() as client:
        assert (await client.call_tool("activity", activity)).is_error
        with pytest.raises(MCPError):
            await tell_by_request(client, activity)


async def test_the_extension_is_announced(ctx):
    async with Client(memory_server(ctx), mode="auto") as client:
        assert client.server_capabilities.extensions == {
            "io.github.ctxmw/activity": {"method": "ctxmw/activity"}
        }
