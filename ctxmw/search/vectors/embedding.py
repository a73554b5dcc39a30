"""Asks an embedder, and does not believe everything it says.

A vector of zeros is near everything in some indexes; NaN and infinity are near nothing and break
the rest. They are refused here, one by one; vectors of different lengths are a mistake of wiring
and raise.

A model may have a bad hour and answer with NaN. So a text is asked about again after a minute, and
after ever longer pauses up to a day. One that has no words is never asked about again. The end of
a conversation that failed is tried again in the same way.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import CtxmwError, EmbedderError, InvalidValue
from ...protocols import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...protocols import FloatArray


CHARS = 6_000
"""A text is embedded up to here: models read less, and their services refuse much more."""


def embed_checked(
    embedder: Embedder, asked: Sequence[str] | str
) -> tuple[list[FloatArray | None], int]:
    """Return a vector of length 1 for each text, or for one question, and how many numbers it has.

    None stands for a vector that makes no sense.
    """
    try:
        if isinstance(asked, str):
            given: Sequence[Sequence[float]] = [embedder.embed_query(asked)]
        else:
            given = embedder.embed(asked)
        rows = [np.asarray(vector, dtype=np.float64) for vector in given]
    except CtxmwError:
        raise
    except Exception as error:  # a model may raise anything
        raise EmbedderError(
            f"the embedder {embedder.name!r:.80} failed: {error!r:.200}. Search goes on by words "
            "alone; make sure that the model can be reached, then try again."
        ) from error
    return _checked(embedder, rows, 1 if isinstance(asked, str) else len(asked))


def _checked(
    embedder: Embedder, rows: Sequence[NDArray[np.float64]], expected: int
) -> tuple[list[FloatArray | None], int]:
    lengths = {row.shape for row in rows}
    if (
        len(rows) != expected
        or len(lengths) != 1
        or len(shape := lengths.pop()) != 1
        or not shape[0]
    ):
        raise InvalidValue(
            f"the embedder {embedder.name!r:.80} gave {len(rows)} vectors of shapes "
            f"{sorted({row.shape for row in rows})!r:.80} for {expected} texts: it must give one "
            "list of numbers for each text, all of one length."
        )
    return [_of_length_one(row) for row in rows], shape[0]


def _of_length_one(row: NDArray[np.float64]) -> FloatArray | None:
    # In two steps, for the squares of very large numbers are infinite.
    largest = np.max(np.abs(row))
    if not np.isfinite(largest) or largest == 0:
        return None
    scaled = row / largest
    unit: FloatArray = (scaled / np.linalg.norm(scaled)).astype("<f4")
    return unit


_FORM = struct.Struct("<Bd")
REFUSAL_BYTES = _FORM.size
"""Nine, which no vector of 4-byte numbers has."""
_NEVER = 255
_FIRST, _LONGEST = 60.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """How often it failed, and when it last did."""

    times: int
    at: float
    """In seconds since 1970."""

    @classmethod
    def of(cls, blob: bytes) -> Refusal | None:
        """Return what a blob tells; None when it is a vector."""
        return cls(*_FORM.unpack(blob)) if len(blob) == REFUSAL_BYTES else None

    @classmethod
    def after(cls, before: Refusal | None, now: float, *, final: bool) -> Refusal:
        """Return the refusal that follows another; a final one is the last."""
        if final:
            return cls(_NEVER, now)
        return cls(min((before.times if before else 0) + 1, _NEVER - 1), now)

    def blob(self) -> bytes:
        """Return what the store keeps."""
        return _FORM.pack(self.times, self.at)

    def is_due(self, now: float) -> bool:
        """Say whether it is time to ask again."""
        if self.times == _NEVER:
            return False
        pause: float = _FIRST * 4.0 ** min(self.times - 1, 8)
        # A clock that was set back must not make it wait for years.
        return not self.at <= now < self.at + min(pause, _LONGEST)
