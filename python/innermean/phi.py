"""phi: what is done to each average.

Every function here returns a :class:`Phi`, to be given to :class:`innermean.Problem`.

Examples
--------
>>> from innermean import phi
>>> phi.huber(1.0, width=0.5)
phi.huber(1.0, 0.5)
"""

from __future__ import annotations

import math
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

    def _core(self) -> _innermean.Phi:
        core = _innermean.Phi(self.kind, self._numbers, self._vectors)
        return core if self._weights is None else core.weighted(self._weights)

    def weighted(self, weights: Any) -> Phi:
        """The same with a weight for each term, above 0."""
        other = Phi(self.kind, *self._numbers, vectors=tuple(self._vectors))
        own = _arrays.floats(weights, "weights", ndim=1)
        other._weights = own if self._weights is None else own * self._weights
        other._core()
        return other

    def __repr__(self) -> str:
        parts = [f"{number!r}" for number in self._numbers]
        parts += [f"<{len(vector)} numbers>" for vector in self._vectors]
        weights = "" if self._weights is None else f".weighted(<{len(self._weights)} numbers>)"
        return f"phi.{self.kind}({', '.join(parts)}){weights}"


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
