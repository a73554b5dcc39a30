"""What a message names: symbols, files, frames, and what it asks about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmw.recall.modes
import ctxmw.workspace.mentions
from ctxmw.workspace.mentions import (
    READ,
    Frame,
    asked_about,
    exceptions_in,
    excerpt,
    files_mentioned,
    frames_in,
    is_path,
    split_line,
    symbols_in,
    without_code,
)
from ctxmw.workspace.triggers import analyze_message
from tests.support.growth import BOUND, TIMES, growth


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How does the AuthService handle login?", ["AuthService"]),
        ("max_size, _private and MAX_SIZE", ["max_size", "_private", "MAX_SIZE"]),
        ("camelCase and HTTPServer and sha256", ["camelCase", "HTTPServer", "sha256"]),
        ("call run() or os.path.join", ["run", "os.path.join"]),
        ("Foo::bar and Foo#baz", ["Foo.bar", "Foo.baz"]),
        ("A.max_size and x.y", ["A.max_size"]),
        ("the API returns JSON", ["API", "JSON"]),
        ("look at `get` please", ["get"]),
        ("`run()` fails", ["run"]),
        ("Now I am Working on it. Look! Please. Thanks, The This That", []),
        ("WHY IS THIS NOT WORKING AT ALL", []),
        ("e.g. this, i.e. that, at 5 p.m. on example.com with Node.js", []),
        ("file(s) and (brackets)", []),
        ("see https://example.com/some_path/AuthService", []),
        ("src/auth_service/user_store.py", []),
        ("AuthService AuthService auth", ["AuthService"]),
        ("Größe_max über Ünïcode_name", ["Größe_max", "Ünïcode_name"]),
        ("", []),
    ],
)
def test_a_symbol_is_told_by_its_shape(text, names):
    assert symbols_in(text) == names


def test_a_plain_word_is_a_symbol_when_the_code_knows_it_as_a_distinctive_name():
    def known(word, among_code):
        return word in {"Runnable", "trimmer", "Document"} or (word == "Budget" and among_code)

    assert symbols_in("Is the Runnable ready, and the trimmer?", known) == ["Runnable", "trimmer"]
    assert symbols_in("What is a Budget?", known) == []
    assert symbols_in("Compare Budget with OnDemand", known) == ["Budget", "OnDemand"]
    assert symbols_in("Document the plan. Document it!", known) == []


def test_a_message_names_a_bounded_number_of_symbols():
    assert len(symbols_in(" ".join(f"name_{n}" for n in range(500)))) == 12


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Look at src/auth/service.ts for the implementation", ["src/auth/service.ts"]),
        ("./src/a.ts, ../b.py", ["./src/a.ts", "../b.py"]),
        ("foo.test.ts and README.md", ["foo.test.ts", "README.md"]),
        ("(see src/a.ts), then src/b.ts.", ["src/a.ts", "src/b.ts"]),
        ("src/a.ts src/b.ts", ["src/a.ts", "src/b.ts"]),
        ("`src/a.py` and 'src/b.py' and \"src/c.py\"", ["src/a.py", "src/b.py", "src/c.py"]),
        (r"C:\shop\app.py and src\main.go", ["C:/shop/app.py", "src/main.go"]),
        ("app.py:12 and lib/x.rs:7:3 and a.go#L9", ["app.py:12", "lib/x.rs:7", "a.go:9"]),
        ("src/auth/handlers is a folder", ["src/auth/handlers"]),
        ("the Dockerfile and .env", ["Dockerfile", ".env"]),
        ("Python 3.11, and/or he/she, 24/7, TCP/IP, 1.5.py3", []),
        ("Node.js, Vue.js and socket.io", []),
        ("mail me at ann@shop.py or https://shop.com/a/b.py", []),
        ("...", []),
    ],
)
def test_a_path_has_a_slash_or_a_known_ending(text, paths):
    assert files_mentioned(text) == paths


WORDS = st.sampled_from(
    "look Makefile profile README.md HTTPServer a_b x.y Word I max é 12".split()
)


@given(st.lists(WORDS | st.text("aB.:!?#/_", max_size=4), max_size=4).map("".join))
def test_a_word_that_is_not_looked_at_names_neither_a_file_nor_code(text):
    if not ctxmw.workspace.mentions._TOKEN.search(text):
        bare = ctxmw.workspace.mentions._bare(text)
        assert not is_path(bare)
        assert not ctxmw.workspace.mentions._is_symbol(bare, shouts=False)


def test_a_line_is_split_from_its_path():
    assert split_line("src/a.py:12") == ("src/a.py", 12)
    assert split_line("C:/a.py") == ("C:/a.py", None)
    assert split_line("a.py:" + "9" * 50) == ("a.py:" + "9" * 50, None)


def test_a_path_of_any_length_or_kind_is_only_looked_at():
    assert not is_path("a" * 10_000 + ".py")
    assert not is_path("")
    assert is_path("../../etc/passwd.txt")


PYTHON = """
Traceback (most recent call last):
  File "/srv/shop/app.py", line 12, in main
    run()
  File "/srv/shop/cart.py", line 7, in total
    return price[item]
shop.errors.PriceError: no price
"""


def test_a_python_trace_gives_its_frames_and_its_exception():
    assert frames_in(PYTHON) == [
        Frame(path="/srv/shop/app.py", line=12, name="main"),
        Frame(path="/srv/shop/cart.py", line=7, name="total"),
    ]
    assert exceptions_in(PYTHON) == ["PriceError"]


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (
            "    at Cart.add (/srv/cart.js:10:15)",
            Frame(path="/srv/cart.js", line=10, name="Cart.add"),
        ),
        ("    at /srv/cart.js:10:15", Frame(path="/srv/cart.js", line=10)),
        (
            "\tat shop.Cart.add(Cart.java:31)",
            Frame(path="Cart.java", line=31, name="shop.Cart.add"),
        ),
        ("\t/srv/cart.go:44 +0x1d", Frame(path="/srv/cart.go", line=44)),
        ("  --> src/cart.rs:4:9", Frame(path="src/cart.rs", line=4)),
        ("thread 'main' panicked at src/main.rs:3:5:", Frame(path="src/main.rs", line=3)),
    ],
)
def test_traces_of_other_languages_are_read(line, frame):
    assert frames_in(line) == [frame]


@pytest.mark.parametrize(
    ("trace", "places"),
    [
        (
            (
                'Exception in thread "main" java.lang.NullPointerException\n'
                "\tat com.shop.Cart.lambda$run$0(Cart.java:15)\n"
                "\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)\n"
                "\tat app//com.shop.Main.<init>(Main.java:3) ~[shop.jar:1.0]\n"
            ),
            ["Cart.java:15", "ArrayList.java:1511", "Main.java:3"],
        ),
        (
            (
                "TypeError: x\n    at new Foo (C:\\\\app\\\\foo.js:1:2)\n"
                "    at Cart.add [as plus] (/app/src/c.js:4:1)\n"
                "    at async Promise.all (index 0)\n"
                "    at eval (webpack:///./src/d.vue:7:3)\n"
            ),
            ["C://app//foo.js:1", "/app/src/c.js:4", "src/d.vue:7"],
        ),
        (
            "add@http://localhost:8080/src/cart.js?t=1:12:5\nrun@file:///app/run.js:1:2\n",
            ["src/cart.js:12", "/app/run.js:1"],
        ),
        ("src/cart.ts(12,5): error TS2304: Cannot find name 'x'.", ["src/cart.ts:12"]),
        (
            "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:5 +0x20 fp=0x1 sp=0x2\n",
            ["/app/main.go:5"],
        ),
        ("    cart_test.go:14: expected 1", ["cart_test.go:14"]),
        ("./cart.go:12:5: undefined: x", ["./cart.go:12"]),
        (
            (
                "thread 'main' panicked at 'index out of bounds', src/cart.rs:12:5\n"
                "   3: shop::cart::add\n             at ./src/cart.rs:9:5\n"
            ),
            ["src/cart.rs:12", "./src/cart.rs:9"],
        ),
        ("thread 'main' panicked at src/cart.rs:12:5:\nindex", ["src/cart.rs:12"]),
        ("shop/cart.py:12: ValueError", ["shop/cart.py:12"]),
    ],
)
def test_traces_of_every_language_tell_their_places(trace, places):
    assert [f"{frame.path}:{frame.line}" for frame in frames_in(trace)] == places


def test_an_address_or_a_mail_is_no_place_in_a_trace():
    text = "ann@example.com:8080:1\nsee http://localhost:8080/a\nat 10:30:15 we met"
    assert [frame for frame in frames_in(text) if frame.path.endswith("js")] == []


def test_exceptions_begin_a_line():
    assert exceptions_in("TypeError: x is not a function\nand a ValueError in between") == [
        "TypeError"
    ]
    assert exceptions_in("Caused by: java.io.IOException: gone") == ["IOException"]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("How does authentication work in this app?", ["authentication"]),
        ("What is the retry policy for uploads?", ["retry policy", "policy", "uploads"]),
        ("Now I need to add validation", ["validation"]),
        ("How does AuthService handle src/login.py?", []),
        ('Where is "quoted text" rendered?', ["rendered"]),
        ("I walked along the river", []),
        ("thanks!", []),
    ],
)
def test_a_question_is_about_its_noun_phrases(text, queries):
    found = asked_about(text)
    assert found == queries


def test_what_is_quoted_or_code_is_not_said():
    text = "say `this` and \"that\" and 'those'\n> quoted line\n```\ncode()\n```\nor don't say it"
    assert " ".join(without_code(text).split()) == "say and and or don't say it"


def test_only_the_ends_of_a_long_message_are_read():
    text = f"FirstName {'x ' * READ} LastName"
    assert len(excerpt(text)) == READ + 1
    assert symbols_in(text) == ["FirstName", "LastName"]


HOSTILE = [
    "a" + "A" * 40 + "_",
    "a.",
    "a::",
    "_",
    "A_",
    "`",
    "``` ",
    '"',
    "“",
    "«",
    "'",
    "> ",
    "/",
    "a/",
    "../",
    "C:\\",
    "a.py:1:",
    "://",
    "http://a",
    "a@",
    " ",
    "\n",
    "\t ",
    "(",
    "((()",
    '  File "',
    '  File "a", line 1, in ',
    "  at a (",
    "  at a.b.c(",
    "Caused by: ",
    "A.b.C.",
    "AError",
    "{",
    "{a,",
    "[",
    "*",
    "*a",
    "**/",
    "!",
    "\\",
    "é",
    "ß_",
    "漢字",
    "word ",
    "Word. ",
    "f(",
    "def f(",
    "x.y(",
    "---\n",
    "- *",
    "globs: *",
    "#",
    "//",
    "/*",
    " * ",
]


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_reading_takes_time_in_proportion_to_the_text(piece, monkeypatch):
    # The cap would hide what a pattern does.
    monkeypatch.setattr(ctxmw.workspace.mentions, "READ", 10**9)
    reading = (
        analyze_message,
        lambda text: ctxmw.recall.modes.modes_in(text, ctxmw.recall.modes.MODES),
    )
    for read in reading:
        assert grows(read, piece) < BOUND


def grows(call, piece, size=3000):
    # What ends otherwise makes a pattern that cannot decide try everything.
    once, more = (piece * (n // len(piece)) + "!x" for n in (size, TIMES * size))
    return growth(call, once, more)


def test_a_call_in_backticks_names_what_is_called():
    assert symbols_in("Why does `parse(text, size)` fail after `run(x)`?") == ["parse", "run"]
