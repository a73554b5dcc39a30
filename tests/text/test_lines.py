from __future__ import annotations

from hypothesis import given

from ctxmw.text.lines import as_said
from tests.support.strategies import texts

CODE = "```python\ndef retry(n):\n    return n\n```"


def test_prose_stands_on_one_line() -> None:
    assert as_said("First.\n\n  Second,\n- third") == "First. Second, - third"


def test_fenced_code_keeps_its_lines_and_its_indentation() -> None:
    assert as_said(f"Like\nthis:\n\n{CODE}\nUse it\non handlers.") == (
        f"Like this:\n{CODE}\nUse it on handlers."
    )


def test_code_without_a_fence_keeps_its_lines() -> None:
    code = "def parse(line):\n    key, value = line.split('=')\n    return key, value"
    assert as_said(code) == code
    braces = "function go(x) {\n  return x;\n}"
    assert as_said(braces) == braces


def test_an_indented_list_is_prose() -> None:
    said = "To buy:\n    - milk\n    - bread\n    1. and more"
    assert as_said(said) == "To buy: - milk - bread 1. and more"


@given(texts)
def test_no_word_is_lost_and_no_line_is_empty(text: str) -> None:
    shown = as_said(text)
    assert shown.split() == text.split()
    assert all(line.strip() for line in shown.split("\n")) or not text.strip()
