from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.errors import InvalidValue
from ctxmw.values.items import UNIVERSAL, Scope, by_rank
from tests.support.strategies import item


@pytest.mark.parametrize(
    ("written", "scope"),
    [
        ("universal", Scope("universal")),
        ("language:python", Scope("language", "python")),
        ("language: Python ", Scope("language", "python")),
        ("language:c++", Scope("language", "c++")),
        ("project:shop", Scope("project", "shop")),
        ("project:Shop", Scope("project", "Shop")),
        ("project:acme:web", Scope("project", "acme:web")),
    ],
)
def test_a_scope_is_read_from_its_text(written: str, scope: Scope) -> None:
    assert Scope.parse(written) == scope


@pytest.mark.parametrize(
    "wrong",
    [
        *[
            "",
            " ",
            "Universal",
            "universal:",
            "universal:x",
            "language",
            "language:",
            "language:  ",
        ],
        *["project:", "projects:x", "global", "python", " project:x"],
    ],
)
def test_an_unknown_scope_is_an_error_that_names_it_and_what_is_allowed(wrong: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        Scope.parse(wrong)
    assert repr(wrong) in str(caught.value)
    assert '"language:NAME"' in str(caught.value)


@pytest.mark.parametrize("wrong", [None, 7, b"universal", ["universal"], UNIVERSAL])
def test_a_scope_that_is_no_text_is_an_error_that_names_its_type(wrong: object) -> None:
    with pytest.raises(InvalidValue, match=type(wrong).__name__):
        Scope.parse(wrong)  # type: ignore[arg-type]


names = st.text(min_size=1, max_size=20).filter(str.strip)


@given(st.sampled_from(["language", "project"]), names)
def test_a_scope_written_out_and_read_again_is_the_same(kind: str, name: str) -> None:
    scope = Scope.parse(f"{kind}:{name}")
    assert Scope.parse(str(scope)) == scope


@pytest.mark.parametrize(
    ("scope", "admitted"),
    [
        ("universal", True),
        ("language:python", True),
        ("language:java", False),
        ("project:shop", True),
        ("project:shop:web", False),
        ("project:sho", False),
        ("project:Shop", False),
    ],
)
def test_a_memory_is_a_candidate_only_where_its_scope_holds(scope: str, admitted: bool) -> None:
    assert Scope.parse(scope).admits(project="shop", language="python") is admitted


def test_a_project_that_begins_like_another_is_another_project() -> None:
    web = Scope.parse("project:acme:web")
    assert web.admits(project="acme:web", language=None)
    assert not web.admits(project="acme", language=None)


@pytest.mark.parametrize("nowhere", [None, ""])
def test_without_project_and_language_only_what_is_universal_holds(nowhere: str | None) -> None:
    here = {"project": nowhere, "language": nowhere}
    assert UNIVERSAL.admits(**here)
    assert not Scope.parse("project:shop").admits(**here)
    assert not Scope.parse("language:python").admits(**here)


def test_items_are_offered_by_class_then_by_how_they_came_in_then_by_score() -> None:
    ordered = [
        item(ref="m1", priority="critical", include="agent", score=0.1),
        item(ref="m2", priority="high", include="always", score=0.1),
        item(ref="m3", priority="normal", include="always", score=0.9),
        item(ref="m4", priority="normal", include="always", score=0.8),
        item(ref="m5", priority="normal", include="manual", score=0.9),
        item(ref="m6", priority="normal", include="agent", score=0.9),
        item(ref="m7", priority="normal", include="agent", score=0.9),
        item(ref="m8", priority="low", include="always", score=1.0),
    ]
    shuffled = random.Random(1).sample(ordered, len(ordered))
    assert sorted(shuffled, key=by_rank) == ordered
