"""The addresses of resources: their names, other names they go by, and the file one names.

`ctx-sys://context/...` was their name before this server had one: whoever knows it may use it.
"""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from .callers import Callers

CONTEXT = "ctxmw://context/"
OTHER_CONTEXT = "ctx-sys://context/"
AUTO = f"{CONTEXT}auto"
AUTO_JSON = f"{AUTO}.json"
SESSION = f"{CONTEXT}session"
FILE = f"{CONTEXT}file/"


def own_name(uri: str) -> str:
    """Return the name that a resource has here, whichever a client uses."""
    if uri.startswith(OTHER_CONTEXT):
        return CONTEXT + uri.removeprefix(OTHER_CONTEXT)
    return uri


def changes_with(uri: str) -> str:
    """Return the resource with which another one changes: its own, but for what it looks like."""
    return own_name(uri).removesuffix(".json") if own_name(uri) == AUTO_JSON else own_name(uri)


def file_of(uri: str, callers: Callers) -> str | None:
    """Return the file that a URI names; None when it names none, an error when it must not."""
    if not uri.startswith(FILE):
        return None
    # Twice: what is encoded twice must not come apart behind this check.
    path = callers.inside(plain_path(unquote(unquote(uri.removeprefix(FILE)))))
    parts = PurePosixPath(path.replace("\\", "/")).parts
    is_absolute = path.startswith(("/", "\\", "~")) or bool(PureWindowsPath(path).drive)
    if not parts or is_absolute or ".." in parts or not path.isprintable():
        raise unknown(uri, "give a path inside the project, such as src/app.py")
    return path


def plain_path(path: str) -> str:
    """Return the path of a file:// address; a path stays as it is."""
    if not path.lower().startswith("file://"):
        return path
    named = unquote(urlsplit(path).path)
    has_drive = named[:1] == "/" and named[2:3] == ":"  # /c:/src/app.py
    return named[1:] if has_drive else named


def unknown(uri: str, advice: str = "see resources/list") -> MCPError:
    """Return the error for a resource that does not exist."""
    return MCPError(INVALID_PARAMS, f"there is no resource {uri[:200]!r}: {advice}.", {"uri": uri})
