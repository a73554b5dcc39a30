# ruff: noqa: RUF001 (look-alike characters are what is tested)
import re
import sys
import unicodedata
from hashlib import sha256
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmw.text import cleaning as text_module
from ctxmw.text.cleaning import (
    LONGEST_WORD,
    SEARCHED_CHARS,
    clean,
    digest,
    escape,
    first_sentence,
    fold,
    one_line,
    search_text,
    words,
)
from tests.support.growth import BOUND, TIMES, growth

ANY = st.text(st.characters(), max_size=200)
TRICKY = st.text(
    st.sampled_from(
        "aAéÉßſİı1_-./\\'’ <>&\"≮＜＞＆\u0338\u0301\u0316\u0345\u200b\u200d\ufe0f\ufe00\r\n"
        "漢か한ก\ud800"
    )
)
TEXTS = ANY | TRICKY
EVERY_CHARACTER = [chr(n) for n in range(sys.maxunicode + 1)]


class TestClean:
    @pytest.mark.parametrize(
        ("dirty", "expected"),
        [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb\rc\u2028d\u2029e\x85f\x0bg\x0ch", "a\nb\nc\nd\ne\nf\ng\nh"),
            ("e\u0301", "é"),
            ("e\u200b\u0301", "é"),
            ("nul\x00 bell\x07 escape\x1b", "nul bell escape"),
            ("bidi \u202eoverride\u202c \u2066isolate\u2069", "bidi override isolate"),
            ("tags\U000e0041\U000e007f", "tags"),
            ("zero\u200bwidth\ufeff soft\u00adhyphen", "zerowidth softhyphen"),
            ("a\ufe00\ufe0e\U000e0100\U000e01efb", "ab"),
            ("private\ue000 unassigned\u0378 surrogate\ud83d", "private unassigned surrogate"),
            ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
            ("क\u094d\u200dष नमस्ते", "क\u094d\u200dष नमस्ते"),
        ],
    )
    def test_drops_what_nobody_sees_and_keeps_what_scripts_need(self, dirty, expected):
        assert clean(dirty) == expected

    @given(TEXTS)
    @example("\u0958" * 40)
    @example("a" + "\u0344\u0316" * 40)
    def test_leaves_no_banned_character_and_changes_nothing_the_second_time(self, text):
        once = clean(text)
        for char in once:
            assert char in "\n\t\u200c\u200d\ufe0f" or unicodedata.category(char)[0] != "C"
            assert not re.match("[\ufe00-\ufe0e\U000e0100-\U000e01ef\u2028\u2029]", char)
        assert unicodedata.is_normalized("NFC", once)
        assert clean(once) == once

    def test_judges_every_letter_and_sign_by_itself(self):
        for char in map(chr, range(0x2500)):
            seen = char in "\n\t\u200c\u200d" or unicodedata.category(char)[0] not in "C"
            if unicodedata.category(char) in ("Zl", "Zp") or char in "\r\x0b\x0c\x85":
                assert clean(f"a{char}b") == "a\nb"
            else:
                expected = unicodedata.normalize("NFC", f"a{char}b" if seen else "ab")
                assert clean(f"a{char}b") == expected

    @given(
        st.text(
            st.sampled_from("ae\u0301\u0316\u0345\u0344\u0f73\u0f71\u0f72\u3099か"), max_size=80
        )
    )
    def test_orders_combining_marks_as_unicode_does(self, text):
        assert clean(text) == unicodedata.normalize("NFC", text)

    def test_knows_every_mark_that_decomposes_into_marks(self):
        found = [
            char
            for char in EVERY_CHARACTER
            if (parts := unicodedata.normalize("NFD", char)) != char
            and unicodedata.combining(parts[0])
        ]
        assert "".join(found) == text_module._MARKS_OF_MARKS


class TestEscape:
    def test_escapes_markup_and_quotes_only_in_attributes(self):
        assert escape('a < b && c > "d"') == 'a &lt; b &amp;&amp; c &gt; "d"'
        assert escape('"d"', attribute=True) == "&quot;d&quot;"

    def test_knows_every_character_that_normalises_to_markup(self):
        found = {
            char
            for char in EVERY_CHARACTER
            for form in ("NFC", "NFD", "NFKC", "NFKD")
            if set('<>&"') & set(unicodedata.normalize(form, char))
        }
        assert found == set(text_module._ESCAPES)
        for char in found - set('"＂'):
            assert escape(char) != char

    @given(TEXTS)
    @example("<\u0338/ctxmw>")
    @example("＜/ctxmw＞")
    @example("≮")
    def test_no_tag_appears_even_after_any_normalisation(self, text):
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            shown = unicodedata.normalize(form, escape(text, attribute=True))
            assert not set('<>＜＞"') & set(shown)

    @given(TEXTS)
    def test_an_xml_parser_reads_back_the_cleaned_text(self, text):
        plain = clean(text.translate({ord(c): None for c in "≮≯﹠﹤﹥＆＜＞＂\u0338"}))
        element = ElementTree.fromstring(f"<a>{escape(plain)}</a>")
        assert (element.text or "") == plain


class TestFold:
    @pytest.mark.parametrize(
        "same",
        [
            "Use tabs",
            "use  tabs.",
            '"Use tabs!"',
            "- Use tabs",
            "“USE\u200b TABS”",
            "\n* 'use tabs'...",
            "「use tabs」。",
        ],
    )
    def test_equal_for_texts_that_say_the_same(self, same):
        assert fold(same) == "use tabs"

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Use C#", "Use C"),
            ("Use C++", "Use C"),
            (".env is secret", "env is secret"),
            ("Use tabs?", "Use tabs"),
            ("call main()", "call main"),
            ("x²", "x2"),
            ("!!!", "..."),
            ("-v", "v"),
        ],
    )
    def test_different_for_texts_that_do_not(self, one, other):
        assert fold(one) != fold(other)

    @given(TEXTS)
    def test_folding_twice_changes_nothing_and_nothing_visible_folds_to_nothing(self, text):
        assert fold(fold(text)) == fold(text)
        assert bool(fold(text)) == bool(clean(text).strip())


class TestDigest:
    @given(st.lists(TEXTS), st.lists(TEXTS))
    @example(["ab", "c"], ["a", "bc"])
    @example(["a", ""], ["a"])
    @example([], [""])
    @example(["1:a"], ["", "a"])
    @example(["\ud800"], ["?"])
    def test_equal_only_for_equal_parts(self, parts, others):
        assert (digest(*parts) == digest(*others)) == (parts == others)

    def test_is_the_same_in_every_version(self):
        assert digest("a", "bé") == sha256(b"1:a3:b\xc3\xa9").hexdigest()


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Hello, World!", "hello world"),
            ("AuthService", "authservice auth service"),
            ("auth_service", "authservice auth service"),
            ("auth-service", "authservice auth service"),
            ("HTTPServer", "httpserver http server"),
            ("v2Api HTTP2Server", "v2api v2 api http2server http2 server"),
            ("os.path", "ospath os path"),
            ("src/my_app.py", "srcmyapppy src my app py"),
            ("C:\\temp", "c temp"),
            ("__init__ ../a -- b--c", "init a b c"),
            ("std::vector x=1", "std vector x 1"),
            ("https://example.com/a?b=c", "https examplecoma example com a b c"),
            ("3.11 utf8 sha256", "311 3 11 utf8 sha256"),
            ("don't you’ll Ann's ANN'S", "dont youll ann ann"),
            ("O'Brien l'école", "obrien o brien lécole l école"),
            ("ÜberKlasse STRASSE straße", "überklasse über klasse strasse strasse"),
            ("ＡＢＣ ﬁle", "abc file"),
            ("zero\u200bwidth", "zerowidth"),
            ("नमस्ते दुनिया", "नमस्ते दुनिया"),
            ("東京都に", "東京 京都 都に"),
            ("猫 ｶﾞ", "猫 ガ"),
            ("한국어", "한국 국어"),
            ("ไทย", "ไท ทย"),
            ("Python3系を", "python3 系を"),
            ("... !? <>", ""),
            ("", ""),
        ],
    )
    def test_of_a_text(self, text, expected):
        assert words(text) == expected.split()
        assert search_text(text) == expected

    @given(TEXTS)
    def test_are_never_blank_or_long_or_cased_and_hold_no_punctuation(self, text):
        for word in words(text):
            assert 0 < len(word) <= LONGEST_WORD
            assert not any(char.isspace() for char in word)
            assert word == word.casefold()
            assert all(char.isalnum() or unicodedata.category(char)[0] == "M" for char in word)

    @given(TEXTS)
    def test_are_the_same_whatever_stands_beside_them(self, text):
        assert words(f"{text} loadFile") == [*words(f"{text} "), "loadfile", "load", "file"]
        assert words(f"{text} dont") == [*words(f"{text} "), "dont"]

    @given(st.text("aB1-_./\\' ", max_size=30))
    def test_of_compounds_come_from_what_single_joints_join(self, text):
        text = text.replace("'", "-")
        joined = [token for token in re.split(r"[-_./\\]{2,}| ", text) if token]
        alone = [token.strip("-_./\\") for token in joined]
        assert words(text) == [word for token in alone for word in words(token)]

    def test_stop_at_the_cap(self):
        assert words("a " * SEARCHED_CHARS) == ["a"] * (SEARCHED_CHARS // 2)
        assert len(search_text("ﷺ" * SEARCHED_CHARS)) <= SEARCHED_CHARS

    def test_of_a_compound_that_is_too_long_are_its_parts_alone(self):
        assert words("/".join(["part"] * 30)) == ["part"] * 30
        assert words("x" * 300) == ["x" * LONGEST_WORD]


class TestCutting:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Use tabs. Then spaces.", "Use tabs."),
            ("  \n Title\nbody. More", "Title"),
            ("Really?! Yes.", "Really?!"),
            ('He said "no." Then', 'He said "no."'),
            ("1. Use tabs. Then go", "1. Use tabs."),
            ("See e.g. Mr. J. Smith. He knows", "See e.g. Mr. J. Smith."),
            ("Python 3.11 or a.b is fine. Yes", "Python 3.11 or a.b is fine."),
            ("東京へ行く。明日", "東京へ行く。"),
            ("no stop at all", "no stop at all"),
            ("...", "..."),
        ],
    )
    def test_first_sentence(self, text, expected):
        assert first_sentence(text, 80) == expected

    @pytest.mark.parametrize(
        ("text", "limit", "expected"),
        [
            ("a  b\n\tc", 80, "a b c"),
            ("the quick brown fox", 19, "the quick brown fox"),
            ("the quick brown fox", 18, "the quick brown…"),
            ("the quick brown fox", 16, "the quick brown…"),
            ("the quick, brown", 11, "the quick…"),
            ("a unbreakableword", 10, "a unbreak…"),
            ("漢字漢字漢字", 4, "漢字漢…"),
            ("word", 1, "…"),
            ("word", 0, "…"),
            ("\u202e", 10, "…"),
            ("", 10, ""),
        ],
    )
    def test_one_line(self, text, limit, expected):
        assert one_line(text, limit) == expected

    @given(TEXTS, st.integers(1, 50))
    @example("a. b. ", 2)
    @example("ab. ", 3)
    def test_results_fit_stand_on_one_line_and_are_empty_only_for_no_text(self, text, limit):
        for result in (first_sentence(text, limit), one_line(text, limit)):
            assert len(result) <= limit
            assert "\n" not in result
            assert bool(result) == bool(text)


HARD = [
    "a\u0301\u0316",
    "\u0301\u0316",
    "\u0f73",
    "\u0344\u0316",
    "\u0301\uff9e",
    "\u202e",
    "A",
    "aA",
    ".",
    ". ",
    ".'",
    "a.",
    "'",
    '"',
    "- ",
    "<",
    "漢",
    "\r",
]


@pytest.mark.parametrize("unit", HARD, ids=ascii)
@pytest.mark.parametrize(
    "work",
    [clean, escape, fold, words, lambda text: first_sentence(text, 10**9)],
    ids=["clean", "escape", "fold", "words", "first_sentence"],
)
def test_four_times_the_text_takes_about_four_times_the_work(work, unit):
    once, more = (f"x{unit * (size // len(unit))}x" for size in (15_000, TIMES * 15_000))
    assert growth(work, once, more) < BOUND
