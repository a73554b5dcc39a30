"""The pipeline: sources, items, score, selection, rendering.

From a question and a budget to two blocks of text: the stable block and the turn's part. Nothing
here writes. Imports from `code` and below.
"""
