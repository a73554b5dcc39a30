"""Where what is learned holds."""

from __future__ import annotations

import pytest

from ctxmw.learning.statements.scoping import scope_for


@pytest.mark.parametrize(
    ("kind", "text", "scope"),
    [
        ("decision", "We decided to use Postgres.", "project:shop"),
        ("done", "Fixed the login.", "project:shop"),
        ("fact", "The CEO reads the changelog.", "project:shop"),
        ("fact", "I live in Graz.", "universal"),
        ("fact", "My daughter Mia turns 6 on 12 December.", "universal"),
        ("fact", "My branch is feature/login.", "project:shop"),
        ("fact", "We deploy on Fridays.", "project:shop"),
        ("decision", "I decided to use Postgres.", "project:shop"),
        ("preference", "Always use type hints.", "language:python"),
        ("correction", "Never use bare exceptions in handlers.", "language:python"),
        ("correction", "Rename `load` before you touch it.", "language:python"),
        ("preference", "In Go, prefer table tests.", "language:go"),
        ("preference", "Prefer SQL over ORMs.", "language:sql"),
        ("preference", "In C++ I prefer RAII.", "language:cpp"),
        ("preference", "Always answer in German.", "universal"),
        ("correction", "Never apologise.", "universal"),
        ("correction", "Use a generator with early exit.", "project:shop"),
        ("correction", "The port is 8443, not 443.", "project:shop"),
        ("correction", "We use pnpm, not npm.", "project:shop"),
        ("preference", "Use type hints in all projects.", "universal"),
        ("decision", "Everywhere, tokens expire after an hour.", "universal"),
        ("decision", "In the bank project we decided to round half to even.", "project:bank"),
        ("decision", "For project bank.core we use Java.", "project:bank.core"),
        ("decision", "In the Shop repo we use pnpm.", "project:shop"),
        ("decision", "In this project we use pnpm.", "project:shop"),
    ],
)
def test_in_a_python_project(kind: str, text: str, scope: str) -> None:
    assert scope_for(kind, text, project="shop", language="python") == scope


@pytest.mark.parametrize(
    ("kind", "project", "language", "scope"),
    [
        ("preference", None, "python", "language:python"),
        ("preference", "shop", None, "project:shop"),
        ("preference", None, None, "universal"),
        ("decision", None, "python", "universal"),
        ("next", None, None, "universal"),
    ],
)
def test_with_less_known(kind: str, project: str | None, language: str | None, scope: str) -> None:
    text = "Always use type hints in functions."
    assert scope_for(kind, text, project=project, language=language) == scope


def test_in_a_chat_whose_language_nobody_knows_it_holds_everywhere() -> None:
    text = "Always import gzip in your Python scripts."
    assert scope_for("preference", text, project=None, language=None) == "universal"
    assert scope_for("preference", text, project="shop", language=None) == "language:python"
