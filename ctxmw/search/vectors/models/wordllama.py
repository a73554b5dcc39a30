"""wordllama: a vector for each word, added up. Small and quick, and blind to the order of words."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ....errors import MissingPackage


class WordVectors:
    """Embeds with wordllama: 256 numbers a text, a tenth of a millisecond."""

    name = "wordllama:l2_supercat:256"

    def __init__(self) -> None:
        try:
            with _root_logger_left_alone():
                import wordllama  # type: ignore[import-untyped]

                # Its weights are in the package; without the folder it looks on the network.
                folder = Path(wordllama.__file__).parent
                self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        except ImportError as error:
            raise MissingPackage(
                'the embedder "wordllama" needs a package: pip install "ctxmw[wordllama]"'
            ) from error

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text."""
        if not texts:
            return []
        # It fills up every text to the longest beside it: short ones go together.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors = self._model.embed([texts[at] for at in order], batch_size=16)
        return [vector for _, vector in sorted(zip(order, vectors, strict=True), key=_place)]

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        return self.embed([text])[0]

    def __repr__(self) -> str:
        return f"<embedder {self.name}>"


@contextmanager
def _root_logger_left_alone() -> Iterator[None]:
    """Have `logging.basicConfig` do nothing: a library that calls it decides for the application.

    It does nothing where there is a handler already, and this one says nothing.
    """
    root, guard = logging.getLogger(), logging.NullHandler()
    root.addHandler(guard)
    try:
        yield
    finally:
        root.removeHandler(guard)


def _place(pair: tuple[int, Sequence[float]]) -> int:
    return pair[0]
