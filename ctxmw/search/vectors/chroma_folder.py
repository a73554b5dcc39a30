"""A folder with a Chroma index in it, opened only when it is as it was left.

Chroma reads its files without looking at them: one damaged file ends the whole process. So a
folder is sealed with the checksums of its files when it is closed, and emptied before use when
the seal does not fit: after a kill, a crash, or anybody's hand in it. Nothing is lost, for the
index is built again from the store.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from hashlib import blake2b
from pathlib import Path
from typing import IO

from ...errors import StoreError
from ...store.part_files import lock

_log = logging.getLogger("ctxmw")

_LOCK = "ctxmw.lock"
_SEAL = "ctxmw.seal"


class SealedFolder:
    """The folder of one index, in use by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None
        self._pid = 0

    def open(self) -> None:
        """Make the folder ready for use by this process, empty unless all in it is sound."""
        try:
            self._take()
            if not self._sound():
                self.empty()
            (self.path / _SEAL).unlink(missing_ok=True)
        except OSError as error:
            self.release()
            raise StoreError(
                f"{self.path}: {error.strerror or error}. Make the folder writable, or use "
                'index="numpy".'
            ) from error

    def check(self) -> None:
        """Raise unless this process has the folder, and it is the one that was opened."""
        if not self.is_mine():
            raise StoreError(
                f"{self.path} is in use by the process that this one was forked from. Open the "
                "memory after the fork, or use a Chroma server."
            )
        if not self._is_there():
            raise StoreError(f"{self.path} was taken away while in use. It is being made again.")

    def is_mine(self) -> bool:
        """Return whether this very process has opened it: a forked child has not."""
        return self._file is not None and self._pid == os.getpid()

    def empty(self) -> None:
        """Remove all files of the index."""
        for entry in self._entries():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def seal(self) -> None:
        """Write down what is in the folder; nothing may be open in it any more."""
        if not self.is_mine():
            return
        try:
            self.check()
            new = self.path / (_SEAL + ".new")
            new.write_text(json.dumps(self._prints()), encoding="utf-8")
            new.replace(self.path / _SEAL)
        except (OSError, StoreError) as error:
            _log.debug("%s is not sealed and will be made again: %s", self.path, error)

    def release(self) -> None:
        """Let another process have the folder."""
        if self._file is not None:
            if self._pid == os.getpid():
                _unlock(self._file)
            self._file.close()
            self._file = None

    def _take(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (self.path / _LOCK).exists() and any(self.path.iterdir()):
            raise StoreError(
                f"{self.path} holds something that is not an index of ctxmw. Give a folder that "
                "is empty or does not exist; nothing was changed."
            )
        self._file, self._pid = (self.path / _LOCK).open("ab"), os.getpid()
        if not lock(self._file):
            self._file.close()
            self._file = None
            raise StoreError(
                f"{self.path} is in use by another process or another open memory. An embedded "
                'Chroma is for one: close the other, run `chroma run` and use index="chroma://'
                'HOST:PORT", or use index="numpy".'
            )

    def _is_there(self) -> bool:
        try:
            there = (self.path / _LOCK).stat()
        except OSError:
            return False
        return self._file is not None and os.path.samestat(there, os.fstat(self._file.fileno()))

    def _sound(self) -> bool:
        try:
            sealed = json.loads((self.path / _SEAL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(sealed == self._prints())

    def _prints(self) -> dict[str, str]:
        files = (path for path in sorted(self.path.rglob("*")) if path.is_file())
        return {
            str(path.relative_to(self.path)): _print(path)
            for path in files
            if not path.name.startswith("ctxmw.")
        }

    def _entries(self) -> list[Path]:
        return [entry for entry in self.path.iterdir() if entry.name != _LOCK]


def _print(path: Path) -> str:
    hashed = blake2b(digest_size=16)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


def _unlock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:
        return
    # A forked child has a copy of the file, which alone would keep the lock.
    fcntl.flock(file, fcntl.LOCK_UN)
