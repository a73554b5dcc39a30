"""The nouns: what an item, a record, a message, a situation and a budget is, and its score.

Frozen values and pydantic models with the rules that hold for each by itself. No store, no clock of
its own, no search. Imports from `text` and `runtime`.
"""
