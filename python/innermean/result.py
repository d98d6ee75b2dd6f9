"""What a run returns: the answer, its certificate, and how the run went."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

__all__ = ["Certificate", "Result", "Trace"]

_MEASURES = {
    "duality_gap": "duality gap",
    "fenchel_gap": "Fenchel gap",
    "quadratic": "quadratic bound",
    "stationarity": "stationarity",
    "none": "no measure",
}


@dataclass(frozen=True)
class Certificate:
    """How far an answer is from optimal, as far as that can be proven.

    Attributes
    ----------
    measure
        What the numbers are: ``"duality_gap"``, ``"fenchel_gap"`` and ``"quadratic"`` are proofs,
        rounding included; ``"stationarity"`` is none.
    gap
        The objective is at most this far above the optimum; None where nothing is proven.
    relative
        What tolerances are compared with: the gap relative to the scale of the objective, or the
        relative stationarity.
    within
        If the bound holds for no more: among all theta up to so many times as large as the answer.
    is_rounding
        Whether double precision can prove no better.
    reason
        Why there is no gap, in a sentence.
    """

    measure: str
    gap: float | None = None
    relative: float | None = None
    within: float | None = None
    is_rounding: bool = False
    reason: str | None = None

    @property
    def proven(self) -> bool:
        """Whether the distance to the optimum is bounded."""
        return self.gap is not None

    def __str__(self) -> str:
        measure = _MEASURES.get(self.measure, self.measure)
        if self.gap is not None:
            among = ""
            if self.within is not None:
                among = f", among theta up to {self.within:g} times as large"
            rounding = ", rounding" if self.is_rounding else ""
            return f"at most {self.gap:.2e} above the optimum ({measure}{rounding}{among})"
        why = "" if self.reason is None else f": {self.reason}"
        if self.relative is not None:
            return f"{measure} {self.relative:.2e}; no proof{why}"
        return f"no proof{why}"


class Trace(Mapping[str, NDArray[Any]]):
    """The evaluations of a run as columns, the start first.

    Columns are items and attributes: ``outer``, ``inner``, ``calls``, ``rows``, ``seconds``,
    ``objective``, ``optimality``, ``gap`` (NaN where there is none).

    Examples
    --------
    >>> trace = Trace({"calls": np.array([0, 10]), "objective": np.array([1.0, 0.5])})
    >>> trace.objective[-1]
    np.float64(0.5)
    """

    outer: NDArray[np.int64]
    inner: NDArray[np.int64]
    calls: NDArray[np.int64]
    rows: NDArray[np.int64]
    seconds: NDArray[np.float64]
    objective: NDArray[np.float64]
    optimality: NDArray[np.float64]
    gap: NDArray[np.float64]

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __getattr__(self, name: str) -> NDArray[Any]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"a trace has no column {name!r}; it has {', '.join(columns)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns; of evaluations there are ``len(trace.objective)``."""
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), ()))
        return f"<Trace of {rows} evaluations: {', '.join(self._columns)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """The trace as a DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)


@dataclass(repr=False, eq=False)
class Result:
    """What a run returns.

    Attributes
    ----------
    theta
        The solution or, where the run was not brought to an end, the best point seen.
    objective
        The objective at theta.
    certificate
        How far theta is from optimal.
    status
        Why the run ended: ``"solved"``, ``"max_seconds"``, ``"diverged"``, ``"stopped"``, ...
    success
        Whether it reached what was asked for.
    message
        The status in a sentence, with what to do about it.
    calls, calls_by_kind
        Oracle calls: all, and those of f, of its Jacobian and of phi.
    rows
        Rows of data read.
    outer, inner
        Outer iterations finished and inner steps made.
    seconds
        Seconds of the method's own time.
    method, settings
        The method that the run ended with, and its settings.
    reason
        Why this method, where it was left to the problem.
    fallbacks
        The methods that were tried before it, in words.
    duals
        The dual variables, of a method that keeps some.
    endless
        The direction in which the objective falls without end, where there is no minimum.
    trace
        The evaluations as columns.
    notes
        What an estimator decided without being asked.
    """

    theta: NDArray[np.float64]
    objective: float
    certificate: Certificate
    status: str
    success: bool
    message: str
    calls: int
    calls_by_kind: dict[str, int]
    rows: int
    outer: int
    inner: int
    seconds: float
    method: str
    settings: dict[str, Any]
    trace: Trace
    reason: str | None = None
    fallbacks: list[str] = field(default_factory=list)
    duals: NDArray[np.float64] | None = None
    endless: NDArray[np.float64] | None = None
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Result:
        """The result that the compiled core tells of; raises what Python ended the run with.

        The best point is then the exception's ``result``.
        """
        error = told.pop("error", None)
        told["certificate"] = Certificate(**told["certificate"])
        told["trace"] = Trace(told["trace"])
        result = cls(**told)
        if error is not None:
            error.result = result
            raise error
        return result

    def __repr__(self) -> str:
        return "\n".join(f"{name:>11}: {value}" for name, value in self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield "status", self.message
        yield "objective", f"{self.objective:.12g}"
        yield "certificate", str(self.certificate)
        yield "method", self.method if self.reason is None else f"{self.method} ({self.reason})"
        for before in self.fallbacks:
            yield "before", before
        yield "work", f"{self.calls:,} calls, {self.outer:,} outer iterations, {self.seconds:.3g} s"
        for note in self.notes:
            yield "note", note
        yield "theta", np.array2string(self.theta, precision=6, threshold=12, prefix=" " * 13)

    def _repr_html_(self) -> str:
        from innermean import picture

        return picture.result(self)

    def plot(
        self,
        x: str = "calls",
        y: str = "gap",
        ax: matplotlib.axes.Axes | None = None,
    ) -> matplotlib.axes.Axes:
        """Draws the run's curve by matplotlib.

        Parameters
        ----------
        x
            The column along: ``"calls"``, ``"seconds"``, ``"outer"``, ``"rows"``.
        y
            The column up; ``"gap"`` is the distance to the best objective seen.
        ax
            The axes to draw in; new ones by default.
        """
        from innermean import picture

        return picture.curves({self.method: [self.trace]}, x, y, self.objective, ax)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "A run",
        names: Sequence[str] | None = None,
    ) -> None:
        """Writes a page that any browser opens without a network, as the command line does.

        Parameters
        ----------
        path
            Where it goes, such as ``"page.html"``.
        title
            What it is about.
        names
            A name for each coordinate of theta.
        """
        from innermean import page

        if names is not None and len(names) != len(self.theta):
            raise ValueError(f"names: expected {len(self.theta)}, got {len(names)}")
        settings = {"method": self.method, **self.settings}
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        code = f"problem.solve({self.method!r}{', ' + given if given else ''})"
        page.write(path, page.of_result(self, title, names, settings, code))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain dicts, lists and numbers."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        told["certificate"] = dict(vars(self.certificate))
        told["trace"] = {name: column.tolist() for name, column in self.trace.items()}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in told.items()
        }
