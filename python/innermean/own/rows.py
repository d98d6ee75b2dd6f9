"""What every f has in common: rows of y in groups, sorted, and answers for stretches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from innermean import _arrays, _innermean
from innermean._arrays import Floats, Integers
from innermean.phi import Phi


class Own:
    """An f, to be given to :class:`innermean.Problem`. Pickles where its parts do."""

    def __init__(self, name: str, core: _innermean.F, remake: tuple[Any, tuple[Any, ...]]) -> None:
        self._name, self._core, self._remake = name, core, remake

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._remake

    def __repr__(self) -> str:
        return self._name

    @property
    def d(self) -> int:
        """The length of theta."""
        return self._core.d

    @property
    def ell(self) -> int:
        """The numbers that f returns."""
        return self._core.ell

    @property
    def terms(self) -> int:
        """The number of outer terms."""
        return self._core.terms

    def _with(self, phi: Phi) -> tuple[_innermean.F, _innermean.Phi]:
        """f and phi as the compiled core has them."""
        return self._core, phi._core()

    def _means(self, core: _innermean.Problem, theta: Floats) -> Floats:
        return core.means(theta)


def sort(groups: Any, count: int, name: str = "groups") -> tuple[Integers | None, Integers]:
    """The order that sorts rows by group (None: they are sorted), and where each group starts.

    Groups are numbered 0, 1, ... and each has at least one row; None puts every row in one of
    its own.
    """
    if groups is None:
        return None, np.arange(count + 1, dtype=np.int64)
    groups = _arrays.integers(groups, name, length=count)
    if groups.min() < 0:
        raise ValueError(f"{name}: expected numbers of groups, 0, 1, 2, ...")
    sizes = np.bincount(groups)
    if (sizes == 0).any():
        empty = int(np.flatnonzero(sizes == 0)[0])
        raise ValueError(f"{name}: group {empty} has no rows; expected numbers without gaps")
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    order = None if (np.diff(groups) >= 0).all() else np.argsort(groups, kind="stable")
    return order, starts


def table(value: Any, name: str, length: int | None = None) -> Floats:
    """Rows of numbers; one number each is a column."""
    rows = _arrays.floats(value, name, length=length)
    if rows.ndim not in (1, 2) or len(rows) == 0:
        raise ValueError(f"{name}: expected an array of one axis or two, at least one row")
    return rows.reshape(len(rows), -1)


def data(x: Any, y: Any, groups: Any) -> tuple[Floats, Floats, Integers]:
    """x with a row for each group, y sorted by group, and where each group starts."""
    y = table(y, "y")
    order, starts = sort(groups, len(y))
    terms = len(starts) - 1
    x = np.zeros((terms, 0)) if x is None else table(x, "x", terms)
    return x, np.ascontiguousarray(y if order is None else y[order]), starts


class Rows:
    """Answers the compiled core by two functions of many rows.

    ``values(theta, rows)`` gives f for these rows, (n, ell); ``vjp(theta, rows, w)`` gives
    ``sum_r f'(r) w_r``, (d,). Rows are a slice, or an array of numbers.
    """

    def __init__(self, d: int, ell: int, starts: Integers) -> None:
        self.d, self.ell, self.starts = d, ell, starts
        self.sizes = np.diff(starts)
        self.terms = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.all = slice(0, int(starts[-1]))
        #: The last sample of terms and its answer: methods ask for one several times.
        self._last: tuple[Any, tuple[Floats, Floats]] | None = None

    def values(self, theta: Floats, rows: Any) -> Floats:
        raise NotImplementedError

    def vjp(self, theta: Floats, rows: Any, w: Floats) -> Floats:
        raise NotImplementedError

    def block_mean(self, theta: Floats, first: int, end: int) -> Floats:
        return self.values(theta, slice(first, end)).mean(axis=0)

    def block_vjp(self, theta: Floats, first: int, end: int, w: Floats) -> Floats:
        n = end - first
        return self.vjp(theta, slice(first, end), np.broadcast_to(w / n, (n, self.ell)))

    def means(self, theta: Floats) -> Floats:
        sums = _sums(self.values(theta, self.all), self.starts[:-1])
        return (sums / self.sizes[:, None]).reshape(-1)

    def weighted(self, theta: Floats, w: Floats) -> Floats:
        shares = w.reshape(-1, self.ell) / (self.sizes * len(self.sizes))[:, None]
        return self.vjp(theta, self.all, np.repeat(shares, self.sizes, axis=0))

    def means_of(
        self, theta: Floats, stretches: Integers, jacobians: bool
    ) -> tuple[Floats, Floats]:
        asked = (theta.tobytes(), stretches.tobytes(), jacobians)
        last = self._last
        if last is not None and last[0] == asked:
            return last[1]
        cuts = stretches.reshape(-1, 3)
        lengths = cuts[:, 2] - cuts[:, 1]
        before = np.cumsum(lengths) - lengths
        rows = np.repeat(cuts[:, 1] - before, lengths) + np.arange(lengths.sum())
        term = np.repeat(cuts[:, 0], lengths)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(term)) + 1])
        sizes = np.diff(np.concatenate([starts, [len(rows)]]))
        if jacobians:
            values, found = self.values_and_jacobians(theta, rows, starts, sizes)
        else:
            values, found = self.values(theta, rows), np.zeros(0)
        means = _sums(values, starts) / sizes[:, None]
        answer = (means.reshape(-1), found.reshape(-1))
        self._last = (asked, answer)
        return answer

    def values_and_jacobians(
        self, theta: Floats, rows: Integers, starts: Integers, sizes: Integers
    ) -> tuple[Floats, Floats]:
        """f for each row, and :meth:`jacobians_of`."""
        return self.values(theta, rows), self.jacobians_of(theta, rows, starts, sizes)

    def jacobians_of(
        self, theta: Floats, rows: Integers, starts: Integers, sizes: Integers
    ) -> Floats:
        """The mean of f' over each of some stretches of `rows`, (stretches, ell, d)."""
        found = np.empty((len(starts), self.ell, self.d))
        for k, (first, end) in enumerate(zip(starts, starts + sizes)):
            found[k] = self.mean_jacobian(theta, rows[first:end])
        return found

    def mean_jacobian(self, theta: Floats, rows: Any) -> Floats:
        """The mean of f' over rows, (ell, d)."""
        n = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        found = np.empty((self.ell, self.d))
        for c in range(self.ell):
            w = np.zeros((n, self.ell))
            w[:, c] = 1.0 / n
            found[c] = self.vjp(theta, rows, w)
        return found

    def jacobians(self, theta: Floats) -> Floats:
        cuts = zip(self.starts[:-1], self.starts[1:])
        found = [self.mean_jacobian(theta, slice(int(a), int(b))) for a, b in cuts]
        return np.concatenate(found).reshape(-1)


def _sums(values: Floats, starts: Integers) -> Floats:
    """The sums of stretches of rows, whose columns are few."""
    columns = [np.add.reduceat(np.ascontiguousarray(column), starts) for column in values.T]
    return np.stack(columns, axis=1)


def checked(found: Any, shape: tuple[int, ...], name: str) -> Floats:
    """What a function of the user returned, as an array of this shape."""
    array = np.ascontiguousarray(found, dtype=np.float64)
    if array.shape == shape:
        return array
    if array.size != int(np.prod(shape)):
        raise ValueError(f"{name}: expected an array of shape {shape}, got {array.shape}")
    return array.reshape(shape)


def made(
    name: str,
    kind: Any,
    functions: tuple[Any, ...],
    d: int,
    ell: int,
    x: Floats,
    y: Floats,
    starts: Integers,
    affine: bool,
    convex: bool,
) -> Own:
    """The f that ``kind(*functions, ...)``, a :class:`Rows`, answers for."""
    rows = kind(*functions, d, ell, x, y, starts)
    core = _innermean.F.batched(rows, d, ell, starts, affine, convex)
    remake = (made, (name, kind, functions, d, ell, x, y, starts, affine, convex))
    return Own(name, core, remake)
