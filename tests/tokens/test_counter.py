from __future__ import annotations

import importlib.metadata
import math
import os
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmw.errors import InvalidValue
from ctxmw.tokens import encoding as tokens
from ctxmw.tokens import tables as token_tables
from ctxmw.tokens.counter import Counter, counter_for
from ctxmw.tokens.prompt_counter import prompt_counter
from tests.support.encodings import encoding_of

ENCODINGS = ["cl100k_base", "o200k_base"]
FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}

FRAGMENTS = [
    *["<|endoftext|>", "<|im_start|>", "\n", "\r\n", " ", "   ", "\t", "/", "//", "- ", "## ", "<"],
    *["'s", "'LL", "don't", "HTTPServer", "snake_case", '{"id": 17}', "0xDEADBEEF", "1234567"],
    *[
        "नमस्ते",
        "中文字符",
        "Привет",
        "مرحبا",
        "한국어",
        "é",
        "e\u0301",
        "👩\u200d💻",
        "🏴",
        "\x00",
        "\u2028",
    ],
]
hostile = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join),
    st.builds(lambda text, n: text * n, st.sampled_from(FRAGMENTS), st.integers(0, 60)),
)


@pytest.fixture(scope="session")
def tables(home: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the real tables in it."""
    folder = tmp_path_factory.mktemp("tables")
    for encoding in ENCODINGS:
        if not counter_for(encoding, cache_dir=folder).exact:
            pytest.skip("no token tables on this machine: pip install llama-index-core")
    return folder


@pytest.fixture(scope="session")
def counters(tables: Path) -> dict[str, Counter]:
    names = [*ENCODINGS, "claude-sonnet-5", "mistral-large", "some-model"]
    return {name: counter_for(name, cache_dir=tables) for name in names}


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nothing on this machine has a table; returns an empty folder."""

    def not_installed(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(importlib.metadata, "distribution", not_installed)
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


# --- which tokenizer a model has ---


@pytest.mark.parametrize("model", [None, "o200k_base", "gpt-4o", "gpt-4o-mini", "gpt-4.1-nano"])
def test_new_openai_models_are_counted_exactly(model: str | None, tables: Path) -> None:
    counter = counter_for(model, cache_dir=tables)
    assert (counter.name, counter.exact) == ("o200k_base", True)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-5.2-codex", "o200k_base"),
        ("openai/gpt-5", "o200k_base"),
        ("gpt-oss-120b", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("ft:gpt-4o-mini:acme::abc", "o200k_base"),
        ("o1", "o200k_base"),
        ("openai:o3-mini", "o200k_base"),
        ("o200k_harmony", "o200k_base"),
        ("GPT-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("azure/gpt-35-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("text-embedding-004", "cl100k_base x 1.5"),
        ("llama-3.1-70b-instruct", "cl100k_base x 1.0"),
        ("meta-llama/Llama-3-8b", "cl100k_base x 1.0"),
        ("llama3.2", "cl100k_base x 1.0"),
        ("llama-30b", "cl100k_base x 1.5"),
        ("llama-4-scout", "cl100k_base x 1.5"),
        ("claude-2.1", "cl100k_base x 1.5"),
        ("claude-3-5-sonnet-20241022", "cl100k_base x 1.5"),
        ("claude-opus-4-20250514", "cl100k_base x 1.5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "cl100k_base x 1.5"),
        ("claude-opus-4-7", "cl100k_base x 2.0"),
        ("claude-opus-4.10", "cl100k_base x 2.0"),
        ("claude-sonnet-5", "cl100k_base x 2.0"),
        ("claude-opus", "cl100k_base x 2.0"),
        ("mistral-large-2411", "cl100k_base x 1.7"),
        ("open-mixtral-8x7b", "cl100k_base x 1.7"),
        ("gemini-2.5-pro", "cl100k_base x 1.5"),
        ("gpt4all-falcon", "cl100k_base x 1.5"),
        ("qwen3-o1-32b", "cl100k_base x 1.5"),
    ],
)
def test_a_model_has_its_tokenizer_or_a_factor(model: str, name: str, tables: Path) -> None:
    counter = counter_for(model, cache_dir=tables)
    assert counter.name == name
    assert counter.exact == (" x " not in name)


@pytest.mark.parametrize("model", ["", "  ", 5])
def test_a_model_that_is_no_name_is_refused(model: object) -> None:
    with pytest.raises(InvalidValue, match=rf"model is {model!r}: .*o200k_base"):
        counter_for(model)  # type: ignore[arg-type]


def test_a_counter_says_how_far_to_trust_it(tables: Path, nowhere: Path) -> None:
    assert counter_for("gpt-4o", cache_dir=tables).note == "Exact: counted with o200k_base."
    estimate = counter_for("gemini-2.5-pro", cache_dir=tables).note
    assert estimate.startswith("An estimate: cl100k_base times 1.5, because")
    assert "gemini-2.5-pro" in estimate
    bound = counter_for("gpt-4o", cache_dir=nowhere).note
    assert bound.startswith("A bound, not a count:")
    assert "no token table of o200k_base" in bound
    assert "`pip install llama-index-core`" in bound


# --- counting ---


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=hostile)
@example(text="<|endoftext|>")
@example(text="\x00")
def test_counts_are_those_of_tiktoken(
    encoding: str, text: str, counters: dict[str, Counter]
) -> None:
    assert counters[encoding](text) == len(encoding_of(encoding).encode_ordinary(text))


def test_the_two_encodings_are_not_mixed_up(counters: dict[str, Counter]) -> None:
    hindi = "नमस्ते दुनिया"
    assert counters["cl100k_base"](hindi) > counters["o200k_base"](hindi)


@pytest.mark.parametrize("name", [*ENCODINGS, "some-model"])
@pytest.mark.parametrize(
    "text",
    ["\ud800", "a\udfffb", "\ud83d\ude00", "a" * 400_000, " " * 400_000 + "x", "🏴" * 100_000],
)
def test_no_text_raises(name: str, text: str, counters: dict[str, Counter]) -> None:
    assert 0 < counters[name](text) <= 4 * len(text) + 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(parts=st.lists(st.tuples(st.sampled_from(["- ", "## ", "<"]), hostile), max_size=6))
def test_counts_of_marked_lines_add_up(
    encoding: str, parts: list[tuple[str, str]], counters: dict[str, Counter]
) -> None:
    count = counters[encoding]
    lines = [f"{mark}{text}\n" for mark, text in parts]
    assert count("".join(lines)) == sum(map(count, lines))


@given(texts=st.lists(st.tuples(hostile, st.sampled_from(["", "\n", "/\n", " \n"])), max_size=6))
@example(texts=[("Where?", "\n"), ("/tmp", "\n")])
def test_texts_joined_count_as_the_whole_does(
    texts: list[tuple[str, str]], counters: dict[str, Counter], tables: Path
) -> None:
    parts = [text + end for text, end in texts]
    for name, count in counters.items():
        counted = {part: count(part) for part in parts[::2]}
        joined = count.joined(parts, counted)
        # The same counter would say again what it remembers of the joined texts.
        assert joined == counter_for(name, cache_dir=tables)("".join(parts))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=hostile)
@example(text="\ud83d\ude00")
def test_bytes_never_undercount(encoding: str, text: str, counters: dict[str, Counter]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_tables, "_other_folders", lambda: iter(()))
        bound = counter_for(encoding, cache_dir=Path("does-not-exist"))
        assert bound.name == "utf-8 bytes"
    assert bound(text) == len(text.encode("utf-8", "surrogatepass")) >= counters[encoding](text)


@pytest.mark.parametrize(
    ("model", "factor"), [("claude-sonnet-5", 2), ("mistral-large", 1.7), ("some-model", 1.5)]
)
@given(text=hostile)
def test_an_estimate_is_the_factor_within_the_bytes(
    model: str, factor: float, text: str, counters: dict[str, Counter]
) -> None:
    scaled = math.ceil(counters["cl100k_base"](text) * factor)
    assert counters[model](text) == min(scaled, len(text.encode()) + 1)


def test_bytes_of_other_models_leave_room_for_a_blank_in_front(nowhere: Path) -> None:
    counter = counter_for("mistral-large", cache_dir=nowhere)
    assert (counter(""), counter("é")) == (0, 3)


def test_threads_load_once_and_count_alike(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    load = tokens.load_encoding
    monkeypatch.setattr(tokens, "load_encoding", lambda *args: loads.append(args) or load(*args))
    counter = counter_for(cache_dir=tables)
    texts = [f"line {n}, " + "and" * 200 for n in range(50)] * 20  # which takes tiktoken
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(counter, texts))
    assert len(loads) == 1
    assert counts == [counter(text) for text in texts]


class Encoded(str):  # noqa: SLOT000 - it counts
    """A text that knows how often it was taken apart to be counted."""

    times = 0

    def encode(self, *how: str) -> bytes:
        self.times += 1
        return super().encode(*how)


def test_a_count_is_remembered_until_newer_texts_take_its_place(nowhere: Path) -> None:
    counter = counter_for(cache_dir=nowhere)
    first, second, last = Encoded("first"), Encoded("second"), Encoded("last")
    counter(second)
    for n in range(5_000):
        assert counter(first) == 5  # asked for again and again, so it stays
        counter(f"text {n}")
    for text in (second, last, last):
        assert counter(text) == len(text)
    assert (first.times, second.times, last.times) == (1, 2, 1)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800" * 300])
def test_a_long_text_is_known_again_without_being_kept(text: str, nowhere: Path) -> None:
    counter = counter_for(cache_dir=nowhere)
    before = sys.getrefcount(text)
    assert counter(text) == counter(text) > counter(text[:-1])
    assert sys.getrefcount(text) == before


# --- cutting ---


@pytest.mark.parametrize("name", [*ENCODINGS, "claude-sonnet-5", "mistral-large"])
@given(text=hostile, limit=st.integers(-1, 80))
@example(text="which are SUBSTITUTED.", limit=6)
@example(text="\t\tAlA =", limit=2)
def test_a_cut_is_the_longest_beginning_that_fits(
    name: str, text: str, limit: int, counters: dict[str, Counter]
) -> None:
    count = counters[name]
    fitting = [end for end in range(len(text) + 1) if count(text[:end]) <= limit]
    assert counters[name].cut(text, limit) == text[: max(fitting, default=0)]


@given(text=hostile, limit=st.integers(-1, 80))
def test_without_tables_a_cut_keeps_whole_characters(text: str, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_tables, "_other_folders", lambda: iter(()))
        cut = counter_for(cache_dir=Path("does-not-exist")).cut(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= max(limit, 0)
    assert cut == text or len(text[: len(cut) + 1].encode()) > limit


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text(st.sampled_from("a \ud83d\ude00é中"), max_size=60), limit=st.integers(0, 40))
@example(text="\ud83d\ude00a \r\nzzz", limit=3)
@example(text="\ud83d\ude00a \r\nzzz", limit=4)
@example(text="\ud83d\ude00" * 3_000, limit=1_000)
def test_a_cut_through_broken_characters_fits_too(
    encoding: str, text: str, limit: int, counters: dict[str, Counter]
) -> None:
    cut = counters[encoding].cut(text, limit)
    assert text.startswith(cut)
    assert counters[encoding](cut) <= limit


class CountingEncoding:
    """Sums up how much text is given to an encoding."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.work = 0

    def encode_ordinary(self, text: str) -> list[int]:
        self.work += len(text)
        return self.encoding.encode_ordinary(text)

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.encoding.decode_bytes(ids)


@pytest.mark.parametrize(
    "line", ["The quick brown fox. ", "a", "def f(x):\n    return x\n", "한국어 "]
)
def test_a_cut_reads_little_more_than_it_keeps(
    line: str, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, made = tokens.load_encoding, []

    def counting(*table: object) -> CountingEncoding:
        made.append(CountingEncoding(load(*table)))
        return made[0]

    monkeypatch.setattr(tokens, "load_encoding", counting)
    counter = counter_for("o200k_base", cache_dir=tables)
    cut = counter.cut(line * 100_000, 2_000)
    assert 0 < made[0].work < 20 * len(cut)
    assert counter(cut) <= 2_000


# --- finding and loading tables ---


def test_importing_and_asking_for_a_counter_loads_nothing() -> None:
    out = python(
        """
        import sys
        from ctxmw.tokens.counter import counter_for
        counter_for("gpt-4o")
        print(sorted({"tiktoken", "llama_index"} & set(sys.modules)))
        """
    )
    assert out == "[]"


def test_a_cold_start_needs_no_network(tables: Path) -> None:
    out = python(
        f"""
        import os, socket, sys
        from pathlib import Path
        def no_network(*args, **kwargs):
            raise AssertionError("the network was asked")
        socket.socket.connect = socket.getaddrinfo = no_network
        from ctxmw.tokens.counter import counter_for
        counter = counter_for("gpt-4o", cache_dir=Path({str(tables)!r}))
        print(counter("hello world"), counter.name, "TIKTOKEN_CACHE_DIR" in os.environ)
        """
    )
    assert out == "2 o200k_base False"


def test_tables_of_llama_index_are_used_without_importing_it(tmp_path: Path) -> None:
    try:
        importlib.metadata.distribution("llama-index-core")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("llama-index-core is not installed")
    out = python(
        f"""
        import sys, tempfile
        from pathlib import Path
        tempfile.tempdir = {str(tmp_path)!r}
        from ctxmw.tokens.counter import counter_for
        counter = counter_for("gpt-4", cache_dir=Path({str(tmp_path / "own")!r}))
        print(counter("hello world"), counter.name, "llama_index" in sys.modules)
        """
    )
    assert out == "2 cl100k_base False"
    table, places = sorted(os.listdir(tmp_path / "own"))
    assert table == FILES["cl100k_base"]
    assert places.startswith(f"{table}.places")


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_a_table_in_the_cache_of_tiktoken_is_copied_to_ours(
    variable: str, tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = nowhere / "not" / "there" / "yet"
    monkeypatch.setenv(variable, str(tables))
    assert counter_for("gpt-4", cache_dir=own).exact
    assert os.listdir(own) == [FILES["cl100k_base"]]
    monkeypatch.delenv(variable)
    assert counter_for("gpt-4", cache_dir=own).exact


def test_a_table_in_the_default_cache_of_tiktoken_is_found(tables: Path, nowhere: Path) -> None:
    (Path(tempfile.gettempdir()) / "data-gym-cache").symlink_to(tables)
    assert counter_for("gpt-4", cache_dir=nowhere).exact


def test_no_table_anywhere_means_bytes(nowhere: Path) -> None:
    counter = counter_for(cache_dir=nowhere)
    assert (counter("hello é"), counter.name, counter.exact) == (8, "utf-8 bytes", False)
    assert counter.cut("hello é", 7) == "hello "


def flipped(table: bytes) -> bytes:
    return bytes([table[0] ^ 1]) + table[1:]


@pytest.mark.parametrize("spoil", [flipped, lambda table: table[:-1], lambda _: b""])
@pytest.mark.parametrize("place", ["ours", "that of tiktoken"])
def test_a_file_with_a_wrong_hash_is_neither_used_nor_deleted(
    spoil, place: str, tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = spoil((tables / FILES["cl100k_base"]).read_bytes())
    folder = nowhere / place
    folder.mkdir()
    (folder / FILES["cl100k_base"]).write_bytes(wrong)
    if place != "ours":
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    assert counter_for("gpt-4", cache_dir=nowhere / "ours").name == "utf-8 bytes"
    assert (folder / FILES["cl100k_base"]).read_bytes() == wrong


def test_a_damaged_copy_of_ours_is_replaced_by_a_good_one(
    tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / FILES["cl100k_base"]).write_bytes(b"half a ta")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tables))
    assert counter_for("gpt-4", cache_dir=nowhere).exact
    good = (tables / FILES["cl100k_base"]).read_bytes()
    assert (nowhere / FILES["cl100k_base"]).read_bytes() == good
    assert len(os.listdir(nowhere)) == 1


def test_a_pipe_in_place_of_a_table_does_not_hang(nowhere: Path) -> None:
    os.mkfifo(nowhere / FILES["o200k_base"])
    assert counter_for(cache_dir=nowhere).name == "utf-8 bytes"


@pytest.mark.parametrize("how", ["read-only", "below a file", "below nothing that can be made"])
def test_a_folder_that_cannot_be_written_does_not_matter(
    how: str, tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"read-only": nowhere, "below a file": nowhere / "file" / "own"}.get(how)
    own = own or Path(os.devnull) / "own"
    (nowhere / "file").touch()
    nowhere.chmod(0o500)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tables))
    counter = counter_for(cache_dir=own)
    assert (counter("hello world"), counter.exact) == (2, True)
    nowhere.chmod(0o700)


@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_the_environment_is_as_it_was_after_loading(
    before: str | None, tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
    seen = []

    def get_encoding(name: str) -> None:
        folder = Path(os.environ["TIKTOKEN_CACHE_DIR"])
        seen.append((os.listdir(folder), folder in (tables, nowhere)))
        raise OSError("out of order")

    monkeypatch.setattr(tiktoken, "get_encoding", get_encoding)
    counter = counter_for("gpt-4", cache_dir=tables)
    assert (counter.name, counter("hello")) == ("cl100k_base", 1)  # which takes no tiktoken
    long = "hello" * 200
    assert (counter(long), counter.name, counter("hello!")) == (len(long), "utf-8 bytes", 6)
    assert "OSError('out of order')" in counter.note
    assert seen == [([FILES["cl100k_base"]], False)]  # a private folder with the one table in it
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


def test_tables_are_kept_under_ctxmw_home_or_in_the_cache_folder_of_the_user(
    tables: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tables))
    monkeypatch.setenv("CTXMW_HOME", str(nowhere / "home"))
    counter_for("gpt-4").warm()
    assert (nowhere / "home" / "tokens" / FILES["cl100k_base"]).is_file()
    monkeypatch.delenv("CTXMW_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere / "cache"))
    counter_for("gpt-4").warm()
    assert (nowhere / "cache" / "ctxmw" / "tokens" / FILES["cl100k_base"]).is_file()


def python(code: str) -> str:
    """What a new interpreter prints."""
    run = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()


plain = st.text(
    st.sampled_from("aZ'9 -_.:/()\n\t…") | st.characters(max_codepoint=126), max_size=99
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=plain | hostile)
def test_no_text_has_less_than_it_has_at_least(
    encoding: str, text: str, counters: dict[str, Counter]
) -> None:
    assert counters[encoding].at_least(text) <= counters[encoding](text)


def test_what_a_text_has_at_least_tells_words_and_numbers(counters: dict[str, Counter]) -> None:
    count = counters["o200k_base"]
    assert count.at_least("- m5dqn3k fact 2026-11-16: don't mind… (27 tokens)\n") == 14
    assert count.at_least("naïve") == prompt_counter(len).at_least("two words") == 0
