"""Several methods on one problem, from one start, to the same gap."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from innermean.result import Result

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

    from innermean.problem import Problem

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """What :func:`compare` returns.

    Attributes
    ----------
    optimum
        The objective that gaps are measured from.
    start
        The objective where all began.
    runs
        The results of each method, one for each seed.
    """

    optimum: float
    start: float
    runs: dict[str, list[Result]]

    def _rows(self) -> Iterator[dict[str, Any]]:
        scale = max(self.start - self.optimum, np.finfo(float).tiny)
        for method, results in self.runs.items():
            for k, result in enumerate(results):
                yield {
                    "method": method,
                    "run": k,
                    "gap": max(result.objective - self.optimum, 0.0) / scale,
                    "objective": result.objective,
                    "calls": result.calls,
                    "seconds": result.seconds,
                    "status": result.status,
                }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run; gaps are parts of that of the start."""
        import pandas

        return pandas.DataFrame(list(self._rows()))

    def plot(
        self, x: str = "calls", y: str = "gap", ax: matplotlib.axes.Axes | None = None
    ) -> matplotlib.axes.Axes:
        """Draws the curves of all runs; see :meth:`Result.plot`."""
        from innermean import picture

        traces = {name: [run.trace for run in runs] for name, runs in self.runs.items()}
        return picture.curves(traces, x, y, self.optimum, ax)

    def report(self, path: str | os.PathLike[str], *, title: str = "Methods compared") -> None:
        """Writes a page with the table and the curves; see :meth:`Result.report`."""
        from innermean import page

        code = f"innermean.compare(problem, {list(self.runs)!r})"
        page.write(path, page.of_comparison(self, title, code))

    def _repr_html_(self) -> str:
        from innermean import picture

        return picture.comparison(list(self._rows()))

    def __repr__(self) -> str:
        lines = [f"{'method':<14} {'gap':>9} {'calls':>14} {'seconds':>9}  status"]
        for row in self._rows():
            lines.append(
                f"{row['method']:<14} {row['gap']:>9.2e} {row['calls']:>14,} "
                f"{row['seconds']:>9.3g}  {row['status']}"
            )
        return "\n".join(lines)


def compare(
    problem: Problem,
    methods: str | Iterable[str] = "all",
    *,
    seeds: int = 1,
    seed: int = 0,
    until: float = 1e-10,
    max_calls: int = 1_000_000_000,
    max_seconds: float = 2.0,
    tune: bool = False,
    start: Any = None,
) -> Comparison:
    """Runs several methods from one start, each until its gap is small.

    Parameters
    ----------
    problem
        What is minimised.
    methods
        Names from :func:`innermean.methods`; ``"auto"`` is the one that the problem would choose,
        ``"all"`` are those that suit.
    seeds
        Runs of each method, with seeds from `seed` upwards.
    seed
        The first seed.
    until
        The distance from the optimum, as a part of that of the start, at which a run ends.
    max_calls, max_seconds
        Other ends of each run.
    tune
        Search a small grid of steps for each method first.
    start
        Where to begin; zeros by default.
    """
    said = {
        "methods": methods if isinstance(methods, str) else ",".join(methods),
        "gap": "relative",
        "repeat": int(seeds),
        "seed": int(seed),
        "until": float(until),
        "max_calls": int(max_calls),
        "max_seconds": float(max_seconds),
        "tune": bool(tune),
    }
    if seeds < 1:
        raise ValueError(f"seeds: expected at least 1, got {seeds}")
    begin = problem._point(np.zeros(problem.d) if start is None else start, "start")
    assert begin is not None
    told = problem._core.compare(json.dumps(said), begin)
    runs = {
        entry["method"]: [Result.of(run) for run in entry["runs"]] for entry in told["entries"]
    }
    return Comparison(told["optimum"], told["start"], runs)
