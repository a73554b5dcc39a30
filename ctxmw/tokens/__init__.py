"""How many tokens something has: one string, a message, a whole prompt.

Counts are exact for the models whose tables are installed and upper bounds otherwise; they are kept
by text in a bounded cache. Imports from `values` and below.
"""
