"""Globs of rules, and .gitignore as git itself reads it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw.workspace.globs import Ignored, expanded, ignore_rules, matches


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "app.py"),
        ("*.py", "src/deep/app.py"),
        ("**/*.py", "app.py"),
        ("**/*.py", "src/app.py"),
        ("src/**", "src/a/b.ts"),
        ("src/*.ts", "src/a.ts"),
        ("src/**/*.ts", "src/a.ts"),
        ("src/", "src/a/b.ts"),
        ("src", "src/a.ts"),
        ("src/auth", "src/auth/login.ts"),
        ("**/*.{ts,tsx}", "web/app.tsx"),
        ("{a,b}/{c,d}.py", "b/c.py"),
        ("a?.py", "ab.py"),
        ("[ab].py", "b.py"),
        ("./src/*.py", "src/a.py"),
        ("**", "anything/at/all"),
        ("tests/**/test_*.py", "tests/unit/deep/test_x.py"),
        ("src\\\\a.py", "src\\\\a.py"),
    ],
)
def test_a_glob_means_a_path(glob, path):
    assert matches(glob.replace("\\\\", "/"), path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "app.pyc"),
        ("src/*.ts", "src/deep/a.ts"),
        ("src/**", "lib/src.ts"),
        ("/src/*.ts", "lib/src/a.ts"),
        ("a?.py", "a.py"),
        ("", "a.py"),
        ("*.py", ""),
    ],
)
def test_a_glob_does_not_mean_another_path(glob, path):
    assert not matches(glob, path)


def test_braces_stand_for_a_bounded_number_of_globs():
    assert sorted(expanded("{a,b}{c,d}")) == ["ac", "ad", "bc", "bd"]
    assert len(expanded("{a,b}" * 40)) <= 64


def test_a_pattern_of_many_stars_comes_to_an_end():
    # Where every star may try every place, none of these is done in a lifetime.
    assert not matches("*a" * 200 + "b", "a" * 500)
    assert not matches("**/" * 150 + "x", "a/" * 200)
    assert not matches("{" * 250 + "," * 200, "a")
    ignored = Ignored().with_file((), "*a" * 200 + "b\n" + "**/a/" * 80)
    assert not ignored.covers(("a" * 500,), is_folder=False)


def test_comments_and_blank_lines_are_no_rules():
    assert ignore_rules("# note\n\n   \n!\n/\n") == []


LINES = st.sampled_from(
    """
    *.py
    build
    build/
    /build
    a/b
    a/**
    **/a
    a/**/b
    **/b/*.py
    *
    !*.py
    !a/
    !/a/b
    x?.py
    [ab]
    [!a]
    \\#x
    \\!x
    a*
    *b
    **
    /*
    /a/*
    a/*/
    """.split()
)
PARTS = st.sampled_from(["a", "b", "build", "x1.py", "a.py", "#x", "!x", "ab"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(tuple)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=60)
@given(
    rules=st.lists(LINES, max_size=5),
    deeper=st.lists(LINES, max_size=3),
    paths=st.sets(PATHS, max_size=12),
)
def test_what_git_ignores_is_ignored(tmp_path_factory, rules, deeper, paths):
    root = tmp_path_factory.mktemp("repository")
    files = [path for path in sorted(paths) if path[-1].endswith(".py")]
    for path in files:
        try:
            root.joinpath(*path).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(*path).touch()
        except OSError:
            continue  # a file and a folder of one name
    (root / ".gitignore").write_text("\n".join(rules) + "\n", encoding="utf-8")
    if (root / "a").is_dir():
        (root / "a" / ".gitignore").write_text("\n".join(deeper) + "\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard", "*.py"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    from ctxmw.workspace.source_tree import source_files

    theirs = {path for path in listed.split("\0") if path}
    assert {file.path for file in source_files(root)} == theirs
