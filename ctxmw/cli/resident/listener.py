"""Listens on the loopback interface while a memory is open, and answers whoever has the key."""

from __future__ import annotations

import json
import logging
import os
import secrets
import socketserver
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Self

from ...errors import CtxmwError
from ...store.open import data_folder
from .caller import FOLDER, Address, is_proved, proof, receive, send

log = logging.getLogger("ctxmw")

Answers = Callable[[Mapping[str, Any]], str | None]
"""Returns the answer to a question; None when another memory is meant."""
_AT_ONCE = 8
"""Questions that are answered side by side; who comes later is told to look himself."""
_SLOWEST = 5.0
"""Seconds that a question may take to arrive."""


class Listener:
    """Answers questions in threads of its own until it is closed."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._server: _Server | None = None
        self._note: Path | None = None
        self.asked = monotonic()
        """When somebody asked last, or when it began."""

    def __enter__(self) -> Self:
        """Listen, and say where; without the note nobody asks, and all else works."""
        try:
            self._server = _Server(self)
            self._note = _noted(Address(port=self._server.port, key=self._server.key))
        except OSError as error:
            log.warning("hooks are not answered by this process: %s", error)
            self.close()
            return self
        threading.Thread(target=self._server.serve_forever, name="ctxmw-hooks", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer; closing twice is fine."""
        if self._note is not None:
            with suppress(OSError):
                self._note.unlink()
            self._note = None
            if self._server is not None:
                self._server.shutdown()
        if self._server is not None:
            self._server.server_close()
            self._server = None

    def answer(self, question: Mapping[str, Any]) -> str | None:
        """Return the answer; None leaves it to whoever asked to look himself."""
        if not self._room.acquire(blocking=False):
            return None
        try:
            self.asked = monotonic()
            return self._answers(question)
        except (CtxmwError, OSError):
            return None  # who looks himself finds out what is wrong, and says it
        except Exception:  # a caller must not end what others need
            log.exception("a hook was not answered")
            return None
        finally:
            self._room.release()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: Listener) -> None:
        self.key = secrets.token_hex(32)
        self.listener = listener
        super().__init__(("127.0.0.1", 0), _Asked)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """Somebody went away in between, or sent what nobody can read."""


class _Asked(socketserver.StreamRequestHandler):
    timeout = _SLOWEST
    wbufsize = -1
    server: _Server

    def handle(self) -> None:
        """Greet, be greeted, and answer once."""
        nonce = secrets.token_hex(16)
        key = self.server.key
        theirs = receive(self.rfile, 1000).get("nonce")
        send(self.wfile, {"nonce": nonce, "proof": proof(key, "resident", theirs)})
        if is_proved(receive(self.rfile, 1000).get("proof"), key, "caller", nonce):
            send(self.wfile, {"answer": self.server.listener.answer(receive(self.rfile))})


def _noted(address: Address) -> Path:
    """Write down where somebody listens, for the owner of the data folder alone."""
    folder = data_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = folder / f"{os.getpid()}-{address.port}.json"
    part = note.with_suffix(".part")
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as written:
        json.dump(address._asdict(), written)
    part.replace(note)
    return note
