"""g: penalties and constraints on theta.

Every function here returns a :class:`G`. They add up: ``g.l1(0.1) + g.ridge(0.01)``,
``g.simplex() + g.box(0, 0.1)``.

Examples
--------
>>> from innermean import g
>>> g.l1(0.1) + g.ridge(0.01)
g(l1=0.1, l2=0.01)
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from innermean import _arrays

__all__ = [
    "G",
    "box",
    "budget",
    "l1",
    "linear",
    "log_barrier",
    "none",
    "norm",
    "own",
    "ridge",
    "simplex",
    "tilt",
]

_PLAIN: dict[str, Any] = {
    "tilt": 0.0,
    "l1": 0.0,
    "l2": 0.0,
    "lo": -math.inf,
    "hi": math.inf,
    "budget": False,
    "rows": [],
    "norms": [],
    "barrier": None,
    "free": 0,
}


class G:
    """A convex function of theta. Made by the functions of this module."""

    def __init__(self, curve: Any = None, **parts: Any) -> None:
        self._parts = {**_PLAIN, **parts}
        #: A function by value and slope.
        self._curve = curve

    def __add__(self, other: G) -> G:
        if not isinstance(other, G):
            return NotImplemented
        a, b = self._parts, other._parts
        if a["free"] or b["free"]:
            raise ValueError("g: free_tail goes around a sum: (a + b).free_tail(k)")
        barriers = [part for part in (a["barrier"], b["barrier"]) if part is not None]
        joined = {name: np.add(a[name], b[name]) for name in ("tilt", "l1", "l2")}
        curves = [each for each in (self._curve, other._curve) if each is not None]
        if len(curves) > 1:
            raise ValueError("g: one g.own at most; write the sum of both as one value and slope")
        sum_ = G(
            *curves,
            **joined,
            lo=np.maximum(a["lo"], b["lo"]),
            hi=np.minimum(a["hi"], b["hi"]),
            budget=a["budget"] or b["budget"],
            rows=a["rows"] + b["rows"],
            norms=a["norms"] + b["norms"],
            barrier=np.add.reduce(barriers) if barriers else None,
        )
        others = {name for name in sum_._changed() if name not in ("barrier", "tilt")}
        if barriers and (others or curves):
            raise ValueError("g: a log_barrier goes with a tilt alone")
        if curves and (sum_._parts["budget"] or sum_._parts["rows"] or sum_._parts["norms"]):
            raise ValueError(
                "g: g.own goes with what is a sum over coordinates: tilt, l1, ridge and box"
            )
        return sum_

    def free_tail(self, count: int) -> G:
        """The same with the last `count` coordinates, such as an intercept, left alone."""
        return G(self._curve, **{**self._parts, "free": self._parts["free"] + int(count)})

    def _changed(self) -> list[str]:
        def same(a: Any, b: Any) -> bool:
            return a is b or (a is not None and b is not None and np.array_equal(a, b))

        return [name for name, plain in _PLAIN.items() if not same(self._parts[name], plain)]

    def _said(self) -> str:
        """As the compiled core reads it: infinite numbers are none."""
        return json.dumps({name: _plain(value) for name, value in self._parts.items()})

    def __repr__(self) -> str:
        def show(value: Any) -> str:
            size = np.size(value)
            return f"{np.asarray(value).item()!r}" if size == 1 else f"<{size} numbers>"

        def shown(name: str) -> str:
            value = self._parts[name]
            return f"{len(value)}" if isinstance(value, list) else show(value)

        parts = [f"{name}={shown(name)}" for name in self._changed()]
        if self._curve is not None:
            parts.insert(0, f"own={getattr(self._curve.value, '__name__', 'value')}")
        return f"g({', '.join(parts)})"


def own(
    value: Callable[..., float],
    slope: Callable[..., float],
    *,
    parameters: Any = None,
) -> G:
    """``sum_l value(theta_l)`` of a convex function by its value and its slope.

    Prox and conjugate are found numerically, coordinate by coordinate; numba compiles both
    functions. It adds up with `tilt`, `l1`, `ridge` and `box`.

    Parameters
    ----------
    value, slope
        ``value(x)`` and ``slope(x)``, finite for every x; with `parameters` ``value(x, p)``, where
        p is the number or the row of the coordinate.
    parameters
        A number or a row of numbers for each coordinate.
    """
    from innermean.own.curve import Curve

    return G(Curve(value, slope, parameters, (-math.inf, math.inf)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _each(value: Any, name: str) -> Any:
    """A number, or one for each coordinate."""
    array = _arrays.floats(value, name, finite=False)
    if np.isnan(array).any() or array.ndim > 1:
        raise ValueError(f"{name}: expected a number, or one for each coordinate, none of them NaN")
    return float(array) if array.ndim == 0 else array


def _weight(value: Any, name: str) -> Any:
    """The same, finite and 0 or above."""
    weight = _each(value, name)
    if not np.all((np.asarray(weight) >= 0.0) & np.isfinite(weight)):
        raise ValueError(f"{name}: expected finite numbers, 0 or above")
    return weight


def none() -> G:
    """0"""
    return G()


def l1(weight: Any) -> G:
    """``weight * |theta|_1``; a number, or one for each coordinate."""
    return G(l1=_weight(weight, "weight"))


def ridge(weight: Any) -> G:
    """``weight / 2 * |theta|**2``; a number, or one for each coordinate."""
    return G(l2=_weight(weight, "weight"))


def tilt(slope: Any) -> G:
    """``<slope, theta>``"""
    return G(tilt=_each(slope, "slope"))


def box(lo: Any = -math.inf, hi: Any = math.inf) -> G:
    """``lo <= theta <= hi``; numbers, or one for each coordinate."""
    return G(lo=_each(lo, "lo"), hi=_each(hi, "hi"))


def budget(lo: Any = -math.inf, hi: Any = math.inf) -> G:
    """``lo <= theta <= hi`` and ``sum(theta) == 1``"""
    return G(lo=_each(lo, "lo"), hi=_each(hi, "hi"), budget=True)


def simplex() -> G:
    """``theta >= 0`` and ``sum(theta) == 1``"""
    return budget(lo=0.0)


def linear(A: Any, lo: Any = -math.inf, hi: Any = math.inf) -> G:
    """``lo <= A @ theta <= hi``; an equation where both are equal."""
    rows = np.atleast_2d(_arrays.floats(A, "A"))
    lows, highs = (np.broadcast_to(_each(end, "lo, hi"), len(rows)) for end in (lo, hi))
    parts = [
        {"coefficients": row, "lo": float(low), "hi": float(high)}
        for row, low, high in zip(rows, lows, highs)
    ]
    return G(rows=parts)


def norm(weights: Any, center: Any = None, limit: float = math.inf, price: float = 0.0) -> G:
    """``price * N`` where ``N = sum(weights * |theta - center|) <= limit``: turnover, costs."""
    weights = _arrays.floats(weights, "weights", ndim=1)
    center = np.zeros(len(weights)) if center is None else _arrays.floats(center, "center", ndim=1)
    part = {"weights": weights, "center": center, "limit": float(limit), "price": float(price)}
    return G(norms=[part])


def log_barrier(weights: Any) -> G:
    """``-sum(weights * log(theta))``"""
    return G(barrier=_weight(weights, "weights"))
