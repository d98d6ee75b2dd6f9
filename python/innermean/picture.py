"""Pictures of runs: curves by matplotlib, and small tables and curves for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import matplotlib.axes

    from innermean.result import Result, Trace

#: The curve in a notebook, in pixels.
_WIDTH, _HEIGHT = 320, 90
_LABELS = {
    "calls": "oracle calls",
    "seconds": "seconds",
    "outer": "outer iterations",
    "inner": "inner steps",
    "rows": "rows read",
    "gap": "distance from the best objective",
    "optimality": "relative gap or stationarity",
}


def _heights(trace: Trace, y: str, best: float) -> NDArray[np.float64]:
    """The column up; gaps of 0 have no logarithm and are left out."""
    if y != "gap":
        return np.asarray(trace[y], dtype=np.float64)
    above = trace["objective"] - best
    return np.where(above > 0.0, above, np.nan)


def curves(
    traces: Mapping[str, Iterable[Trace]],
    x: str,
    y: str,
    best: float,
    ax: matplotlib.axes.Axes | None,
) -> matplotlib.axes.Axes:
    """The curves of runs by name, those of one name in one colour."""
    for column in (x, y):
        known = next(iter(next(iter(traces.values()))))
        if column not in known:
            raise ValueError(f"plot: no column {column!r}; expected one of {', '.join(known)}")
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.gca()
    for k, (name, runs) in enumerate(traces.items()):
        for r, trace in enumerate(runs):
            label = name if r == 0 else None
            ax.plot(trace[x], _heights(trace, y, best), color=f"C{k % 10}", label=label)
    if y in ("gap", "optimality"):
        ax.set_yscale("log")
    ax.set_xlabel(_LABELS.get(x, x))
    ax.set_ylabel(_LABELS.get(y, y))
    ax.legend()
    return ax


def result(of: Result) -> str:
    """A result in a notebook: a table with the curve of its run."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{name}</th>"
        "<td style='text-align:left'><pre style='margin:0;background:none'>"
        f"{escape(value)}</pre></td></tr>"
        for name, value in of._lines()
    )
    return f"<table>{rows}</table>{_svg(of.trace['calls'], of.trace['objective'])}"


def comparison(rows: list[dict[str, Any]]) -> str:
    """Runs of several methods in a notebook."""
    shown = {"gap": ".2e", "objective": ".10g", "calls": ",", "seconds": ".3g"}
    head = "".join(f"<th>{name}</th>" for name in rows[0]) if rows else ""
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(format(row[name], shown.get(name, '')))}</td>" for name in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _svg(calls: NDArray[Any], objective: NDArray[np.float64]) -> str:
    """The objective over oracle calls; nothing where there is no curve."""
    known = np.isfinite(objective)
    x, y = np.asarray(calls, dtype=np.float64)[known], objective[known]
    if len(x) < 2 or x[-1] <= x[0] or y.max() <= y.min():
        return ""
    across = _WIDTH * (x - x[0]) / (x[-1] - x[0])
    down = _HEIGHT * (y.max() - y) / (y.max() - y.min())
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down))
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' viewBox='-4 -4 {_WIDTH + 8} {_HEIGHT + 8}' "
        "role='img' aria-label='the objective over oracle calls'>"
        f"<polyline points='{points}' fill='none' stroke='currentColor' stroke-width='1.5'/></svg>"
    )
