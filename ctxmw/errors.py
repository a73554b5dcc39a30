"""What can go wrong, in one tree.

CtxmwError
├── InvalidValue      a value that cannot be accepted (also a ValueError)
│   ├── MissingUser   a call that must name its user and does not
│   ├── NotTrusted    a file with settings was found that may not set what it sets
│   └── WrongUser     a call that names somebody whose memory this is not
├── NotFound          a ref, name or session that does not exist (also a LookupError)
├── StoreError        the store cannot be opened, read or written
│   └── UnreadableRecord  one record cannot be read; the others can
├── Overloaded        more calls wait than can be answered in time
├── StageError        a stage of the pipeline failed; its cause is chained
├── EmbedderError     the embedding model failed
├── SummarizerError   the summarizing model failed, was too slow, or has spent what it may
└── MissingPackage    an optional package is not installed (also an ImportError)

Every message names the value and the next step.
"""

from __future__ import annotations


class CtxmwError(Exception):
    """Anything that ctxmw itself raises."""


class InvalidValue(CtxmwError, ValueError):
    """A value that cannot be accepted; the message says what is allowed."""


class MissingUser(InvalidValue):
    """A call on a shared memory that names no user."""


class WrongUser(InvalidValue):
    """A call for one user on the memory, the conversation or the wrapper of another."""


class NotTrusted(InvalidValue):
    """A file with settings that was merely found says where memory goes, or the like."""


class NotFound(CtxmwError, LookupError):
    """Nothing has this ref, name or id; the message names what is near."""


class StoreError(CtxmwError):
    """The store cannot be opened, read or written; nothing was changed."""


class UnreadableRecord(StoreError):
    """One record of the store makes no sense to this version; it was left as it is."""


class Overloaded(CtxmwError):
    """More calls wait than can be answered in time; this one was not begun."""


class StageError(CtxmwError):
    """A stage failed with something that is not an error of ours; that is chained as the cause."""

    def __init__(self, stage: str, cause: Exception) -> None:
        super().__init__(f"{stage} failed: {type(cause).__name__}: {cause}")
        self.stage = stage
        self.cause = cause

    def __reduce__(self) -> tuple[type[StageError], tuple[str, Exception]]:
        # The message is made anew from what it was made of.
        return type(self), (self.stage, self.cause)


class EmbedderError(CtxmwError):
    """The embedding model failed; what it had made before is kept."""


class SummarizerError(CtxmwError):
    """The summarizing model gave no answer; what works without it goes on."""


class MissingPackage(CtxmwError, ImportError):
    """An optional package is missing; the message carries the install line."""
