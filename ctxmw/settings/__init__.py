"""Settings from a file and from the environment, and which file may set what.

Everything set here is an argument of `ContextMiddleware.open`. Imports from the top and below.
"""
