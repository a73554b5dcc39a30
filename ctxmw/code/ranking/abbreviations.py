"""Words that code writes short: who asks for a certificate means `cert` as well."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from ...text.terms import stem

_SHORT = """
    addr address | alloc allocate allocation | arg argument | arr array | async asynchronous
    attr attribute | auth authentication authenticate authorization authorize | buf buffer
    calc calculate | cert certificate | cfg config configuration | char character | cmd command
    col column | conf config configuration | config configuration | conn connection connect
    const constant | ctx context | db database | decl declaration | def definition | del delete
    desc description | dest destination | dir directory folder | doc documentation
    dst destination | elem element | env environment | err error | eval evaluate
    exec execute execution | expr expression | ext extension | fmt format | fn function
    fs filesystem | func function | gen generate generator | hdr header | id identifier | idx index
    img image | impl implementation | info information
    init initialize initialise initialization | iter iterator iterate | lang language | len length
    lib library | loc location | max maximum | mem memory | min minimum | mod module | msg message
    nav navigation | num number | obj object | op operation | opt option | org organization
    param parameter | perm permission | pkg package | pos position | prev previous | prop property
    proto protocol | ptr pointer | pwd password | rec record | ref reference | reg register
    repo repository | repr representation | req request | res response result | resp response
    ret return | sep separator | seq sequence | sig signature | spec specification | src source
    stat statistics | stmt statement | str string | sub subscription | sym symbol
    sync synchronize synchronous | sys system | tbl table | temp temporary | tmp temporary
    tok token | tx transaction | txt text | tz timezone | util utility | val value | var variable
    vec vector | ver version | ws websocket
"""


def short_for(term: str) -> tuple[str, ...]:
    """Return how code may write a word, as stems; nothing for most words."""
    return _short().get(term, ())


@cache
def _short() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in _SHORT.replace("\n", " | ").split("|"):
        for whole in row.split()[1:]:
            found[stem(whole)].append(stem(row.split()[0]))
    return {whole: tuple(shorts) for whole, shorts in found.items()}
