"""What a check works with: the store under its name, opened here or in another process."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..errors import CtxmwError
from ..protocols import Find, Row, Store

Factory = Callable[[str], Store]
"""Opens the store of this name, or opens it again; nothing is left in it from a name not used."""
P = ParamSpec("P")
T = TypeVar("T")

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
ANYTHING = Find(live=None)
SECONDS = 60.0
"""How long another process may take."""


class Broken(AssertionError):
    """A promise that the store does not keep; the message says which."""


class NotAsked(Exception):
    """A check that cannot be made; the message says why."""


class Case:
    """One check's own store. Everything it opens is closed when the check is over."""

    def __init__(self, factory: Factory, name: str) -> None:
        self.name = name
        self._factory = factory
        self._opened: list[Store] = []
        self._processes: list[Any] = []

    def open(self) -> Store:
        """Open the store, or open it once more."""
        store = self._factory(self.name)
        self._opened.append(store)
        return store

    def elsewhere(
        self, work: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Callable[[], T]:
        """Start the work in another process; call what is returned for its result."""
        call = self._packed(work, args, kwargs)
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_work, args=(call, theirs), daemon=True)
        self._processes.append(process)
        process.start()
        theirs.close()

        def result() -> T:
            try:
                answer: Any = ours.recv() if ours.poll(SECONDS) else (False, "no answer came")
            except EOFError:
                answer = (False, "it ended without an answer")
            process.join(SECONDS)
            ours.close()
            expect(answer[0], f"{work.__name__} failed in another process: {answer[1]}")
            value: T = answer[1]
            return value

        return result

    def crash(self, work: Callable[[Store], None]) -> None:
        """Run the work in another process, which must end before the work returns."""
        process = multiprocessing.get_context("spawn").Process(
            target=_crash, args=(self._packed(work, (), {}),), daemon=True
        )
        self._processes.append(process)
        process.start()
        process.join(SECONDS)
        expect(process.exitcode == CRASHED, f"{work.__name__} ended with {process.exitcode}")

    def close(self) -> None:
        """Close what is open and end what still runs."""
        for store in self._opened:
            with suppress(CtxmwError):
                store.close()
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join(SECONDS)

    def _packed(self, work: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        try:
            return pickle.dumps((self._factory, self.name, work, args, kwargs))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise NotAsked(
                f"the factory cannot be sent to another process ({error}): make it a function at "
                "the top of a module"
            ) from None


CRASHED = 86
"""The exit code of a process that ended itself in the middle."""


def at_once(work: Callable[[int], T], n: int) -> list[T]:
    """Return what each of n threads returns; they begin together."""
    ready = threading.Barrier(n)

    def start(number: int) -> T:
        ready.wait(SECONDS)
        return work(number)

    with ThreadPoolExecutor(n) as threads:
        return list(threads.map(start, range(n)))


def row(ref: str, text: str = "", **values: Any) -> Row:
    """Return a row of Ada's that says the text, found by its words."""
    given: dict[str, Any] = {"user": "ada", "ref": ref, "type": "memory", "at": NOW, "body": text}
    return Row(**(given | {"search_text": text} | values))


def refs(rows: Sequence[Row]) -> list[str]:
    """Return the refs of rows."""
    return [found.ref for found in rows]


def found(store: Store, *words: str, user: str = "ada", find: Find = ANYTHING) -> list[str]:
    """Return the refs of what these words find."""
    return [hit.ref for hit, _ in store.search(user, words, find)]


def same(actual: object, expected: object, what: str) -> None:
    """Raise unless the two are equal."""
    if actual != expected:
        raise Broken(f"{what}: expected {expected!r:.400}, got {actual!r:.400}")


def expect(holds: object, what: str) -> None:
    """Raise with these words unless it holds."""
    if not holds:
        raise Broken(what)


def raises(error: type[Exception], call: Callable[[], object], what: str) -> None:
    """Raise unless the call fails in this way."""
    try:
        value = call()
    except error:
        return
    except Exception as other:
        raise Broken(
            f"{what}: expected {error.__name__}, got {type(other).__name__}: {other}"
        ) from other
    raise Broken(f"{what}: expected {error.__name__}, got {value!r:.200}")


def _work(call: bytes, line: Connection) -> None:
    factory, name, work, args, kwargs = pickle.loads(call)
    try:
        store = factory(name)
        result = work(store, *args, **kwargs)
        store.close()
        line.send((True, result))
    except Exception as error:  # noqa: BLE001 - whatever it is, the check has to tell
        line.send((False, f"{type(error).__name__}: {error}"))


def _crash(call: bytes) -> None:
    factory, name, work, _, _ = pickle.loads(call)
    work(factory(name))
