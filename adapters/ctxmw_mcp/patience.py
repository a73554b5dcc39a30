"""How long a connection may take to ask for something: uvicorn itself waits for ever.

The same as in `ctxmw.ui`, on purpose: what `ctxmw` exports works without extra packages, and
`ctxmw.ui` wants some that a server of this kind does not need. One test holds both.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def patient(seconds: float) -> type[H11Protocol]:
    """Return the protocol that closes a connection unless its request begins within that time.

    That is: all headers have come. Between requests uvicorn's own limit holds as well.
    """

    class Patient(H11Protocol):
        _until: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            answering = self.cycle is not None and not self.cycle.response_complete
            if answering:
                self._stop()
            elif self._until is None:
                self._until = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._until is not None:
                self._until.cancel()
                self._until = None

    return Patient
