"""Finds records for a question: words, vectors, times, people; one ranking over all.

`search.search` is the way in. It reads the store's feed and writes nothing but copies of its own
indexes. Imports from `store` and below.
"""
