"""What an import statement of JavaScript, TypeScript or Rust takes, one text for each name.

A script's imports become "./x.js:name", with "*" where no name is told; Rust's become whole paths,
"crate::a::B", and the declaration of a module in another file "mod a" or "mod a=its/path.rs".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLAUSE = re.compile(r"^\s*+(?:import|export)\s++(?:type\s++)?+([^\"']*+)[\"']")
_BRACES = re.compile(r"\{([^{}]*)\}")
_FIRST_WORD = re.compile(r"^\s*+(?:type\s++)?+([\w$]++)")
_LATE = re.compile(r"\b(?:require|import)\s{0,4}+\(\s{0,40}+([\"'])([^\"'\n]{1,300}+)\1\s{0,40}+\)")
_MOST = 200
"""Names that are kept of one statement."""


def script_imports(statement: str, source: str) -> Iterator[str]:
    """Yield what `import` or `export ... from` takes out of its source."""
    clause = _CLAUSE.match(statement)
    taken = clause[1] if clause is not None else ""
    braces = _BRACES.search(taken)
    names = [] if braces is None else [_first_word(part) for part in braces[1].split(",")]
    whole = taken[: braces.start()] if braces is not None else taken
    names += [
        _first_word(part.removesuffix("from ")) for part in whole.split(",") if "*" not in part
    ]
    told = [name for name in names if name and name != "from"][:_MOST]
    yield from (f"{source}:{name}" for name in told or ["*"])


def late_imports(text: str) -> Iterator[str]:
    """Yield what is taken by `require` and `import()`, wherever it stands."""
    if "require" in text or "import(" in text:
        yield from (f"{found[2]}:*" for found in _LATE.finditer(text))


def rust_paths(use: str) -> Iterator[str]:
    """Yield the paths of a use declaration: "a::{b, c as d}" gives "a::b" and "a::c"."""
    prefixes: list[str] = [""]
    name = ""
    for part in _RUST_PARTS.findall(use)[: 4 * _MOST]:
        if part == "{":
            prefixes.append(name)
            name = prefixes[-1]
        elif part in ",}":
            yield from _taken(name, prefixes[-1])
            if part == "}" and len(prefixes) > 1:
                prefixes.pop()
                name = ""
            else:
                name = prefixes[-1]
        elif not part.startswith("as "):
            name += part
    yield from _taken(name, prefixes[-1])


_RUST_PARTS = re.compile(r"as\s++[\w#]++|::|[\w#*]++|[{},]")


def _taken(name: str, prefix: str) -> Iterator[str]:
    # "a::{self}" is a; what follows a closing brace is nothing.
    path = name.removesuffix("::self").strip(":").replace("r#", "")
    if path and name != prefix:
        yield path


def inside_of(path: str, modules: int) -> str | None:
    """Return a path used in a module written inside a file as its file would write it.

    None when it does not leave that file.
    """
    if not modules or not path.startswith(("self::", "super::")):
        return path
    up = 0
    while path.startswith("super::"):
        path, up = path.removeprefix("super::"), up + 1
    left = up - modules
    if left < 0 or path.startswith("self::"):
        return None
    return "super::" * left + path if left else f"self::{path}"


def _first_word(part: str) -> str:
    found = _FIRST_WORD.match(part)
    return found[1] if found is not None else ""
