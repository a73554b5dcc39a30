"""Asks an embedder, and does not believe everything it says.

A vector of zeros is near everything in some indexes; NaN and infinity are near nothing and break
the rest. They are refused here, one by one; vectors of different lengths are a mistake of wiring
and raise.
"""

from __future__ import annotations

from collections.abc import Sequence
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
