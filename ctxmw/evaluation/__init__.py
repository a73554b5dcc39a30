"""Measures a memory on conversations of which it is known what their questions need.

A file is read as transcripts, each is told to a memory of its own that is gone afterwards, its
questions are asked, and what comes back is compared with the evidence. `ctxmw eval` prints it.
"""
