"""Names for the stages of the pipeline, so that a fault tells where it happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import CtxmwError, StageError


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Raise whatever fails inside as an error of ours that names the stage.

    An error of ours says enough already, and passes; so does a cancellation.
    """
    try:
        yield
    except CtxmwError:
        raise
    except Exception as error:
        raise StageError(name, error) from error


def where(error: Exception, otherwise: str) -> tuple[str, Exception]:
    """Return the stage an error comes from, and what went wrong there."""
    if isinstance(error, StageError):
        return error.stage, error.cause
    return otherwise, error
