"""Magics, plots, progress and thumbs for Jupyter.

Loaded by `%load_ext ctxmw`; matplotlib and ipywidgets are loaded when something of theirs is shown.
Imports from `display` and below.
"""

from .plots import plot_budget, plot_prefix, plot_session
from .progress_bar import progress
from .thumbs import rating_buttons

__all__ = ["plot_budget", "plot_prefix", "plot_session", "progress", "rating_buttons"]
