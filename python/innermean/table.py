"""The table of methods."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING

from innermean import _innermean

if TYPE_CHECKING:
    import pandas

    from innermean.problem import Problem

__all__ = ["Method", "Methods", "methods"]


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


class Methods(list[Method]):
    """Rows of the table; in a notebook they are shown as one."""

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame, with names as its index."""
        import pandas

        return pandas.DataFrame([asdict(method) for method in self]).set_index("name")

    def _repr_html_(self) -> str:
        columns = ("name", "title", "family", "summary", "asks")
        head = "".join(f"<th>{column}</th>" for column in columns)
        cell = "<td style='text-align:left'>{}</td>".format
        rows = (
            "".join(cell(escape(getattr(method, column))) for column in columns) for method in self
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><tr>{head}</tr>{body}</table>"


def methods(problem: Problem | None = None) -> Methods:
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
    return Methods(row for row in rows if suited is None or row.name in suited)
