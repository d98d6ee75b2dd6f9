"""The table of methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from innermean import _innermean

if TYPE_CHECKING:
    from innermean.problem import Problem

__all__ = ["Method", "methods"]


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes
    ----------
    name
        What ``solve(method=...)`` takes.
    title, family, summary
        What it is.
    asks
        What it asks of a problem.
    settings
        The settings it has, for ``solve(**settings)``.
    """

    name: str
    title: str
    family: str
    summary: str
    asks: str
    settings: tuple[str, ...]


def methods(problem: Problem | None = None) -> list[Method]:
    """All methods or, with a problem, those that suit it.

    Examples
    --------
    >>> import innermean
    >>> [method.name for method in innermean.methods() if method.name.startswith("svrpda")]
    ['svrpda1', 'svrpda2']
    """
    rows = [
        Method(name, title, family, summary, asks, tuple(filter(None, settings.split(", "))))
        for name, title, family, summary, asks, settings in _innermean.methods()
    ]
    suited = None if problem is None else set(problem.suited())
    return [row for row in rows if suited is None or row.name in suited]
