"""A memory that has its hands full, for tests of what happens then."""

from __future__ import annotations

import asyncio
import threading

from ctxmw.runtime.async_twins import AT_WORK

LONG = 60.0


class Busy:
    """Workers that are all busy until they are let go."""

    def __init__(self, workers):
        self._workers = workers
        self.let = threading.Event()

    async def __aenter__(self):
        began = [asyncio.Event() for _ in range(AT_WORK)]
        self._held = [asyncio.ensure_future(self._workers.run(self._hold(one))) for one in began]
        for one in began:
            await one.wait()
        return self

    async def __aexit__(self, *_):
        self.let.set()
        await asyncio.gather(*self._held)

    def _hold(self, began):
        loop = asyncio.get_running_loop()

        def hold():
            loop.call_soon_threadsafe(began.set)
            self.let.wait(LONG)

        return hold
