"""What goes wrong between us and Postgres: whether trying again helps, and what to do if not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import CtxmwError, StoreError
from .address import Address
from .driver import psycopg

_PASSING = {
    "40001",  # serialization failure
    "40P01",  # deadlock
    "53300",  # too many connections
    "57P01",  # the server is shutting down
    "57P02",
    "57P03",  # the server is starting up
}
_ADVICE = {
    "28": "Check the user and the password in the address, and the server's pg_hba.conf.",
    "3D": "Create the database first, or correct the address.",
    "42501": "Grant the role what it needs (docs/many-machines.md), or open it as the owner once.",
    "53": "The server is out of connections, memory or disk: use a pooler, or give it more.",
    "54": "A ref, key, session or digest is too long for an index of Postgres: use a shorter one.",
    "57014": "It took longer than statement_timeout: somebody writes for the same user for a long "
    "time, or the server is overloaded. Try again.",
    "25P03": "A block of atomic() did nothing for too long: keep slow work out of it.",
}
# A connection that fails has no state, only words.
_ADVICE_ON_WORDS = {
    "authentication failed": _ADVICE["28"],
    "pg_hba.conf": _ADVICE["28"],
    'role "': _ADVICE["28"],
    'database "': _ADVICE["3D"],
}
_AWAY = (
    "The server cannot be reached: check that it runs and that the address is right; then again."
)


def passes(error: BaseException) -> bool:
    """Say whether the same may work a moment later: a lost connection, or a clash with others."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state in _PASSING or state.startswith("08")


def lost(error: BaseException) -> bool:
    """Say whether the connection is gone, and others with it perhaps."""
    return passes(error) and getattr(error, "sqlstate", None) not in ("40001", "40P01")


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Turn errors of Postgres into ours, which name the place and the next step."""
    try:
        yield
    except CtxmwError:
        raise
    except psycopg.Error as error:
        said = " ".join(str(error.diag.message_primary or error).split())
        raise StoreError(f"{address}: {said[:300]}. {_advice(error)}") from error


def _advice(error: psycopg.Error) -> str:
    state = error.sqlstate or ""
    for length in (5, 2):
        if state[:length] in _ADVICE:
            return _ADVICE[state[:length]]
    for words, advice in _ADVICE_ON_WORDS.items():
        if not state and words in str(error):
            return advice
    if passes(error):
        return _AWAY
    return "Nothing was written; check the server's log and try again."
