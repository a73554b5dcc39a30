"""A long history is cut down in view, and nothing of it is lost.

What leaves the view is captured first and stays findable; a note stands in its place. Imports from
`learning` and below.
"""
