"""Names of things in code, and paths of files, that a text mentions."""

from __future__ import annotations

from .patterns.late import late_pattern

# No name in a folder is longer: a line of dashes is not read again from each of them.
_PATH = late_pattern(
    r"(?<![\w@:/])(?:[\w.-]{1,255}+/){0,40}[\w-][\w.-]{0,255}\.(?:[A-Za-z]\w{1,7}|[chrs])(?![\w/])|"
    r"(?<![\w@:])(?:\.{0,2}/)?(?:[\w.-]{1,255}+/){1,40}[\w.-]{1,255}+"
)
# 04/02 is a day, and "and/or", "he/she" are words.
_EITHER_OR = late_pattern(r"^(?:[\d/.-]*|[^\W\d_]+/[^\W\d_]+)$")
# In backticks, with humps or underscores, or a capital in mid-sentence.
_NAME = late_pattern(
    r"`([^`\n]{2,40})`|\b([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b"
    r"|(?<=[a-z,] )([A-Z][A-Za-z0-9]{2,30})\b"
)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of things in code that a text mentions, each once."""
    return tuple(dict.fromkeys(one[1] or one[2] or one[3] for one in _NAME.finditer(text)))


def paths_in(text: str) -> tuple[str, ...]:
    """Return the paths of files that a text mentions, each once."""
    # A full stop ends the sentence, and not the name.
    found = dict.fromkeys(one[0].rstrip(".-") for one in _PATH.finditer(text))
    return tuple(path for path in found if not _EITHER_OR.match(path))


def names_a_file(text: str) -> bool:
    """Say whether a text is the path of a file and nothing else."""
    return _PATH.fullmatch(text) is not None
