"""f by JAX: one sample, no derivative written."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from innermean._arrays import Floats, Integers
from innermean.own.rows import Own, Rows, data, made

__all__ = ["jax"]


class Padded(Rows):
    """Rows in slices whose lengths are powers of two: a compiler sees few lengths."""

    def __init__(self, d: int, ell: int, x: Floats, y: Floats, starts: Integers) -> None:
        super().__init__(d, ell, starts)
        self.x, self.y = x, y

    def padded(self, rows: Any) -> tuple[Floats, Floats, int]:
        y, x = self.y[rows], self.x[self.terms[rows]]
        n = len(y)
        more = (1 << max(n - 1, 0).bit_length()) - n
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
        self._jacobians = library.jit(library.vmap(library.jacrev(one), (None, 0, 0)))
        self._array = jnp.asarray
        #: All rows as arrays of JAX, which a pass needs neither copied nor padded.
        self._whole: Any = None
        #: The last theta of a pass over all rows, and the pullback there.
        self._at: tuple[bytes, Any] | None = None

    def _all(self) -> Any:
        if self._whole is None:
            self._whole = self._array(self.x[self.terms]), self._array(self.y)
        return self._whole

    def values(self, theta: Floats, rows: Any) -> Floats:
        if rows is self.all:
            with self._x64(True):
                found, pull = self._pull(theta, *self._all())
            self._at = (theta.tobytes(), pull)
            return np.asarray(found)
        x, y, n = self.padded(rows)
        with self._x64(True):
            return np.asarray(self._values(theta, x, y))[:n]

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

    def jacobians_of(
        self, theta: Floats, rows: Integers, starts: Integers, sizes: Integers
    ) -> Floats:
        x, y, n = self.padded(rows)
        with self._x64(True):
            each = np.asarray(self._jacobians(theta, x, y))[:n]
        sums = np.add.reduceat(each.reshape(n, -1), starts, axis=0)
        return (sums / sizes[:, None]).reshape(-1, self.ell, self.d)


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
