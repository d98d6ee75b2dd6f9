"""f by JAX: one sample, no derivative written."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from innermean._arrays import Floats, Integers
from innermean.own.rows import Own, Rows, data, made

__all__ = ["jax"]


class Padded(Rows):
    """Rows in slices of few lengths, as a compiler is to see few."""

    def __init__(self, d: int, ell: int, x: Floats, y: Floats, starts: Integers) -> None:
        super().__init__(d, ell, starts)
        self.x, self.y = x, y

    def padded(self, rows: Any) -> tuple[Floats, Floats, int]:
        y, x = self.y[rows], self.x[self.terms[rows]]
        n = len(y)
        more = _length(n) - n
        if more:
            # Copies of the last row, which count nothing.
            y = np.concatenate([y, np.repeat(y[-1:], more, axis=0)])
            x = np.concatenate([x, np.repeat(x[-1:], more, axis=0)])
        return x, y, n

    def weights(self, w: Floats, n: int) -> Floats:
        padded = np.zeros((n, self.ell))
        padded[: len(w)] = w
        return padded


class _Jax(Padded):
    def __init__(self, f: Any, d: int, ell: int, x: Floats, y: Floats, starts: Integers) -> None:
        import jax as library
        import jax.numpy as jnp

        super().__init__(d, ell, x, y, starts)
        one = lambda theta, x, y: jnp.reshape(f(theta, x, y), (ell,))  # noqa: E731
        many = library.vmap(one, (None, 0, 0))
        self._x64 = library.enable_x64
        self._values = library.jit(many)
        self._vjp = library.jit(
            lambda theta, x, y, w: library.vjp(lambda t: many(t, x, y), theta)[1](w)[0]
        )
        self._pull = library.jit(lambda theta, x, y: library.vjp(lambda t: many(t, x, y), theta))
        self._apply = library.jit(lambda pull, w: pull(w)[0])
        self._sizes = library.eval_shape
        self._leaves = library.tree_util.tree_leaves

        def twice(theta: Any, x: Any, y: Any) -> Any:
            found = one(theta, x, y)
            return found, found

        both = library.vmap(library.jacrev(twice, has_aux=True), (None, 0, 0))
        self._values_at = library.jit(lambda theta, rows, x, y: many(theta, x[rows], y[rows]))
        self._both_at = library.jit(lambda theta, rows, x, y: both(theta, x[rows], y[rows]))
        self._array = jnp.asarray
        #: All rows as arrays of JAX, which a pass needs neither copied nor padded.
        self._whole: Any = None
        #: Whether the pullback of a pass is worth keeping: it holds less than half of the rows.
        self._keeps: bool | None = None
        #: The last theta of a pass over all rows, and the pullback there.
        self._at: tuple[bytes, Any] | None = None

    def _all(self) -> Any:
        if self._whole is None:
            self._whole = self._array(self.x[self.terms]), self._array(self.y)
        return self._whole

    def values(self, theta: Floats, rows: Any) -> Floats:
        if rows is self.all:
            with self._x64(True):
                if self._keeps is None:
                    _, pull = self._sizes(self._pull, theta, *self._all())
                    held = sum(leaf.size for leaf in self._leaves(pull))
                    self._keeps = 2 * held < self.y.size
                if not self._keeps:
                    return np.asarray(self._values(theta, *self._all()))
                found, pull = self._pull(theta, *self._all())
            self._at = (theta.tobytes(), pull)
            return np.asarray(found)
        if not isinstance(rows, slice):
            with self._x64(True):
                found = self._values_at(theta, self._longer(rows), *self._all())
            return np.asarray(found)[: len(rows)]
        x, y, n = self.padded(rows)
        with self._x64(True):
            return np.asarray(self._values(theta, x, y))[:n]

    def _longer(self, rows: Integers) -> Integers:
        """These rows, and the last one again up to one of few lengths."""
        return np.concatenate([rows, np.repeat(rows[-1:], _length(len(rows)) - len(rows))])

    def vjp(self, theta: Floats, rows: Any, w: Floats) -> Floats:
        if rows is self.all:
            at = self._at
            with self._x64(True):
                if at is not None and at[0] == theta.tobytes():
                    return np.array(self._apply(at[1], w))
                return np.array(self._vjp(theta, *self._all(), w))
        x, y, _ = self.padded(rows)
        with self._x64(True):
            return np.array(self._vjp(theta, x, y, self.weights(w, len(y))))

    def values_and_jacobians(
        self, theta: Floats, rows: Integers, starts: Integers, sizes: Integers
    ) -> tuple[Floats, Floats]:
        n = len(rows)
        with self._x64(True):
            each, values = self._both_at(theta, self._longer(rows), *self._all())
        each, values = np.asarray(each)[:n], np.asarray(values)[:n]
        sums = np.add.reduceat(each.reshape(n, -1), starts, axis=0)
        return values, (sums / sizes[:, None]).reshape(-1, self.ell, self.d)

    def mean_jacobian(self, theta: Floats, rows: Any) -> Floats:
        count = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        whole = np.array([0]), np.array([len(count)])
        return self.values_and_jacobians(theta, count, *whole)[1][0]


def _length(n: int) -> int:
    """n or a little more, of which there are few: a compiler sees each length once."""
    bits = max(n - 1, 0).bit_length()
    grain = 1 << max(bits - 4, 0) if bits > 10 else 1 << bits
    return -(-n // grain) * grain


def jax(
    f: Callable[..., Any],
    *,
    d: int,
    y: Any,
    x: Any = None,
    groups: Any = None,
    ell: int = 1,
    affine: bool = False,
    convex: bool = False,
) -> Own:
    """An f of one sample, written with ``jax.numpy``: ``f(theta, x, y)``.

    JAX finds the derivatives, in double precision. The other parameters are those of
    :func:`innermean.batched`.
    """
    x, y, starts = data(x, y, groups)
    return made("jax", _Jax, (f,), d, ell, x, y, starts, affine, convex)
