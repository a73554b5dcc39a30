"""Models whose weights ride inside a package: nothing is downloaded, and they work offline.

Each has one file, which imports its package where it is needed.
"""
