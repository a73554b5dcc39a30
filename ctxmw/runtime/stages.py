"""Names for the stages of the pipeline, so that a fault tells where it happened."""

from __future__ import annotations

from contextlib import ContextDecorator

from ..errors import CtxmwError, StageError


class stage(ContextDecorator):  # noqa: N801 - reads as what it does
    """Raise whatever fails inside as an error of ours that names the stage.

    An error of ours says enough already, and passes; so does a cancellation.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CtxmwError):
            raise StageError(self._name, error) from error


def where(error: Exception, otherwise: str) -> tuple[str, Exception]:
    """Return the stage an error comes from, and what went wrong there."""
    if isinstance(error, StageError):
        return error.stage, error.cause
    return otherwise, error
