"""How much each signal of search counts.

The weights were learned listwise on conversations with known evidence, cross-validated by
conversation, and rounded. Those of nearness by meaning depend on how well a model knows meaning:
`weights_for` has them by the embedder's name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWeights:
    """What each signal adds to the logarithm of a record's chance to be evidence."""

    words: float = 1.5
    """BM25 of the question's words, divided by the best record's."""
    words_root: float = 1.5
    """The square root of the same: one matching word already says much."""
    pairs: float = 1.5
    """Neighbouring words of the question that are neighbours in the record."""
    related: float = 2.0
    """BM25 of words that often stand for the question's ("pet": "dog")."""
    near_words: float = 1.5
    """Share of the question's words, weighted by rarity, here and two turns to each side."""
    before: float = 0.5
    """BM25 of the four turns before, fading."""
    after: float = 0.5
    """BM25 of the four turns after, fading."""
    answered: float = 0.5
    """BM25 of the assistant's answer to this: it repeats the topic a short turn leaves out."""
    reply: float = 1.0
    """BM25 of the question that this is the answer to."""
    question: float = -0.5
    """A question and nothing else: what is known is in its answer."""
    session: float = 2.0
    """BM25 of the whole session, weaker for sessions of more than 25 turns."""
    speaker: float = 1.5
    """The one person the question names is the speaker."""
    speaker_self: float = 1.5
    """... and speaks of themselves."""
    to_speaker: float = -0.5
    """Somebody else says "you" while the question names one person."""
    month: float = 2.5
    """Said in a month or year the question names."""
    day: float = 2.5
    """Said on a day the question names or the day after; half as much within a week."""
    shape: float = 1.5
    """Holds what the question asks for: a time, a number, a place."""
    instruction: float = 2.5
    """A user's standing instruction ("Always ... when I ask about ...")."""
    preference: float = 1.0
    """A user's stated preference."""
    phrase: float = 2.0
    """Holds words that the question puts in quotes, together."""
    files: float = 1.0
    """Names a file that is in play."""
    recent: float = 1.0
    """Newer, when the question asks how things stand now."""
    opening: float = 0.5
    """Early in its session, where topics are introduced."""
    opening_broad: float = 1.5
    """The same when the question asks for an overview or an order of events."""
    long: float = -1.0
    """Logarithm of tokens above a hundred, up to five hundred."""
    worked_out: float = 1.0
    """Said by the assistant, where work goes on: plans and drafts are what is needed."""
    dense: float = 1.5
    """Nearness of meaning, from an embedder, if there is one."""
    dense_near: float = 0.5
    """The same, of the turn before and the turn after."""


WORD_VECTORS = ("wordllama:", "hash:")
"""How the names of embedders begin that add up words, and know nothing of sentences."""

_ALONE = RankWeights()
_BY_WORDS = RankWeights(related=1.5)
_BY_SENTENCES = RankWeights(dense=3.0, dense_near=1.0)


def weights_for(embedder: str) -> RankWeights:
    """Return the weights for an embedder of that name; "" for none.

    What reads whole sentences is believed more. Vectors of words find much of what related words
    do, which count less beside them.
    """
    if not embedder:
        return _ALONE
    return _BY_SENTENCES if reads_sentences(embedder) else _BY_WORDS


def reads_sentences(embedder: str) -> bool:
    """Say whether an embedder of that name knows more than the words of a text."""
    return bool(embedder) and not embedder.startswith(WORD_VECTORS)
