"""Asks the process that has a memory open, where there is one; imports next to nothing.

Every such process leaves a note in the data folder, for its owner only: where it listens, and a
key. Both sides prove that they have the key before a word of the question is sent, so that neither
a stranger who asks nor one who has taken over the port learns anything.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple

from ... import __version__
from ...store.open import data_folder

FOLDER = "serving"
LARGEST = 64 * 2**20
"""Bytes of a question or an answer."""
PATIENCE = 10.0
"""Seconds that an answer may take; then it is looked for without help."""
_GREETING = 1.0
"""Seconds until somebody who listens has proved that he has the key."""
_MOST = 8
"""Processes that are asked, the one that began last first."""


class Address(NamedTuple):
    """Where a process listens, and the key that both sides must have."""

    port: int
    key: str
    version: str = __version__


def ask(question: Mapping[str, Any]) -> str | None:
    """Return what a process that serves this memory answers; None when there is none."""
    for note in _notes():
        try:
            address = Address(**json.loads(note.read_bytes()))
            if address.version != __version__:
                continue
            answer = _asked(address, question)
        except ConnectionRefusedError:
            # It was killed, and could not take its note along.
            with suppress(OSError):
                note.unlink()
        except (OSError, ValueError, TypeError):
            continue
        else:
            if answer is not None:
                return answer
    return None


def whereabouts(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return what tells which memory and which project are meant in this process."""
    own = {name: value for name, value in environ.items() if name.startswith("CTXMW_")}
    own.pop("CTXMW_TOKEN", None)
    return {"folder": str(Path.cwd()), "environ": own}


def proof(key: str, side: str, nonce: object) -> str:
    """Return what only somebody with the key can say to a number that was just made up."""
    return hmac.digest(key.encode(), f"{side} {nonce}".encode(), "sha256").hex()


def is_proved(given: object, key: str, side: str, nonce: object) -> bool:
    """Say whether the other side has the key."""
    return isinstance(given, str) and hmac.compare_digest(
        given.encode(), proof(key, side, nonce).encode()
    )


def send(stream: BufferedIOBase, value: Mapping[str, Any]) -> None:
    """Send a value as one line."""
    stream.write(json.dumps(value).encode() + b"\n")
    stream.flush()


def receive(stream: BufferedIOBase, most: int = LARGEST) -> dict[str, Any]:
    """Return the value in the next line; raises ValueError when there is none."""
    line = stream.readline(most)
    if not line.endswith(b"\n"):
        raise ValueError("the line is too long, or was cut off")
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no table")
    return value


def _notes() -> Iterator[Path]:
    with suppress(OSError):
        folder = data_folder() / FOLDER
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
        latest = sorted(found, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        yield from (Path(entry.path) for entry in latest[:_MOST])


def _asked(address: Address, question: Mapping[str, Any]) -> str | None:
    with (
        socket.create_connection(("127.0.0.1", address.port), timeout=_GREETING) as line,
        line.makefile("rwb") as stream,
    ):
        # Two short lines follow each other: held back for an acknowledgement, they cost 40 ms.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        nonce = os.urandom(16).hex()
        send(stream, {"nonce": nonce})
        greeting = receive(stream, 1000)
        if not is_proved(greeting.get("proof"), address.key, "resident", nonce):
            return None
        line.settimeout(PATIENCE)
        send(stream, {"proof": proof(address.key, "caller", greeting.get("nonce"))})
        send(stream, question)
        answer = receive(stream).get("answer")
        return answer if isinstance(answer, str) else None
