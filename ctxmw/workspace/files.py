"""Reads files of a folder that may hold anything: links out of it, pipes, giants, binary data.

Whatever cannot be read as text is an `Unreadable` that says why; nothing waits and nothing is read
beyond its cap.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST = 1024 * 1024
"""Bytes beyond which a file is not read."""
_SNIFFED = 8192


class Unreadable(Exception):
    """Why a file was not read; for a warning, never for the user to catch."""


def read_under(root: Path, path: Path, largest: int = LARGEST) -> str:
    """Return the text of a regular file under the root, or raise `Unreadable`.

    A link is followed only to a file that is under the root too.
    """
    return decoded(read_bytes(inside(root, path), largest))


def inside(root: Path, path: Path) -> Path:
    """Return the path with its links resolved, or raise when that is not under the root."""
    try:
        real, top = path.resolve(strict=True), root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:  # gone, a loop of links, a NUL
        raise Unreadable(f"it cannot be found ({type(error).__name__})") from None
    if not real.is_relative_to(top):
        raise Unreadable("it leads out of its folder")
    return real


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Return what a regular file holds, or raise `Unreadable`."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Unreadable("it is no regular file")
        with open(path, "rb", opener=open_safely) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("it is no regular file")
            if status.st_size > largest:
                raise Unreadable(f"it has {status.st_size} bytes, more than {largest}")
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"it cannot be opened ({type(error).__name__})") from None
    if len(data) > largest:
        raise Unreadable(f"it has more than {largest} bytes")
    return data


def decoded(data: bytes) -> str:
    """Return the bytes as text, or raise when they are not."""
    if b"\0" in data[:_SNIFFED]:
        raise Unreadable("it is binary")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 (byte {error.start})") from None


def open_safely(path: str, flags: int) -> int:
    """Follow no link and do not wait for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
