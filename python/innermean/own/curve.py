"""phi and g of one's own: a value and a slope of one number, compiled by numba."""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable

import numpy as np

from innermean import _arrays, _innermean

#: Compiled functions by value, slope and the numbers of parameters, which they outlive.
_COMPILED: dict[Any, tuple[Any, Any]] = {}

#: Where a slope is compared with differences of values, as far as the domain goes.
_POINTS = (-30.0, -3.0, -1.0, -0.3, -0.01, 0.01, 0.2, 0.7, 1.5, 4.0, 20.0)


class Curve:
    """Convex functions of one number by value and slope. Pickles where both functions do."""

    def __init__(
        self,
        value: Callable[..., float],
        slope: Callable[..., float],
        parameters: Any,
        domain: tuple[float, float],
    ) -> None:
        self.value, self.slope = value, slope
        lo, hi = (float(end) for end in domain)
        if not lo < hi:
            raise ValueError(
                f"domain: expected two numbers, the first below the second, got {domain}"
            )
        self.domain = lo, hi
        self.parameters = None if parameters is None else _parameters(parameters)
        self._check()

    @property
    def core(self) -> _innermean.Curve:
        """As the compiled core has it."""
        rows = np.zeros((1, 0)) if self.parameters is None else self.parameters
        width = 0 if self.parameters is None else rows.reshape(len(rows), -1).shape[1]
        of_one = rows.ndim == 1
        key = (self.value, self.slope, of_one, width)
        if key not in _COMPILED:
            _COMPILED[key] = tuple(
                _compile(function, name, of_one, width)
                for name, function in (("value", self.value), ("slope", self.slope))
            )
        value, slope = _COMPILED[key]
        return _innermean.Curve(value.address, slope.address, rows, width)

    def _check(self) -> None:
        """Refuses a slope that is no derivative, or one that falls."""
        core, (lo, hi) = self.core, self.domain
        points = [t for t in _around(lo, hi) if lo < t < hi]
        rows = 0 if self.parameters is None else len(self.parameters)
        for i in sorted({0, rows // 2, max(rows - 1, 0)}):
            of = "" if self.parameters is None else f" of row {i} of parameters"
            before: tuple[float, float] | None = None
            for t in points:
                at, slope = core.at(i, t)
                if not (math.isfinite(at) and math.isfinite(slope)):
                    raise ValueError(
                        f"value{of} is {at} and slope {slope} at {t:g}: expected finite numbers in "
                        "the domain; domain=(lo, hi) says where that is"
                    )
                if before is not None and slope < before[1] - 1e-9 * abs(before[1]) - 1e-12:
                    raise ValueError(
                        f"slope{of} falls from {before[1]:g} at {before[0]:g} to {slope:g} at "
                        f"{t:g}: expected a convex function"
                    )
                before = (t, slope)
                h = 1e-5 * max(abs(t), 1e-2)
                ends = [core.at(i, t - h), core.at(i, t + h)]
                if not all(math.isfinite(number) for end in ends for number in end):
                    continue
                difference = (ends[1][0] - ends[0][0]) / (2 * h)
                # Between the slopes at both ends, rounding aside.
                slack = 1e-4 * abs(slope) + 1e-9 * (1.0 + abs(at)) / h * 1e-4
                if not ends[0][1] - slack <= difference <= ends[1][1] + slack:
                    raise ValueError(
                        f"slope{of} is {slope:g} at {t:g}, where differences of value give "
                        f"{difference:g}: expected its derivative"
                    )


def _around(lo: float, hi: float) -> list[float]:
    """Points within the domain, in order."""
    if math.isfinite(lo) and math.isfinite(hi):
        return [lo + (hi - lo) * k / 12 for k in range(1, 12)]
    if math.isfinite(lo):
        return [lo + t for t in _POINTS if t > 0]
    if math.isfinite(hi):
        return [hi + t for t in _POINTS if t < 0]
    return list(_POINTS)


def _parameters(given: Any) -> _arrays.Floats:
    rows = _arrays.floats(given, "parameters")
    if rows.ndim not in (1, 2) or 0 in rows.shape:
        raise ValueError(
            "parameters: expected a number for each, or a row for each; "
            f"got an array of shape {rows.shape}"
        )
    return rows


def _compile(function: Callable[..., float], name: str, of_one: bool, width: int) -> Any:
    try:
        import numba
        from numba import types
    except ImportError as error:
        raise ImportError(f"{name}: needs numba, which compiles it; pip install numba") from error

    wanted = 1 if width == 0 else 2
    given = len(inspect.signature(getattr(function, "py_func", function)).parameters)
    if given != wanted:
        how = f"{name}(t)" if width == 0 else f"{name}(t, parameters)"
        raise ValueError(f"{name}: expected a function {how}, got one of {given} arguments")
    compiled = numba.njit(error_model="numpy")
    known = hasattr(function, "py_func") or inspect.isbuiltin(function)
    inner = function if known else compiled(function)
    carray = numba.carray
    if width == 0:

        def one(p, t):  # type: ignore[no-untyped-def]
            return inner(t)

    elif of_one:

        def one(p, t):  # type: ignore[no-untyped-def]
            return inner(t, p[0])

    else:

        def one(p, t):  # type: ignore[no-untyped-def]
            return inner(t, carray(p, width))

    number = types.float64
    return numba.cfunc(number(types.CPointer(number), number), error_model="numpy")(one)
