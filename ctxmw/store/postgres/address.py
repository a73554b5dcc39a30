"""Where a Postgres store is: an address to connect to, and to show without its password."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any
from uuid import UUID

from ...errors import InvalidValue
from ..open import POSTGRES
from .driver import psycopg

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# A server that is gone without a word is noticed in seconds; whatever the address says comes first.
_DEFAULTS = {
    "connect_timeout": "5",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "ctxmw",
}


class Address:
    """A database, and the schema in it that holds the store."""

    def __init__(self, dsn: str, schema: str) -> None:
        if not isinstance(dsn, str) or not dsn.startswith(POSTGRES):
            raise InvalidValue(
                "the address of a Postgres store must begin with postgresql://, such as "
                "postgresql://USER@HOST/DATABASE."
            )
        if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
            raise InvalidValue(
                f"schema is {schema!r:.60}: use lower-case letters, digits and underscores."
            )
        self.dsn = dsn
        self.schema = schema
        self._parts = _parts(dsn)

    def __str__(self) -> str:
        parts = self._parts
        user = f"{parts['user']}@" if "user" in parts else ""
        port = f":{parts['port']}" if "port" in parts else ""
        return f"postgresql://{user}{parts.get('host', '')}{port}/{parts.get('dbname', '')}"

    def options(self) -> dict[str, str]:
        """Return what to connect with beside the address itself."""
        return {name: value for name, value in _DEFAULTS.items() if name not in self._parts}

    def owner(self, user: str) -> UUID:
        """Return how the tables call a user: the same in every process, and in no other name."""
        return UUID(bytes=blake2b(user.encode(), digest_size=16, person=b"ctxmw owner").digest())

    def lock(self, name: str) -> int:
        """Return the number of the advisory lock of this name in this store."""
        hashed = blake2b(f"{self.schema}\0{name}".encode(), digest_size=8, person=b"ctxmw lock")
        return int.from_bytes(hashed.digest(), "big", signed=True)


def _parts(dsn: str) -> dict[str, Any]:
    try:
        return {
            name: value for name, value in psycopg.conninfo.conninfo_to_dict(dsn).items() if value
        }
    except psycopg.ProgrammingError:
        # The error itself may quote the password.
        raise InvalidValue(
            "the address of the Postgres store cannot be read: write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX."
        ) from None
