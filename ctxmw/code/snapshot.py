"""What is kept of a project's code, so that the next process need not count all words again.

The files themselves stay where they are, in rows: here is in which places each definition's words
stand, and no word of what is gone. A file that has changed since is left out; the changes feed
brings it again.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.packing import found_under, under
from .index import ProjectCode
from .ranking.postings import CodePostings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .files import CodeFile

    Arrays = Mapping[str, NDArray[Any]]


def dumped(code: ProjectCode) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what is counted of a project, as arrays and as what JSON can keep."""
    code.without_gone()
    own, words = code.postings.dump()
    past, past_words = code.past.dump()
    lengths = np.array(code.lengths, np.uint32)
    places = {path: code.places_in(path) for path in code.files}
    files = [[path, at.start, len(at), code.files[path].hash] for path, at in places.items()]
    about = {"files": files, "words": words, "past_words": past_words}
    return {**under("own", own), **under("past", past), "lengths": lengths}, about


def loaded(arrays: Arrays, about: Mapping[str, Any], files: Mapping[str, CodeFile]) -> ProjectCode:
    """Return the project again, with those of its files that are as they were."""
    code = ProjectCode()
    code.postings = CodePostings.load(found_under("own", arrays), about["words"])
    code.past = CodePostings.load(found_under("past", arrays), about["past_words"])
    code.begin_with(array("L", arrays["lengths"].tolist()))
    for path, first, many, hashed in about["files"]:
        file = files.get(path)
        if file is not None and (len(file.entities), file.hash) == (many, hashed):
            code.put(file, first)
    return code
