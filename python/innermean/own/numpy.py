"""f in batches of numpy."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from innermean._arrays import Floats, Integers
from innermean.own.rows import Own, Rows, checked, data, made

__all__ = ["batched"]


class _Batched(Rows):
    def __init__(
        self, f: Any, vjp: Any, d: int, ell: int, x: Floats, y: Floats, starts: Integers
    ) -> None:
        super().__init__(d, ell, starts)
        self.f, self.derivative, self.x, self.y = f, vjp, x, y
        # A row of x for each row of y, unless that is large beside y itself.
        is_small = 4 * x.shape[1] <= y.shape[1] or len(x) == len(y)
        self._x = None if not is_small else x if len(x) == len(y) else x[self.terms]

    def _of(self, rows: Any) -> tuple[Floats, Floats]:
        x = self.x[self.terms[rows]] if self._x is None else self._x[rows]
        return x, self.y[rows]

    def values(self, theta: Floats, rows: Any) -> Floats:
        x, y = self._of(rows)
        return checked(self.f(theta, x, y), (len(y), self.ell), "f_rows")

    def vjp(self, theta: Floats, rows: Any, w: Floats) -> Floats:
        x, y = self._of(rows)
        w = w[:, 0] if self.ell == 1 else w
        return checked(self.derivative(theta, x, y, w), (self.d,), "vjp_rows")


def batched(
    f_rows: Callable[..., Any],
    vjp_rows: Callable[..., Any],
    *,
    d: int,
    y: Any,
    x: Any = None,
    groups: Any = None,
    ell: int = 1,
    affine: bool = False,
    convex: bool = False,
) -> Own:
    """An f written with numpy, for many rows at once.

    Parameters
    ----------
    f_rows
        ``f_rows(theta, x, y)``: f for each row of `y`; `x` has the row of its group for each.
        Returns (n,) or, with `ell`, (n, ell).
    vjp_rows
        ``vjp_rows(theta, x, y, w)``: the sum over rows of ``w[r] * df(r)/dtheta``, (d,).
    d
        The length of theta.
    y
        A row for each inner sample.
    x
        A row for each group, if f has some.
    groups
        The group of each row of `y`: 0, 1, ...; each row is one of its own by default.
    ell
        The numbers that f returns for a row.
    affine, convex
        Whether f is affine in theta, or every ``phi(mean f)`` convex. A wrong claim makes
        certificates wrong; :meth:`Problem.check` looks at it.

    Examples
    --------
    >>> import numpy as np
    >>> from innermean import batched, minimize, phi, g
    >>> y = np.array([[0.0], [2.0], [3.0]])
    >>> f = batched(lambda t, x, y: y @ t - 1, lambda t, x, y, w: w @ y, d=1, y=y, affine=True)
    >>> minimize(f, phi.square(), g.ridge(0.0)).theta.round(3)
    array([0.385])
    """
    x, y, starts = data(x, y, groups)
    return made("batched", _Batched, (f_rows, vjp_rows), d, ell, x, y, starts, affine, convex)
