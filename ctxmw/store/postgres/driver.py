"""The driver of Postgres, or the line that installs it."""

from __future__ import annotations

from ...errors import MissingPackage

try:
    import psycopg
    import psycopg_pool
except ImportError as error:
    raise MissingPackage(
        'a store on Postgres needs a package: pip install "ctxmw[postgres]"'
    ) from error

__all__ = ["psycopg", "psycopg_pool"]
