"""Turns a model's cosines into a match between 0 and 1.

One model gives 0.1 to texts that have nothing to do with each other, another 0.7. So each embedder
is asked once about the same small set of questions and answers: the median cosine of a question
and somebody else's answer means nothing (0), and three quarters of the own answers lie below what
counts as certain (1). Between the two a match grows evenly. It depends on the model alone, so it
is the same for every user, in every process, whatever is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...protocols import FloatArray

PAIRS = (
    ("Which database do we use?", "The service keeps its data in a PostgreSQL database."),
    ("Where did Anna go on holiday?", "Anna: We spent our summer holiday hiking in Norway."),
    ("How is a login checked?", "AuthService checks the login and signs a JWT with RS256."),
    ("What is my dog's name?", "My dog is called Biscuit, she is a three year old beagle."),
    ("Why did the build fail?", "The build failed because the lock file was out of date."),
    ("Which tests are flaky?", "test_upload is flaky: it fails when two tests share a port."),
    ("When is the project due?", "The deadline of the project was moved to the end of May."),
    ("What does Tom do for work?", "Tom works as a nurse in the children's hospital."),
    ("How should errors be handled?", "Raise errors early, and never swallow an exception."),
    ("What did I cook for dinner?", "For dinner I cooked lentil soup with lemon and cumin."),
    ("Which style do I prefer in Python?", "In Python I prefer early returns and short functions."),
    ("Is the cache thread safe?", "The cache takes a lock, so several threads may share it."),
    ("What music does she like?", "She likes jazz, and plays the piano in a small band."),
    ("How do we release a version?", "To release a version, tag it and let the pipeline publish."),
    ("How did the race go?", "I finished the half marathon race in under two hours!"),
    ("What is wrong with the parser?", "The parser loses the last line of a file without newline."),
)
"""Questions and what answers them, about work and about life."""

_TELLS_APART = 0.02


@dataclass(frozen=True, slots=True)
class Levels:
    """The cosines between which a match grows."""

    unrelated: float
    certain: float

    def matches(self, cosines: FloatArray) -> FloatArray:
        """Return `match` of many."""
        span = self.certain - self.unrelated
        if span < _TELLS_APART:
            return np.zeros_like(cosines)
        matches: FloatArray = np.clip((cosines - self.unrelated) / span, 0, 1)
        return matches

    def match(self, cosine: float) -> float:
        """Return 0 for what is unrelated, 1 for what is certain.

        A model that does not tell answers apart matches nothing.
        """
        span = self.certain - self.unrelated
        if span < _TELLS_APART:
            return 0.0
        return min(max((cosine - self.unrelated) / span, 0.0), 1.0)


def calibration_texts() -> list[str]:
    """Return what is to be embedded: all questions, then all answers."""
    return [question for question, _ in PAIRS] + [answer for _, answer in PAIRS]


def levels(vectors: Sequence[FloatArray]) -> Levels:
    """Return the levels, from the vectors of `calibration_texts`, each of length 1."""
    questions, answers = np.stack(vectors[: len(PAIRS)]), np.stack(vectors[len(PAIRS) :])
    cosines = questions @ answers.T
    others = cosines[~np.eye(len(PAIRS), dtype=bool)]
    own = np.diagonal(cosines)
    return Levels(float(np.median(others)), float(np.quantile(own, 0.75)))
