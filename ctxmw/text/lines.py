"""What was said, in as few lines as it can be read in: prose on one, code line by line."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\A\s*+(?:```|~~~)")
_CODE = re.compile(
    r"""\A(?:(?:[ ]{4}|\t)\s*+(?![-*•+]\s|\d{1,2}[.)]\s)\S
      | \s*+(?:@\w|(?:import|from|def|class|function|const|let|var|return|SELECT)[ ].*[;:({=])
      | .*(?:[{};]|\):)\s*+$
      | \s*+[)\]}]+[,;]?\s*+$)""",
    re.VERBOSE,
)
"""A line of code that stands in no fence: indented and no entry of a list, or with a sign at its
beginning or end that no sentence has there."""


def as_said(text: str) -> str:
    """Return a text with its prose on one line; code keeps its lines and their indentation.

    Indentation of prose costs more than it tells, and code without it is no code.
    """
    if "\n" not in text.strip():
        return " ".join(text.split())
    lines: list[str] = []
    fenced = follows = False
    for line in text.split("\n"):
        fence = bool(_FENCE.match(line))
        is_code = fenced or fence or bool(_CODE.match(line))
        fenced ^= fence
        if not line.strip():
            continue
        said = line.rstrip() if is_code else " ".join(line.split())
        if follows and not is_code:
            lines[-1] += f" {said}"
        else:
            lines.append(said)
        follows = not is_code
    return "\n".join(lines)
