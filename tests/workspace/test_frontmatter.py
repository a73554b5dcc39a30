"""The head of a rule file, which may be anybody's."""

from __future__ import annotations

import pytest

from ctxmw.workspace.frontmatter import BadFrontmatter, MarkedDocument, split


def test_a_head_is_split_from_the_body():
    text = '---\nglobs: "*.py"\nalwaysApply: false\n---\nUse types.\n'
    assert split(text) == MarkedDocument({"globs": "*.py", "alwaysApply": False}, "Use types.\n")


@pytest.mark.parametrize("text", ["", "Plain.", "--- not a head", "----\nx\n---\n"])
def test_a_file_without_a_head_is_all_body(text):
    assert split(text) == MarkedDocument({}, text)


def test_an_empty_head_says_nothing():
    assert split("---\n---\nBody") == MarkedDocument({}, "Body")


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("globs: *.py", "*.py"),
        ("globs: **/*.{ts,tsx}", "**/*.{ts,tsx}"),
        ("globs: '*.py'", "*.py"),
        ("globs:\n  - *.py\n  - **/*.ts", ["*.py", "**/*.ts"]),
        ("globs: [a.py, b.py]", ["a.py", "b.py"]),
    ],
)
def test_globs_need_no_quotes(head, value):
    assert split(f"---\n{head}\n---\n").head == {"globs": value}


def test_many_globs_with_braces_are_not_nested():
    globs = [f"src/{name}/*.{{ts,tsx}}" for name in "abcdefghijklmnopqrstuvwxyz"]
    head = "\n".join(f"  - {glob}" for glob in globs)
    assert split(f"---\nglobs:\n{head}\n---\n").head == {"globs": globs}


BOMB = "a: &a [x,x]\n" + "\n".join(
    f"{b}: &{b} [*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "head",
    [
        BOMB,
        "x: &x 1\ny: [*x]",
        "x: !!python/object/apply:os.system [ls]",
        "[" * 3000,
        "x: [" + "{a: " * 500,
        "x: 2026-13-45",
        "x: [unclosed",
        "x: 'unclosed",
        "\tx: y",
        "x: \x07",
        "- a list",
        "just text",
        "x: y: z",
    ],
)
def test_a_head_that_is_wrong_or_hostile_is_refused(head):
    with pytest.raises(BadFrontmatter):
        split(f"---\n{head}\n---\nBody\n")


def test_a_head_without_an_end_is_refused():
    with pytest.raises(BadFrontmatter, match="no end"):
        split("---\nx: y\n" + "z\n" * 10_000)
