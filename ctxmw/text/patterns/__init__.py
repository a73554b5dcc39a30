"""Whether a person's own regular expression can take for ever, told without running it.

The pattern becomes an automaton, and the ways through it are counted. Imports from `text` alone.
"""
