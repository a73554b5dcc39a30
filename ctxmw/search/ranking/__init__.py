"""From candidates to an order: the signals of a match, and what each is worth.

Columns in, scores out, over the rows of one index. Imports from `search/lexical` and below.
"""
