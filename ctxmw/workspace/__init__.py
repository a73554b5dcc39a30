"""The folder and the editor: files, rules, activity, and what a message names.

Reads the folder it is told about and nothing outside it. Imports from `search` and below.
"""
