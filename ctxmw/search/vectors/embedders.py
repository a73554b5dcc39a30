"""Makes an embedder of whatever people have: LangChain's, LlamaIndex's, Chroma's, or a name.

They are told apart by their methods, so none of these packages is imported to look at one.
Vectors are kept under the embedder's name: it is made from the class, the model and the size, and
is the same in every process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ...errors import InvalidValue
from ...protocols import Embedder

_MODEL = ("model", "model_name", "model_id", "repo_id", "deployment", "azure_deployment")
_SIZE = ("dimensions", "output_dimensionality", "embed_dim", "size", "dim")
_UNKNOWN = ("", "unknown", "NotImplemented")


def as_embedder(given: object) -> Embedder:
    """Return an embedder for an object that turns texts into vectors.

    Accepted: an object with `name`, `embed` and `embed_query`; a LangChain `Embeddings`; a
    LlamaIndex `BaseEmbedding`; a Chroma embedding function; "wordllama" or "minilm". A class of
    your own that names no model should have a `name` that changes with its vectors.
    """
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    for has, make in _SHAPES:
        # A class has the methods too, yet nothing to call them on.
        if not isinstance(given, type) and has(given):
            return make(given)
    raise InvalidValue(
        f"embedder is {given!r:.80}. Allowed: a LangChain Embeddings, a LlamaIndex BaseEmbedding, "
        "a Chroma embedding function, an object with name, embed and embed_query, "
        '"wordllama" or "minilm".'
    )


def embedder_at(spec: str) -> Embedder:
    """Return the embedder that a spec names: "minilm", or "package.module:attribute".

    The attribute is an embedder of any kind that `as_embedder` takes, or a function or class
    without arguments that makes one. Importing runs the module: take specs from whoever runs the
    program, never from a file that came with somebody's project.
    """
    if not isinstance(spec, str) or ":" not in spec:
        return as_embedder(spec)
    module, _, attribute = spec.partition(":")
    try:
        found: Any = import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidValue(
            f"embedder is {spec!r:.80}, and there is none ({error}): write it as "
            '"package.module:attribute"; the module must be on the path (PYTHONPATH).'
        ) from error
    is_one = not isinstance(found, type) and any(has(found) for has, _ in _SHAPES)
    return as_embedder(found if is_one or not callable(found) else found())


class Adapted:
    """An embedder made of two functions of another library."""

    def __init__(
        self,
        name: str,
        embed: Callable[[list[str]], Sequence[Sequence[float]]],
        embed_query: Callable[[str], Sequence[float]],
    ) -> None:
        self.name = name
        self._embed = embed
        self._embed_query = embed_query

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text."""
        return self._embed(list(texts)) if texts else []

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        return self._embed_query(text)

    def __repr__(self) -> str:
        return f"<embedder {self.name}>"


def _of_ours(given: Any) -> Embedder:
    if not isinstance(given.name, str) or not given.name:
        raise InvalidValue(
            f"the embedder {type(given).__name__} has the name {given.name!r:.60}: it must be a "
            "text that changes when its vectors do."
        )
    embedder: Embedder = given
    return embedder


def _of_langchain(given: Any) -> Embedder:
    # A cache around a model gives the model's vectors.
    model = getattr(given, "underlying_embeddings", given)
    return Adapted(_name(model), given.embed_documents, given.embed_query)


def _of_llamaindex(given: Any) -> Embedder:
    return Adapted(_name(given), given.get_text_embedding_batch, given.get_query_embedding)


def _of_chroma(given: Any) -> Embedder:
    # Newer functions treat a question apart, and take it as a list too.
    ask = getattr(given, "embed_query", given)
    return Adapted(_name(given), given, lambda text: ask([text])[0])


_SHAPES: tuple[tuple[Callable[[object], bool], Callable[[Any], Embedder]], ...] = (
    (lambda given: _has(given, "embed", "embed_query") and hasattr(given, "name"), _of_ours),
    (lambda given: _has(given, "embed_documents", "embed_query"), _of_langchain),
    (lambda given: _has(given, "get_text_embedding_batch", "get_query_embedding"), _of_llamaindex),
    (lambda given: callable(given) and hasattr(given, "name"), _of_chroma),
)


def _has(given: object, *methods: str) -> bool:
    return all(callable(getattr(given, method, None)) for method in methods)


def _name(given: object) -> str:
    """Return what tells the model: its own name or class, the model, the size of its vectors."""
    facts = {**_config(given), **_attributes(given)}
    own = _own_name(given) or type(given).__qualname__
    model = next((value for value in map(facts.get, _MODEL) if _tells(value)), "")
    size = next((value for value in map(facts.get, _SIZE) if isinstance(value, int)), "")
    return ":".join(str(part) for part in (own, model, size) if part)


def _tells(value: object) -> bool:
    return isinstance(value, str) and value not in _UNKNOWN


def _own_name(given: object) -> str:
    name = getattr(given, "name", "")
    said = _quietly(name) if callable(name) else name
    return str(said) if _tells(said) else ""


def _attributes(given: object) -> dict[str, object]:
    found = {key: getattr(given, key, None) for key in (*_MODEL, *_SIZE)}
    return {key: value for key, value in found.items() if value is not None}


def _config(given: object) -> Mapping[str, object]:
    """Return what a Chroma function says it was made with."""
    config = _quietly(given.get_config) if hasattr(given, "get_config") else None
    return config if isinstance(config, Mapping) else {}


def _quietly(ask: Callable[[], object]) -> object:
    # Chroma's base class warns that a function should say more about itself; its owner knows.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return ask()


def _minilm() -> Embedder:
    from .models.minilm import MiniLM

    return MiniLM()


def _wordllama() -> Embedder:
    from .models.wordllama import WordVectors

    return WordVectors()


NAMED: dict[str, Callable[[], Embedder]] = {"minilm": _minilm, "wordllama": _wordllama}
"""Embedders of packages that carry their weights."""
