"""phi: what is done to each average.

Every function here returns a :class:`Phi`, to be given to :class:`innermean.Problem`.

Examples
--------
>>> from innermean import phi
>>> phi.huber(1.0, width=0.5)
phi.huber(1.0, 0.5)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from innermean import _arrays, _innermean

__all__ = [
    "Phi",
    "absolute",
    "bernoulli",
    "downside_square",
    "excess",
    "exponential",
    "huber",
    "logistic",
    "negative_log",
    "own",
    "poisson",
    "quadratic_form",
    "smoothed_hinge",
    "square",
    "squared_hinge",
]


class Phi:
    """A convex function of an average, one for each term. Made by the functions of this module."""

    def __init__(self, kind: str, *numbers: float, vectors: tuple[Any, ...] = ()) -> None:
        self.kind = kind
        self._numbers = [float(number) for number in numbers]
        self._vectors = list(vectors)
        self._weights: _arrays.Floats | None = None
        #: The numbers that an average must have, where that matters.
        self._ell: int | None = None
        if kind == "negative_log":
            self._ell = int(numbers[0])
        elif kind == "quadratic_form":
            self._ell = math.isqrt(len(vectors[0]))
        self._core()

    def _plain(self) -> _innermean.Phi:
        return _innermean.Phi(self.kind, self._numbers, self._vectors)

    def _core(self) -> _innermean.Phi:
        core = self._plain()
        return core if self._weights is None else core.weighted(self._weights)

    @property
    def _terms(self) -> int | None:
        """How many terms it has numbers for, if it has some for each."""
        if self._weights is not None:
            return len(self._weights)
        each = self.kind not in ("negative_log", "quadratic_form")
        return len(self._vectors[0]) if self._vectors and each else None

    def weighted(self, weights: Any) -> Phi:
        """The same with a weight for each term, above 0."""
        other = copy.copy(self)
        own = _arrays.floats(weights, "weights", ndim=1)
        other._weights = own if self._weights is None else own * self._weights
        other._core()
        return other

    def __repr__(self) -> str:
        parts = [f"{number!r}" for number in self._numbers]
        parts += [f"<{len(vector)} numbers>" for vector in self._vectors]
        weights = "" if self._weights is None else f".weighted(<{len(self._weights)} numbers>)"
        return f"phi.{self.kind}({', '.join(parts)}){weights}"


class _Own(Phi):
    """By a value and a slope."""

    def __init__(self, curve: Any, *facts: Any) -> None:
        self._curve, self._facts = curve, facts
        super().__init__("own")

    def _plain(self) -> _innermean.Phi:
        return _innermean.Phi.own(self._curve.core, *self._facts, self._curve.domain)

    def __repr__(self) -> str:
        name = getattr(self._curve.value, "__name__", "value")
        return super().__repr__().replace("()", f"({name})", 1)


def own(
    value: Callable[..., float],
    slope: Callable[..., float],
    *,
    parameters: Any = None,
    max_curvature: float | None = None,
    max_slope: float | None = None,
    kinks: bool = False,
    domain: tuple[float, float] = (-math.inf, math.inf),
) -> Phi:
    """A convex function of one number by its value and its slope, compiled by numba.

    Conjugate and prox are found numerically. Value and slope are compared with each other here, and
    by :meth:`innermean.Problem.check` at random points; that the function is convex is up to you:
    claims about the distance to the optimum rest on it.

    Parameters
    ----------
    value, slope
        ``value(u)`` and ``slope(u)``; with `parameters` ``value(u, p)``, where p is the number or
        the row of the term. Functions that numba understands.
    parameters
        A number or a row of numbers for each term.
    max_curvature, max_slope
        Bounds on second derivatives and on slopes, if you know some: methods take longer steps.
    kinks
        Whether slopes jump somewhere.
    domain
        Where it is finite; beyond these ends it is infinite.

    Examples
    --------
    >>> import math
    >>> from innermean import phi
    >>> phi.own(lambda u: math.log(math.cosh(u)), math.tanh, max_curvature=1.0)  # doctest: +SKIP
    phi.own(<lambda>)
    """
    from innermean.own.curve import Curve

    curve = Curve(value, slope, parameters, domain)
    return _Own(curve, max_curvature, max_slope, bool(kinks))


def _vector(value: Any, name: str) -> _arrays.Floats:
    return _arrays.floats(value, name, ndim=1)


def square(weight: float = 1.0) -> Phi:
    """``weight * u**2``"""
    return Phi("square", weight)


def downside_square(weight: float = 1.0) -> Phi:
    """``weight * min(u, 0)**2``: semivariance."""
    return Phi("downside_square", weight)


def absolute(weight: float = 1.0) -> Phi:
    """``weight * |u|``"""
    return Phi("absolute", weight)


def huber(weight: float = 1.0, width: float = 1.0) -> Phi:
    """``weight * u**2 / (2 width)`` where |u| <= width, ``weight * (|u| - width / 2)`` beyond."""
    return Phi("huber", weight, width)


def excess(weight: float = 1.0) -> Phi:
    """``weight * max(u, 0)``"""
    return Phi("excess", weight)


def exponential(weight: float = 1.0, rate: float = 1.0) -> Phi:
    """``weight * (exp(rate * u) - 1) / rate``: entropic risk."""
    return Phi("exponential", weight, rate)


def logistic(labels: Any) -> Phi:
    """``log(1 + exp(-label u))`` with labels -1 and 1."""
    return Phi("logistic", vectors=(_vector(labels, "labels"),))


def squared_hinge(labels: Any) -> Phi:
    """``max(1 - label u, 0)**2`` with labels -1 and 1."""
    return Phi("squared_hinge", vectors=(_vector(labels, "labels"),))


def smoothed_hinge(labels: Any, width: float = 1.0) -> Phi:
    """``max(t, 0)**2 / (2 width)`` up to width, ``t - width / 2`` beyond; ``t = 1 - label u``."""
    return Phi("smoothed_hinge", width, vectors=(_vector(labels, "labels"),))


def bernoulli(proportions: Any) -> Phi:
    """``-q log(u) - (1 - q) log(1 - u)``, the likelihood of proportions q of probabilities u."""
    return Phi("bernoulli", vectors=(_vector(proportions, "proportions"),))


def poisson(counts: Any, exposures: Any = None, scale: float = 1.0) -> Phi:
    """``scale * (m - c + c log(c / m))`` with ``m = exposure * u``, for counts c."""
    counts = _vector(counts, "counts")
    exposures = np.ones(len(counts)) if exposures is None else _vector(exposures, "exposures")
    return Phi("poisson", scale, vectors=(counts, exposures))


def negative_log(weights: Any, ell: int = 1) -> Phi:
    """``-sum_k weight_k log(u_k)``, `ell` numbers for each term."""
    return Phi("negative_log", ell, vectors=(_vector(np.ravel(weights), "weights"),))


def quadratic_form(matrix: Any) -> Phi:
    """``u' M^-1 u / 2`` of one average of as many numbers, M symmetric and positive definite."""
    matrix = _arrays.floats(matrix, "matrix", ndim=2)
    return Phi("quadratic_form", vectors=(matrix.reshape(-1),))
