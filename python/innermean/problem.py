"""The problem: f, phi and g together, and runs on it."""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from innermean import _arrays, _innermean, progress as _progress
from innermean.g import G
from innermean.g import none as _no_g
from innermean.phi import Phi
from innermean.result import Result

if TYPE_CHECKING:
    from innermean.own.rows import Own

__all__ = ["CheckReport", "Problem", "Run", "minimize", "resume"]


@dataclass(frozen=True)
class CheckReport:
    """What :meth:`Problem.check` found."""

    findings: list[str]
    notes: list[str]
    comparisons: int

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __str__(self) -> str:
        if not self.findings:
            lines = [f"nothing is wrong in {self.comparisons} comparisons"]
        else:
            lines = ["this is wrong:", *(f"- {finding}" for finding in self.findings)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__


#: Calls of the library, as they are called in Python; longer names first.
_WORDS = (
    ("add_block_jac_t_difference", "vjp of rows"),
    ("add_jac_t_difference", "vjp"),
    ("add_block_jac_t", "vjp of rows"),
    ("add_mean_jac_t", "vjp of a term"),
    ("add_weighted_jac_t", "vjp of all rows"),
    ("block_mean_and_jacobian", "f and vjp of rows"),
    ("block_difference", "f of rows"),
    ("block_mean", "f of rows"),
    ("add_jac_t", "vjp"),
    ("saying so in structure", "saying so, affine=True,"),
    ("differences of value give", "differences of f give"),
)


def _in_python(sentence: str) -> str:
    for word, ours in _WORDS:
        sentence = sentence.replace(word, ours)
    return sentence


class Problem:
    """``min over theta of (1/n) sum_i phi_i(mean_j f_theta(x_i, y_ij)) + g(theta)``

    Frozen and safe to use from several threads. It pickles where its parts do.

    Parameters
    ----------
    f
        From :mod:`innermean.problems`, :func:`innermean.kernel`, :func:`innermean.batched`,
        :func:`innermean.jax` or :func:`innermean.torch`.
    phi
        What is done to each average, from :mod:`innermean.phi`.
    g
        Penalties and constraints, from :mod:`innermean.g`; none by default.
    """

    def __init__(self, f: Own, phi: Phi, g: G | None = None) -> None:
        self.f, self.phi, self.g = f, phi, _no_g() if g is None else g
        for name, part, kind in (("phi", phi, Phi), ("g", self.g, G)):
            if not isinstance(part, kind):
                raise TypeError(
                    f"{name}: expected one from innermean.{name}, got {type(part).__name__}"
                )
        if phi._ell is not None and phi._ell != f.ell:
            raise ValueError(
                f"phi: {phi.kind} is of {phi._ell} numbers, but f returns {f.ell}"
            )
        given = phi._terms
        if given not in (None, f.terms):
            raise ValueError(f"phi: expected one for each of {f.terms} terms, got {given}")
        curve = self.g._curve
        own = None if curve is None else curve.core
        self._core = _innermean.Problem(*f._with(phi), self.g._said(), own)

    def __getstate__(self) -> dict[str, Any]:
        return {"f": self.f, "phi": self.phi, "g": self.g}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def d(self) -> int:
        """The length of theta."""
        return self.f.d

    @property
    def terms(self) -> int:
        """The number of outer terms."""
        return self.f.terms

    def __repr__(self) -> str:
        return f"Problem({self.f!r}, {self.phi!r}, {self.g!r}; {self.terms} terms, d={self.d})"

    def with_g(self, g: G) -> Problem:
        """The same f and phi, whose data are shared, with another g."""
        return Problem(self.f, self.phi, g)

    def solve(
        self,
        method: str = "auto",
        *,
        tolerance: float | None = 1e-6,
        max_seconds: float | None = None,
        max_outer: int | None = 10_000,
        max_calls: int | None = None,
        target_objective: float | None = None,
        evaluate_every: int | None = None,
        start: Any = None,
        seed: int = 0,
        callback: Callable[[_innermean.Record], Any] | None = None,
        progress: bool | Callable[[_innermean.Record], Any] = False,
        **settings: Any,
    ) -> Result:
        """Minimises the objective.

        Ctrl-C raises ``KeyboardInterrupt`` whose ``result`` is the best point so far.

        Parameters
        ----------
        method
            A name from :func:`innermean.methods`, or ``"auto"``: the problem decides.
        tolerance
            The relative gap (or stationarity) at which the problem counts as solved.
        max_seconds, max_outer, max_calls, target_objective
            Other ends of a run; whatever comes first.
        evaluate_every
            Look at the objective after so many inner steps as well.
        start
            Where to begin; zeros by default.
        seed
            Of all random draws.
        callback
            Told of every evaluation; a run ends where it returns True, and raises what it raises.
        progress
            Show how the run goes; or a callable that is told several times a second.
        **settings
            Of the method: ``alpha_theta=0.1``, ``batch=16``, ...
        """
        solver = _solver(
            method,
            {
                "max_outer": max_outer,
                "max_calls": max_calls,
                "max_seconds": max_seconds,
                "target_objective": target_objective,
                "tolerance": tolerance,
            },
            evaluate_every,
            seed,
            settings,
        )
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: expected a callable, got {type(callback).__name__}")
        shown = _progress.of(progress)
        try:
            told = self._core.solve(solver, self._point(start, "start"), callback, shown)
        finally:
            if isinstance(shown, _progress.Progress):
                shown.close()
        return Result.of(told)

    def _point(self, theta: Any, name: str) -> _arrays.Floats | None:
        return None if theta is None else _arrays.floats(theta, name, ndim=1, length=self.d)

    def objective(self, theta: Any) -> float:
        """The objective at theta."""
        return self._core.objective(_arrays.floats(theta, "theta", ndim=1, length=self.d))

    def gradient(self, theta: Any) -> _arrays.Floats:
        """The gradient of the loss at theta, without g."""
        return self._core.gradient(_arrays.floats(theta, "theta", ndim=1, length=self.d))

    def means(self, theta: Any) -> _arrays.Floats:
        """The average of f for each term at theta."""
        at = _arrays.floats(theta, "theta", ndim=1, length=self.d)
        found = self.f._means(self._core, at)
        return found if len(found) == self.terms else found.reshape(self.terms, -1)

    def check(self, *, scale: float = 1.0, centre: Any = None, seed: int = 0) -> CheckReport:
        """Compares f, its derivative, phi and g with their definitions at random points."""
        point = self._point(centre, "centre")
        around = None if point is None else point.tolist()
        findings, notes, comparisons = self._core.check(scale, around, seed)
        return CheckReport(
            [_in_python(finding) for finding in findings],
            [_in_python(note) for note in notes],
            comparisons,
        )

    def suited(self) -> list[str]:
        """The names of the methods that suit."""
        return [name for name, missing in self._core.suited() if missing is None]

    def start(
        self,
        method: str = "auto",
        *,
        start: Any = None,
        seed: int = 0,
        tolerance: float | None = 1e-6,
        **settings: Any,
    ) -> Run:
        """A run that goes on in pieces; see :class:`Run`."""
        limits = ("max_outer", "max_calls", "max_seconds", "target_objective")
        stop = {**dict.fromkeys(limits), "tolerance": tolerance}
        solver = _solver(method, stop, None, seed, settings)
        return Run(self, solver, self._point(start, "start"), None)


#: The settings that methods may have.
_SETTINGS = frozenset(_innermean.settings())
_METHODS = frozenset(["auto", *(row[0] for row in _innermean.methods())])
#: Numbers of numpy are written as those of Python.
_JSON = json.JSONEncoder(default=lambda number: number.item())


def _whole(seed: Any) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed={seed!r}: expected a whole number, 0 or above")
    return number


def _solver(
    method: str,
    stop: dict[str, Any],
    evaluate_every: int | None,
    seed: int,
    settings: dict[str, Any],
) -> str:
    """How to solve, as the compiled core reads it."""
    unknown = [name for name in settings if name not in _SETTINGS]
    if unknown:
        known = ", ".join(_innermean.settings())
        raise TypeError(f"solve: there is no setting {min(unknown)!r}; methods have {known}")
    if method not in _METHODS:
        near = get_close_matches(str(method), _METHODS, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ";"
        raise ValueError(
            f"method={method!r}: there is no such method{meant} innermean.methods(problem) lists "
            "those that suit"
        )
    tolerance = stop["tolerance"]
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r}: expected a number, 0 or above, or None")
    said = {
        "method": method,
        "choice": {**settings, "seed": _whole(seed)},
        "stop": stop,
        "evaluate_every": evaluate_every,
    }
    return _JSON.encode(said)


class Run:
    """A run in pieces, which do not change a bit of what comes out.

    Examples
    --------
    >>> run = problem.start("svrpda1")               # doctest: +SKIP
    >>> run.advance(seconds=60)                      # doctest: +SKIP
    >>> blob = run.checkpoint()                      # doctest: +SKIP
    >>> innermean.resume(problem, blob).advance().result()  # doctest: +SKIP
    """

    def __init__(
        self, problem: Problem, solver: str, start: Any, state: bytes | None
    ) -> None:
        self.problem = problem
        self._solver, self._start, self._state = solver, start, state
        self._result: Result | None = None

    def advance(
        self,
        *,
        seconds: float | None = None,
        outer: int | None = None,
        callback: Callable[[_innermean.Record], Any] | None = None,
    ) -> Run:
        """Goes on for so many seconds or outer iterations, or to the end."""
        if self.ended:
            return self
        told = self.problem._core.solve(
            self._solver, self._start, callback, None, True, self._state, seconds, outer
        )
        state = told.pop("checkpoint")
        if state is not None or told["error"] is None:  # after an error, go on from before it
            self._state = state
        self._result = Result.of(told)
        return self

    @property
    def ended(self) -> bool:
        """Whether the run has come to its end."""
        return self._result is not None and (
            self._result.status not in ("stopped", "interrupted") or self._state is None
        )

    def result(self) -> Result:
        """The best point so far."""
        if self._result is None:
            self.advance(outer=0)
        assert self._result is not None
        return self._result

    def checkpoint(self) -> bytes:
        """All that it takes to go on elsewhere, by :func:`resume`."""
        self.result()
        if self._state is None:
            raise ValueError("checkpoint: there is nothing to go on from; the run has failed")
        head = self._solver.encode()
        return len(head).to_bytes(8, "little") + head + self._state


def resume(problem: Problem, checkpoint: bytes) -> Run:
    """Goes on with a run from its :meth:`Run.checkpoint`, on the same problem."""
    length = int.from_bytes(checkpoint[:8], "little")
    if len(checkpoint) < 8 + length:
        raise ValueError("checkpoint: expected the bytes that Run.checkpoint returned")
    return Run(problem, checkpoint[8 : 8 + length].decode(), None, checkpoint[8 + length :])


def minimize(f: Own, phi: Phi, g: G | None = None, **how: Any) -> Result:
    """:meth:`Problem.solve` of ``Problem(f, phi, g)``."""
    return Problem(f, phi, g).solve(**how)
