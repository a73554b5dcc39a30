"""What a statement is about, so that a later one about the same takes its place.

Statements in, keys and reasons out; nothing is written here. Imports from `memory` and below.
"""
