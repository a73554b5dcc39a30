"""Writes a file beside its place, and puts it there when it is whole.

A process that is killed leaves its part behind. While a part is written it is locked, and the
system unlocks it with the process: so whoever writes to the same place next knows which parts are
nobody's, and removes them.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_END = ".part"


@contextmanager
def part_of(path: Path) -> Iterator[IO[str]]:
    """Give a file to write to; what it holds is at `path` afterwards, or nothing is changed."""
    _remove_stale(path)
    file = _locked_part(path)
    part = Path(file.name)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name != "nt":  # there, what is open cannot be moved; here, the lock is kept
                part.replace(path)
        if os.name == "nt":
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _locked_part(path: Path) -> IO[str]:
    while True:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is handed on open
            "w",
            encoding="utf-8",
            dir=path.parent,
            prefix=f"{path.name}.ctxmw-",
            suffix=_END,
            delete=False,
        )
        try:
            mine = lock(file)
        except OSError:  # a file system without locks: nobody removes anything there
            return file
        # Before it was locked, another may have taken it for a stale one.
        if mine and Path(file.name).exists():
            return file
        file.close()


def _remove_stale(path: Path) -> None:
    ours = re.compile(re.escape(f"{path.name}.ctxmw-") + r"[a-z0-9_]{8}" + re.escape(_END))
    for part in [each for each in path.parent.iterdir() if ours.fullmatch(each.name)]:
        # Gone meanwhile, not ours to open, (on Windows) still written, or no locks: left alone.
        with suppress(OSError), part.open("r+", encoding="utf-8") as file:
            if not part.is_symlink() and lock(file):
                part.unlink()


def lock(file: IO[Any]) -> bool:
    """Lock a file until it is closed; False when another has. Raises where there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows: what is open there cannot be removed
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
