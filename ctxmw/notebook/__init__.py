"""Magics and plots for Jupyter.

Loaded by `%load_ext ctxmw`; matplotlib is loaded when something is drawn. Imports from `display`
and below.
"""
