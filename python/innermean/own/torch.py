"""f by torch: one sample, no derivative written."""

from __future__ import annotations

from typing import Any, Callable

from innermean._arrays import Floats, Integers
from innermean.own.jax import Padded
from innermean.own.rows import Own, data, made

__all__ = ["torch"]


class _Torch(Padded):
    def __init__(self, f: Any, d: int, ell: int, x: Floats, y: Floats, starts: Integers) -> None:
        import torch as library

        super().__init__(d, ell, x, y, starts)
        self._torch = library
        one = lambda theta, x, y: f(theta, x, y).reshape(ell)  # noqa: E731
        self._many = library.func.vmap(one, (None, 0, 0))

    def _tensors(self, *arrays: Floats) -> list[Any]:
        return [self._torch.from_numpy(array.copy()) for array in arrays]

    def values(self, theta: Floats, rows: Any) -> Floats:
        x, y, n = self.padded(rows)
        with self._torch.no_grad():
            return self._many(*self._tensors(theta, x, y))[:n].numpy()

    def vjp(self, theta: Floats, rows: Any, w: Floats) -> Floats:
        x, y, _ = self.padded(rows)
        theta_, x_, y_, w_ = self._tensors(theta, x, y, self.weights(w, len(y)))
        _, pull = self._torch.func.vjp(lambda t: self._many(t, x_, y_), theta_)
        return pull(w_)[0].detach().numpy()


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
) -> Own:
    """An f of one sample, written with torch: ``f(theta, x, y)``, which ``torch.func.vmap`` takes.

    torch finds the derivatives, in double precision. The other parameters are those of
    :func:`innermean.batched`.
    """
    x, y, starts = data(x, y, groups)
    return made("torch", _Torch, (f,), d, ell, x, y, starts, affine, convex)
