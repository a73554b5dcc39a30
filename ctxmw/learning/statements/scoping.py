"""Where something learned holds: in a project, in a language, or everywhere."""

from __future__ import annotations

import re

_EVERYWHERE = re.compile(
    r"\b(?:everywhere|(?:in|across|for) (?:all|every|any)(?: of)?(?: my| our)? "
    r"(?:projects?|languages?|repos?|repositories|codebases?)|no matter (?:the|which|what) "
    r"(?:project|language))\b",
    re.IGNORECASE,
)
_PROJECT = re.compile(
    r"\b(?:in|for|on) (?:the )?(?:project (?P<after>[\w.-]+)|(?P<before>[\w.-]+) "
    r"(?:project|repo|repository|codebase))\b",
    re.IGNORECASE,
)
_NO_NAME = frozenset(
    "this that our the my your current new whole same a each every any side other old".split()
)
_LANGUAGES = {
    "c++": "cpp",
    "c#": "csharp",
    "golang": "go",
    "js": "javascript",
    "ts": "typescript",
    "postgresql": "sql",
    **{
        name: name
        for name in (
            "python rust java javascript typescript ruby php sql css html kotlin swift scala"
            " haskell elixir perl lua dart julia bash".split()
        )
    },
}
# "Go" and "C" are words, too: they count where a language is meant.
_LANGUAGE = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, _LANGUAGES))})(?![\w-])"
    r"|\b(?:in|for) (?P<short>go|c|r)\b(?![+#]| (?:to|with|for|ahead)\b)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"""`[^`]+` | \b\w+_\w+\b | \b(?-i:[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+) | \w\(\)
      | \b(?: functions?|class(?:es)?|methods?|variables?|constants?|(?:unit|integration)?[ ]?tests?
        |mocks?|imports?|exports?|types?|type[ ]hints?|exceptions?|async|await|loops?|comments?
        |docstrings?|code|endpoints?|quer(?:y|ies)|migrations?|modules?|packages?|lint\w*
        |formatters?|indent\w*|tabs|spaces|trailing[ ]commas?|line[ ]length|returns?|nested[ ]ifs?
        |inheritance|composition|global[ ]state|handlers?|decorators?|dataclass(?:es)?|enums?|null
        |none|floats?|decimals?|strings?|dicts?|lists?|arrays?|pointers?|generics?|interfaces?
        |macros?|callbacks?|promises|hooks|components?|snake_?case|camel_?case|semicolons?|braces|f-strings?
        |regex(?:es)?|wildcard|dependenc(?:y|ies)|librar(?:y|ies)|frameworks?|naming|refactor\w*
        |logging|assert\w*|fixtures?|parsers?|compilers?|pytest|unittest|mypy|ruff|eslint )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A correction that tells how something is, and not what to do: "the port is 8443".
_TELLS = re.compile(
    r"(?:the|our|my|it|it's|that|that's|this|we|i|there|they|they're|he|she|its|their|his|her)\b",
    re.IGNORECASE,
)
_MYSELF = re.compile(r"(?:i|i'm|i've|my|me)\b", re.IGNORECASE)
_WORK = re.compile(
    r"\b(?:servers?|services?|ports?|branch(?:es)?|repos?|builds?|deploy\w*|clusters?|databases?|"
    r"api|apis|app|apps|schemas?|tickets?|sprints?|pull requests?|prs?|pipelines?|staging)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b(?:always|never|ever|every|from now on|don't|do not)\b", re.IGNORECASE)
_OF_THE_PROJECT = frozenset({"decision", "fact", "done", "decided", "blocked", "next"})


def scope_for(kind: str, text: str, *, project: str | None, language: str | None) -> str:
    """Return the scope of a statement made in this project and language.

    Decisions and work belong to the project, and so does a fact that is put right. Instructions
    about code belong to the language, where languages are known; others, what people tell of
    themselves, and what is said to hold everywhere, are universal.
    """
    here = f"project:{project}" if project else "universal"
    if _EVERYWHERE.search(text):
        return "universal"
    if named := _named_project(text):
        same = project is not None and named.casefold() == project.casefold()
        return here if same else f"project:{named}"
    if kind == "fact" and _MYSELF.match(text) and not (_CODE.search(text) or _WORK.search(text)):
        return "universal"
    if kind in _OF_THE_PROJECT or (kind == "correction" and _TELLS.match(text)):
        return here
    spoken = _named_language(text)
    if spoken and (project or language):
        return f"language:{spoken}"
    if spoken:
        # Nobody knows the language of a mere chat: it would never be shown there.
        return "universal"
    if _CODE.search(text):
        return f"language:{language.lower()}" if language else here
    # What is put right without a word on when else it holds was about the work at hand.
    return here if kind == "correction" and not _LASTING.search(text) else "universal"


def _named_project(text: str) -> str:
    for found in _PROJECT.finditer(text):
        name = found["after"] or found["before"]
        if name.casefold() not in _NO_NAME:
            return name.strip(".-")
    return ""


def _named_language(text: str) -> str:
    found = _LANGUAGE.search(text)
    if not found:
        return ""
    name = (found["short"] or found[0]).lower()
    return _LANGUAGES.get(name, name)
