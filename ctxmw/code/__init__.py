"""Source files as entities and relations, kept in line with the folder.

Parsers give entities, the index answers who calls and imports whom. Imports from `workspace` and
below.
"""
