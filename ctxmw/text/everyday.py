"""Words that people use whatever they talk about: as names of code they tell nothing."""

from __future__ import annotations

from itertools import chain

from .lexicon import FRAME_WORDS, RELATED, SMALL_TALK, STOP_WORDS

_NAMES_OF_ANY_CODE = """
action agent array base block board body branch cache call card case chain change check class
client close code command content context copy count data date default delete detail document
double edge edit event example exception execute fetch field file filter find first flag float
form format function graph group handle header hook host image index info init input insert
integer invoke item iterator join language last level limit line link list load lock logger loop
main manager merge message method mode model module name node note null number object open
option order output override package parse part path pattern pending pipe plan plugin point pool
port post prefix print private process profile prompt property public query queue random range
reader record reduce refresh register remove render replace report reset resource result return
review role root route rule save schema score screen script section select send server service
session setting setup shape share shell shift signal single size slice sort source split stack
stage state static status step store stream string structure subject submit suffix sum switch
symbol sync tag target task template term text theme thread time title token tool topic total
track transform tree trigger type union unit update upload user util utils validate value
variable vector verify version view visit watch window worker write writer
"""
EVERYDAY = frozenset(
    chain(
        _NAMES_OF_ANY_CODE.split(),
        STOP_WORDS,
        FRAME_WORDS,
        SMALL_TALK,
        RELATED,
        chain.from_iterable(RELATED.values()),
    )
)
