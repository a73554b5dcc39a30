"""Whether an output tells of a failure, and whether two tell of the same one."""

from __future__ import annotations

import pytest

from ctxmw.text.failures import failure_in, failure_key, failures_named

TRACE = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'token'\n"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Error: city must be one word", "Error: city must be one word"),
        (TRACE, "KeyError: 'token'"),
        ("bash: pytset: command not found", "bash: pytset: command not found"),
        ("running\nall done\nexit code 2", "running"),
        ("HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found"),
        ("404 Not Found", "404 Not Found"),
        ('{"error": "no such user"}', '{"error": "no such user"}'),
        ('{"status": 503, "body": ""}', '{"status": 503, "body": ""}'),
        ("requests.exceptions.HTTPError: 403 Client Error", None),
        ("fatal: not a git repository", "fatal: not a git repository"),
    ],
)
def test_a_failure_is_named_by_its_line(output, line):
    found = failure_in(output)
    assert found == (line or output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Sunny, 21 degrees.",
        "No error.",
        "0 failed, 3 passed",
        "500 rows affected",
        "404 lines were read",
        '{"error": null, "rows": 3}',
        "exit code 0",
        "import logging\n\nclass TokenError(Exception):\n    pass\n\ndef load():\n    return 1\n",
        "The log says that permission denied was seen.\n" * 5,
    ],
)
def test_what_only_speaks_of_failures_is_none(output):
    assert failure_in(output) == ""


def test_what_is_known_to_have_failed_has_whatever_it_says():
    assert failure_in("city must be one word", failed=True) == "city must be one word"
    assert failure_in("", failed=True) == "no output"


def test_numbers_and_addresses_make_no_difference_and_words_do():
    one, other = "Error: port 8080 is taken by 0x7f3a", "error:  port 9090 is taken by 0x11ab."
    assert failure_key(one) == failure_key(other)
    assert failure_key("KeyError: 'token'") != failure_key("KeyError: 'user'")


def test_a_person_reports_a_failure_in_the_midst_of_words():
    said = "It crashes again:\nKeyError: 'token'\nWhat now?"
    assert failure_key("KeyError: 'token'") in map(failure_key, failures_named(said))
    assert failures_named("How do we sign tokens?") == []


def test_it_takes_linear_time_over_anything():
    for text in ("Error" * 40_000, "\n" * 200_000, "a." * 100_000, "0x" * 100_000):
        failure_in(text, failed=True)
        failures_named(text)
