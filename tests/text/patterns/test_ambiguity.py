"""Regular expressions that take for ever are known before they run; those people write are not."""

from __future__ import annotations

import re

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.text.patterns.ambiguity import is_too_slow

FOR_EVER = (
    *(r"(a+)+$", r"(a|a)*$", r"(a*)*b", r"((a*)*)*b", r"(.+)+@", r"(?:a|aa)+$", r"(x+x+)+y"),
    *(r"(?:ab|a|b)+$", r"(?:xy|[a-z]y)+$", r"([a-m]k|[h-z]k)+!", r"(?i)(Ab|ab)+$"),
    *(r"(?:abcdefgh|abcd|efgh)+$", r"((ab)*|(ba)*)*c", r"(\d+|\w+)+-", r"(\w+\s?)*$"),
    *(r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(?:[^<]+|<[^>]*)*>x", r"(?:\w{2,5}c[ab])*!"),
    # Behind a beginning, beside what always matches, in what is looked at, told back.
    *(r"ACME(\d+)+X", r"(?:(a+)+c|[\s\S])", r"(?=(a+)+$)x", r"(['\"])(?:a+)+\1"),
    # Without an end, and with one that is far.
    *(r"(a{1,30}){1,30}b", r"(a?){30}a{30}", r"(?:a|a){30}b", r"(?:ab|ab){30}c"),
    # No power of two, but of the length.
    *(r"(.*)(.*)(.*)(.*)x", r"\s*\s*\s*\s*x"),
)
QUICK = (
    *(r"ACME-[0-9]{6}", r"ACME(-[0-9]+)+", r"(?:CUST|ACCT)[-_ ]?\d{4,12}", r"AKIA[0-9A-Z]{16}"),
    *(r"[\w.+-]+@[\w-]+\.[\w.]+", r"https?://[^\s/$.?#].[^\s]*", r"\b\d{3}-\d{2}-\d{4}\b"),
    *(r"\b(?:\d[ -]*?){13,16}\b", r"(?:\d{4}-)+\d+", r"(?<!\d)\d{16}(?!\d)", r"\w{20,}"),
    *(r"(?i)password\s*[:=]\s*\S+", r"BEGIN[\s\S]*?END", r".*secret.*", r"^\s+|\s+$"),
    *(r"<(\w+)[^>]*>.*?</\1>", r"(['\"])secret\1", r"[A-Z]{1,500}", r"\{\"token\":\s*\"[^\"]+\"\}"),
    r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)",
    r"\+?\d{1,3}[-.\s]?\(?\d{1,4}\)?[-.\s]?\d{1,4}[-.\s]?\d{1,9}",
    r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b",
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?x",
    # What is kept is not tried again; what can fail no more is not, either.
    *(r"(?:[a-z]++ ?)+!", r"(?>a+)+b", r"(?:[a-z]++)*!", r"(?:a+)+", r"(?i)(A|a)+$"),
)


@pytest.mark.parametrize("pattern", FOR_EVER)
def test_a_pattern_that_takes_for_ever_is_known(pattern):
    assert re.compile(pattern)
    assert is_too_slow(pattern)


@pytest.mark.parametrize("pattern", QUICK)
def test_a_pattern_that_people_write_is_taken(pattern):
    assert not is_too_slow(pattern)


@pytest.mark.parametrize("pattern", QUICK)
def test_what_is_taken_is_quick_on_what_is_hard_for_others(pattern):
    """It would not come back, otherwise."""
    for text in ("a", "1", "ab", "caca", " ", "x", "-1", "A1 ", "secret", "<a>", "a."):
        re.compile(pattern).sub("", text * 200 + "\n#")


def test_a_pattern_too_large_to_look_at_is_refused():
    assert is_too_slow("(?:" + "|".join(f"w{number}x*" for number in range(2_000)) + ")+!")


def test_a_memory_is_not_opened_with_one():
    with pytest.raises(InvalidValue, match=r"'\(a\+\)\+\$' would take practically for ever"):
        ContextMiddleware.open(":memory:", redact=["(a+)+$"])
    with ContextMiddleware.open(":memory:", redact=["ACME(-[0-9]+)+"]) as ctx:
        ctx.remember("The courier takes ACME-1-2-3 along.")
        (hit,) = ctx.search("courier")
        assert hit.text == "The courier takes [REDACTED:own] along."
