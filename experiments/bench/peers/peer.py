"""What a family of cases says about each of its peers."""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Peer:
    name: str
    # From the loosest to the tightest; None for one that has nothing to set.
    settings: list
    solve: Callable


def tolerances(loosest, tightest):
    """10^loosest, ..., 10^tightest"""
    return [float(f"1e{k}") for k in range(loosest, tightest - 1, -1)]


def iterations(most):
    """1, 2, 3, ... in steps of a tenth or 1. To stop at a number of iterations is the peer's best case: it knows when to stop, and no time
    goes into finding out."""
    counts, count = [], 1
    while count <= most:
        counts.append(count)
        count = max(count + 1, round(1.1 * count))
    return counts
