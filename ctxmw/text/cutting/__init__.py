"""Long outputs of tools cut down by their structure, so that what is left can still be read.

Strings in, strings out: JSON keeps its keys and stays JSON, tables keep header and whole rows.
"""
