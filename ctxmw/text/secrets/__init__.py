"""Takes secrets out of a text: what vendors' keys look like, and what names and places tell.

A table of facts and three ways to read with it. What is found is replaced before anything else
sees the text. Imports from `text` alone.
"""
