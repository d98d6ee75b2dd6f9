"""f by torch: one sample, no derivative written, on any device that torch has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from innermean._arrays import Floats, Integers
from innermean.own.rows import Own, Rows, made, sort

__all__ = ["torch"]

#: Numbers of rows that are gone through at once.
_NUMBERS = 1 << 26


class _Torch(Rows):
    """Rows that lie on the device. What is added up over the rows of a term is so there."""

    def __init__(
        self, f: Any, device: Any, d: int, ell: int, x: Any, y: Any, starts: Integers
    ) -> None:
        import torch as library

        super().__init__(d, ell, starts)
        self._torch, self._device = library, library.device(device)
        self._x, self._y = x, y
        self._lengths = library.from_numpy(self.sizes).to(self._device)
        self._group = library.from_numpy(self.terms).to(self._device)
        one = lambda theta, x, y: f(theta, x, y).reshape(ell)  # noqa: E731
        self._many = library.func.vmap(one, (None, 0, 0))

        def twice(theta: Any, x: Any, y: Any) -> Any:
            found = one(theta, x, y)
            return found, found

        self._both = library.func.vmap(library.func.jacrev(twice, has_aux=True), (None, 0, 0))
        #: The last theta of a pass over all rows, and the pullback there.
        self._at: tuple[bytes, Any] | None = None

    def _there(self, array: Any) -> Any:
        return self._torch.from_numpy(np.array(array)).to(self._device)

    def _of(self, rows: Any) -> tuple[Any, Any]:
        """x and y of a slice of rows, or of some by number."""
        if not isinstance(rows, slice):
            rows = self._there(rows)
        return self._x[self._group[rows]], self._y[rows]

    def _pull(self, theta: Any, rows: Any) -> tuple[Any, Any]:
        x, y = self._of(rows)
        return self._torch.func.vjp(lambda t: self._many(t, x, y), theta)

    def values(self, theta: Floats, rows: Any) -> Floats:
        with self._torch.no_grad():
            return _home(self._many(self._there(theta), *self._of(rows)))

    def vjp(self, theta: Floats, rows: Any, w: Floats) -> Floats:
        return _home(self._pull(self._there(theta), rows)[1](self._there(w))[0])

    def means(self, theta: Floats) -> Floats:
        at = self._there(theta)
        if self._y.numel() <= _NUMBERS:
            values, pull = self._pull(at, self.all)
            self._at = (theta.tobytes(), pull)
        else:
            with self._torch.no_grad():
                found = [self._many(at, *self._of(some)) for some in self._parts()]
            values = self._torch.cat(found)
        return _home(self._means(values, self._lengths)).reshape(-1)

    def weighted(self, theta: Floats, w: Floats) -> Floats:
        shares = w.reshape(-1, self.ell) / (self.sizes * len(self.sizes))[:, None]
        of_rows = self._there(shares)[self._group]
        if self._at is not None and self._at[0] == theta.tobytes():
            return _home(self._at[1](of_rows)[0])
        at, found = self._there(theta), 0.0
        for some in self._parts():
            found = found + self._pull(at, some)[1](of_rows[some])[0]
        return _home(found)

    def _parts(self) -> Iterator[slice]:
        rows = len(self._y)
        each = max(1, _NUMBERS // (self._x.shape[1] + self._y.shape[1]))
        return (slice(first, min(first + each, rows)) for first in range(0, rows, each))

    def _means(self, of_rows: Any, lengths: Any) -> Any:
        # One row after the other: the same bits each time.
        sums = self._torch.segment_reduce(of_rows, "sum", lengths=lengths, axis=0, unsafe=True)
        return sums / lengths.to(sums.dtype)[:, None]

    def values_and_jacobians(
        self, theta: Floats, rows: Any, starts: Integers, sizes: Integers
    ) -> tuple[Floats, Floats]:
        each, values = self._both(self._there(theta), *self._of(rows))
        means = self._means(each.reshape(len(each), -1), self._there(sizes))
        return _home(values), _home(means).reshape(-1, self.ell, self.d)

    def mean_jacobian(self, theta: Floats, rows: Any) -> Floats:
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        whole = np.array([0]), np.array([count])
        return self.values_and_jacobians(theta, rows, *whole)[1][0]

    def jacobians(self, theta: Floats) -> Floats:
        most, first, found = max(1, _NUMBERS // (self.ell * self.d)), 0, []
        while first < len(self.sizes):
            end = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            end = max(end, first + 1)
            rows = slice(int(self.starts[first]), int(self.starts[end]))
            begins = self.starts[first:end] - self.starts[first]
            some = self.values_and_jacobians(theta, rows, begins, self.sizes[first:end])
            found.append(some[1].reshape(-1))
            first = end
        return np.concatenate(found)


def _home(found: Any) -> Floats:
    return found.detach().cpu().numpy()


def torch(
    f: Callable[..., Any],
    *,
    d: int,
    y: Any,
    x: Any = None,
    groups: Any = None,
    ell: int = 1,
    affine: bool = False,
    convex: bool = False,
    device: Any = "cpu",
) -> Own:
    """An f of one sample, written with torch: ``f(theta, x, y)``, which ``torch.func.vmap`` takes.

    torch finds the derivatives, in double precision, where `device` says, such as ``"cuda"``: x and
    y are taken there once, or read where they are if they are tensors there. The other parameters
    are those of :func:`innermean.batched`.
    """
    from innermean.device.tensors import on, placed

    where = placed(device, "innermean.torch")
    y = _table(on(y, "y", where), "y")
    order, starts = sort(_at_home(groups), len(y))
    terms = len(starts) - 1
    x = y.new_zeros((terms, 0)) if x is None else _table(on(x, "x", where), "x", terms)
    if order is not None:
        import torch as library

        y = y[library.from_numpy(order).to(where)]
    return made("torch", _Torch, (f, str(where)), d, ell, x, y, starts, affine, convex)


def _at_home(groups: Any) -> Any:
    return groups.cpu().numpy() if hasattr(groups, "cpu") else groups


def _table(rows: Any, name: str, length: int | None = None) -> Any:
    if rows.ndim not in (1, 2) or len(rows) == 0:
        raise ValueError(f"{name}: expected an array of one axis or two, at least one row")
    if length is not None and len(rows) != length:
        raise ValueError(f"{name}: expected length {length}, got {len(rows)}")
    return rows.reshape(len(rows), -1)
