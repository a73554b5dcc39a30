"""Measurements: percentiles and ratios within one run, never a pass or fail."""
