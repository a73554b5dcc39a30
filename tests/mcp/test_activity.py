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
from ctxmw_mcp.addresses import AUTO, FILE
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


async def tell_by_request(
    client: Client, activity: dict[str, Any], method: str = "ctxmw/activity"
) -> None:
    request = Request[dict[str, Any], str](method=method, params=activity)
    await client.session.send_request(request, EmptyResult)


async def tell_by_the_other_name(client: Client, activity: dict[str, Any]) -> None:
    await tell_by_request(client, activity, "ctx-sys/activity")


@pytest.mark.parametrize("tell", [tell_by_tool, tell_by_request, tell_by_the_other_name])
async def test_what_is_edited_is_in_the_automatic_context(connect, tell):
    async with connect() as client:
        assert "AuthService" not in await read(client, AUTO)
        await tell(client, EDIT)
        assert "Checks tokens at the door." in await read(client, AUTO)


@pytest.mark.parametrize("method", ["ctxmw/activity", "ctx-sys/activity"])
async def test_an_older_client_may_tell_it_as_a_notification(ctx, method):
    server = memory_server(ctx, project="shop", connection="c1")
    async with Client(server, mode="legacy") as client:
        said = Notification[dict[str, Any], str](method=method, params=EDIT)
        await client.session.send_notification(said)
        wrong = Notification[dict[str, Any], str](method="ctxmw/activity", params={"type": "fly"})
        await client.session.send_notification(wrong)
        with anyio.fail_after(PATIENCE):
            while "AuthService" not in await read(client, AUTO):  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)


async def test_a_file_tells_what_is_in_it(connect):
    async with connect() as client:
        assert "Checks tokens at the door." in await read(client, f"{FILE}src/auth.py")


@pytest.mark.parametrize("path", ["{root}/src/auth.py", "file://{root}/src/auth.py"])
async def test_a_file_may_be_named_by_its_whole_path_or_its_address(ctx, tmp_path, path):
    server = memory_server(ctx, project="shop", connection="c1", cwd=tmp_path)
    async with Client(server) as client:
        named = path.format(root=tmp_path.as_posix())
        await tell_by_request(client, {**EDIT, "filePath": named})
        assert "Checks tokens at the door." in await read(client, AUTO)
        assert "Checks tokens at the door." in await read(client, f"{FILE}{named}")
        with pytest.raises(MCPError, match="inside the project"):
            await read(client, f"{FILE}file:///etc/passwd")


async def test_a_saved_file_is_read_again(connect, tmp_path):
    async with connect() as client:
        (tmp_path / "src" / "auth.py").write_text(CODE.replace("tokens at the door", "a badge"))
        await tell_by_request(client, {**EDIT, "type": "file_save"})
        assert "Checks a badge." in await read(client, AUTO)


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
        told = client.server_capabilities.extensions
        assert told["io.github.ctxmw/activity"] == {"method": "ctxmw/activity"}
        assert "ctxmw/pin" in told["io.github.ctxmw/memory"]["methods"]
