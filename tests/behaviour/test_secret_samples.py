"""Every kind of secret in every carrier it comes in, and how many of them are taken out."""

from __future__ import annotations

import pytest

from ctxmw.text.cleaning import clean
from ctxmw.text.secrets.redaction import redact
from tests.support.secret_samples import Sample, samples
from tests.support.secret_samples_held_back import held_back

JOINERS = str.maketrans("", "", "\u200c\u200d\ufe0f")


def left(sample: Sample) -> bool:
    """Say whether the secret is still there for somebody who does not see what is invisible."""
    text = redact(sample.text).text
    return sample.leak in clean(text).translate(JOINERS) or sample.leak in text


def kinds(of: object) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in of:
        found.setdefault(sample.kind, []).append(sample)
    return found


@pytest.mark.parametrize("kind", kinds(samples()))
def test_a_secret_is_taken_out_in_every_carrier(kind):
    assert [one.carrier for one in kinds(samples())[kind] if left(one)] == []


@pytest.mark.parametrize("kind", kinds(held_back()))
def test_a_secret_of_a_kind_that_no_rule_was_tuned_on_is_taken_out(kind):
    assert [one.carrier for one in kinds(held_back())[kind] if left(one)] == []
