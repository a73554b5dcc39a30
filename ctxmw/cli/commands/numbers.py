"""Numbers on the command line; argparse ends with 2 where one cannot be."""

from __future__ import annotations

import argparse
import math

_LAST_PORT = 65_535


def at_least_one(text: str) -> int:
    """Return how many."""
    return int(_checked(text, int(text) >= 1, "1 or more"))


def port(text: str) -> int:
    """Return a port; 0 is any that is free."""
    return int(_checked(text, 0 <= int(text) <= _LAST_PORT, f"between 0 and {_LAST_PORT}"))


def a_while(text: str) -> float:
    """Return how long."""
    return _checked(text, 0 < float(text) < math.inf, "more than 0")


def percentage(text: str) -> float:
    """Return a share in per cent."""
    return _checked(text, 0 <= float(text) <= 100, "between 0 and 100")


def _checked(text: str, holds: bool, wanted: str) -> float:
    if not holds:
        raise argparse.ArgumentTypeError(f"{text} is not {wanted}")
    return float(text)
