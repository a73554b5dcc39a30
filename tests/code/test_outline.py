"""The map of a project: when it is asked for, and what comes first."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code.ranking.outline import asks_for_outline

FILES = {
    "shop/lonely.py": "def alone(): ...\n",
    "shop/money.py": '"""Amounts and currencies."""\n\nclass Rare: ...\n\nclass Amount: ...\n',
    "shop/cart.py": "from shop.money import Amount\n\ndef total(): return Amount()\n",
    "shop/till.py": "from shop.money import Amount\n\ndef pay(): return Amount()\n",
    "tests/test_lonely.py": "from shop.lonely import alone\n\ndef test_it(): alone()\n",
}


@pytest.mark.parametrize(
    "text",
    [
        "What is in this project?",
        "what does this repo do?",
        "Give me an overview of the codebase, please",
        "How is the project structured?",
        "Explain this library.",
        "What modules are there in this package?",
    ],
)
def test_whoever_asks_what_a_project_is_asks_for_its_map(text):
    assert asks_for_outline(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is in this project's cart when it is empty?",
        "What is the project deadline?",
        "Describe this project to my mother in two sentences and add a joke about cats",
        "The project is late.",
        "thanks!",
    ],
)
def test_whoever_asks_for_something_in_particular_does_not(text):
    assert not asks_for_outline(text)


def test_the_map_begins_with_what_is_used_most_and_leaves_tests_out(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(tmp_path, project="shop")
        asked = [{"role": "user", "content": "What is in this project?"}]
        lines = ctx.session(project="shop").prepare(asked).context.part.splitlines()
    files = [line for line in lines if line.startswith("- ")]
    told = "- shop/money.py: Amounts and currencies. Amount, Rare (imported by 2)"
    assert files[0] == told
    assert sorted(files[1:]) == [
        "- shop/cart.py: total",
        "- shop/lonely.py: alone",
        "- shop/till.py: pay",
    ]
