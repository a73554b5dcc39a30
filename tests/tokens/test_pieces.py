"""Counting with a table as it lies in its file: the same as tiktoken, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmw.tokens import encoding as encodings
from ctxmw.tokens.encoding import LoadedTable
from ctxmw.tokens.pieces import LONGEST, SUFFIX, PieceCounter, Places, Unsure
from ctxmw.tokens.tables import TABLES, default_cache_dir, find_table
from tests.support.encodings import encoding_of

KINDS = (
    "aAzZéÉßªǅʰ中한\u0300\u0966²½ \t\n\r\x0b\x1c\x85\xa0\u2028/.,-_=<>|…→👩\u200d"
    "'\u2019sS\u017ftTrReEvVmMlLdD"
)


@pytest.fixture(scope="session", params=TABLES)
def encoding(request: pytest.FixtureRequest, home: None) -> str:
    if find_table(TABLES[request.param], default_cache_dir()) is None:
        pytest.skip("no token tables on this machine: pip install llama-index-core")
    return request.param


@pytest.fixture(scope="session")
def content(encoding: str) -> bytes:
    return find_table(TABLES[encoding], default_cache_dir()) or b""


@pytest.fixture(scope="session")
def count(encoding: str, content: bytes) -> PieceCounter:
    return PieceCounter(encoding, Places.made_of(content)[0])


@given(text=st.one_of(st.text(KINDS, max_size=30), st.text(st.characters(codec="utf-8"))))
@example(text="DON'T don't I'LL we'Re it'\u017f \u017f's")
@example(text="    def read(self):\n\n        return self.__items  # ==========\r\n")
def test_texts_have_the_tokens_that_tiktoken_makes(text, encoding, count):
    try:
        found = count(text)
    except Unsure:
        return
    assert found == len(encoding_of(encoding).encode_ordinary(text))


@pytest.mark.parametrize("text", ["a" * (LONGEST + 1), "\ud800", "\U000e0080"])
def test_what_only_tiktoken_can_tell_is_left_to_it(text, count):
    with pytest.raises(Unsure):
        count(text)


def test_places_that_were_kept_are_those_that_were_made(encoding, content):
    made, kept = Places.made_of(content)
    read = Places.kept_in(content, kept)
    assert read is not None
    for token in (b"the", b" the", b"\xff", b" context", b"no such token"):
        assert read.rank(token) == made.rank(token)
    assert made.rank(b" the") == encoding_of(encoding).encode_single_token(" the")
    assert made.rank(b"no such token") is None


@pytest.mark.parametrize(
    "spoil", [lambda kept: kept[:-4], lambda kept: b"\x01" + kept[1:], lambda _: b""]
)
def test_places_that_are_not_whole_are_made_anew(spoil, encoding, content, tmp_path):
    kept = tmp_path / f"{TABLES[encoding].file}{SUFFIX}"
    LoadedTable(encoding, content, tmp_path).warm()
    good = kept.read_bytes()
    kept.write_bytes(spoil(good))
    assert LoadedTable(encoding, content, tmp_path)("hello world") == 2
    assert kept.read_bytes() == good


def test_tiktoken_is_loaded_aside_when_much_is_counted(encoding, content, tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(encodings, "load_encoding", lambda *_: loads.append(_) or Counts())
    table = LoadedTable(encoding, content, tmp_path)
    line = "a line of words\n" * 100
    for _ in range(encodings.MANY // len(line)):
        table(line)
    assert loads == []
    table(line)
    assert len(table.encoding.encode_ordinary(line)) == table(line) == 7
    assert len(loads) == 1


class Counts:
    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * 7
