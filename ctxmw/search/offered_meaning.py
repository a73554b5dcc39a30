"""How near in meaning offers are to what is said, by an embedder's vectors.

The vectors of a catalog are the application's: each text is embedded once, and kept in the store
under the hash of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..protocols import Embedder, Store
from ..runtime.lru import LruCache
from ..text.cleaning import digest
from ..values.records import SHARED
from .vectors.embedding import CHARS, embed_checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH = 64


class OfferedMeaning:
    """The vectors of offers under one embedder. Any thread may use it."""

    def __init__(
        self, store: Store, embedder: Embedder, calibrated: Callable[[Floats], Floats]
    ) -> None:
        """`calibrated` turns cosines of this embedder into matches."""
        self._store = store
        self._embedder = embedder
        self._calibrated = calibrated
        self._known: LruCache[tuple[str, ...], Floats] = LruCache(2)

    def near(self, texts: tuple[str, ...], sentences: Sequence[str]) -> Floats | None:
        """Return how near each text is to each sentence, 0 to 1; None while that is not known.

        Texts that have no vector are given one first, but not inside a transaction.
        """
        known = self._known.get(texts)
        if known is None:
            if self._store.in_atomic():
                return None
            known = self._matrix(texts)
            self._known.put(texts, known)
        asked = self._embedded(sentences)
        size = known.shape[1]
        said = np.stack([np.zeros(size, np.float32) if one is None else one for one in asked])
        return self._calibrated(said @ known.T)

    def _matrix(self, texts: Sequence[str]) -> Floats:
        space = f"offered:1:{self._embedder.name}"
        keys = [digest(text)[:32] for text in texts]
        blobs = self._store.get_blobs(SHARED, space, list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in blobs}
        for first in range(0, len(missing), BATCH):
            some = dict(list(missing.items())[first : first + BATCH])
            vectors = self._embedded([text[:CHARS] for text in some.values()])
            made = {
                key: vector.tobytes()
                for key, vector in zip(some, vectors, strict=True)
                if vector is not None
            }
            self._store.put_blobs(SHARED, space, made)
            blobs |= made
        rows = {key: np.frombuffer(blob, "<f4") for key, blob in blobs.items()}
        size = max((len(row) for row in rows.values()), default=1)
        nothing = np.zeros(size, np.float32)
        return np.stack([rows.get(key, nothing) for key in keys])

    def _embedded(self, texts: Sequence[str]) -> Sequence[Floats | None]:
        vectors, _ = embed_checked(self._embedder, list(texts))
        return vectors
