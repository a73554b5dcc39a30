"""Magics and plots for Jupyter.

Loaded by `%load_ext ctxmw`; matplotlib is loaded when something is drawn. Imports from `display`
and below.
"""

from .plots import plot_budget, plot_prefix, plot_session

__all__ = ["plot_budget", "plot_prefix", "plot_session"]
