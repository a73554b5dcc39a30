"""What every part of the middleware works with: the setup, and whose memory it is."""

from __future__ import annotations

from typing import Unpack

from .composition import Options, setup_of
from .errors import MissingUser
from .option_checks import check_store
from .protocols import Store
from .runtime.async_twins import Workers
from .values.records import check_user


class Opened:
    """A memory that was opened, for one user or for many."""

    def __init__(self, store: Store, **options: Unpack[Options]) -> None:
        check_store(store)
        self._options = options
        user = options.get("user", "local")
        self._user = check_user(user) if user is not None else None
        self._setup = setup_of(store, options)

    @property
    def user(self) -> str | None:
        """Whose memory it is; None when every call names its user."""
        return self._user

    @property
    def store(self) -> Store:
        """The system of record behind it."""
        return self._setup.store

    @property
    def workers(self) -> Workers:
        return self._setup.workers

    def _named(self, user: str | None) -> str:
        if user is not None:
            return check_user(user)
        if self._user is None:
            raise MissingUser(
                "this memory serves many users and the call names none: pass user='...'."
            )
        return self._user
