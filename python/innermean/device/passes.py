"""Passes over rows on a device: what :class:`innermean.ray.Workers` does with many, by torch.

The seam is that of data in leaves: a pass returns the sums of the loss, its gradient and its second
derivatives over all terms, and the compiled core makes F of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from innermean import _innermean
from innermean._arrays import Floats, Integers
from innermean.device.losses import Loss, of
from innermean.device.tensors import Tensor, on
from innermean.own.rows import Own
from innermean.phi import Phi

__all__ = ["Groups", "Linear", "OnDevice"]

#: Rows whose products are added up together; blocks of them keep all of a device busy.
_BLOCK = 1 << 12
#: Numbers that a pass makes anew at most, where it needs rows again: half a gigabyte.
_NUMBERS = 1 << 26
#: The roundings that the core allows for within a leaf; a leaf more allows for two.
_LEAF = 1 << 15


class Linear:
    """``f_i = <x_i, theta> + offset_i``"""

    affine = True

    def __init__(self, rows: Tensor, offsets: Tensor) -> None:
        self.rows, self.offsets = rows, offsets
        self.terms, self.d = rows.shape

    def means(self, theta: Tensor) -> Tensor:
        """f of each term."""
        return self.rows @ theta + self.offsets

    def gradient(self, theta: Tensor, loss: Loss) -> tuple[Tensor, Tensor, Tensor]:
        """The values and slopes of phi for each term, and the sum of gradients."""
        value, slope, _ = loss(self.means(theta))
        return value, slope, _product(slope, self.rows)

    def hessian(self, theta: Tensor, loss: Loss) -> Tensor:
        """The sum of second derivatives."""
        second = loss(self.means(theta))[2]
        found = self.rows.new_zeros((self.d, self.d))
        for some in _slices(self.terms, self.d):
            rows = self.rows[some]
            found += (rows * second[some, None]).T @ rows
        return found

    def squares(self) -> tuple[Tensor, Tensor]:
        """The sums of squares of offsets and of each column."""
        columns = self.rows.new_zeros(self.d)
        for some in _slices(self.terms, self.d):
            columns += (self.rows[some] ** 2).sum(dim=0)
        return (self.offsets**2).sum(), columns


class Groups:
    """``f_i = mean of link(<y, theta> + intercept) - target_i`` over the rows y of group i."""

    def __init__(
        self, rows: Tensor, starts: Integers, link: str, intercept: bool, targets: Tensor
    ) -> None:
        import torch

        self._torch = torch
        self.rows, self.link, self.intercept, self.targets = rows, link, intercept, targets
        self.starts, self.affine = starts, link == "identity"
        self.terms, self.width = len(starts) - 1, rows.shape[1]
        self.d = self.width + intercept
        lengths = torch.from_numpy(np.diff(starts))
        self.lengths = lengths.to(rows.device)
        self.sizes = self.lengths.to(rows.dtype)
        number = torch.arange(self.terms, dtype=torch.int32, device=rows.device)
        #: The group of each row.
        self.group = torch.repeat_interleave(number, self.lengths, output_size=len(rows))

    def _links(self, theta: Tensor) -> Tensor:
        score = self.rows @ theta[: self.width]
        if self.intercept:
            score += theta[self.width]
        if self.link == "logistic":
            return self._torch.sigmoid(score)
        return self._torch.exp(score) if self.link == "exp" else score

    def _slopes(self, links: Tensor) -> Tensor:
        if self.link == "logistic":
            return links * (1.0 - links)
        return links if self.link == "exp" else self._torch.ones_like(links)

    def _mean(self, links: Tensor) -> Tensor:
        return self._sums(links, self.lengths) / self.sizes - self.targets

    def _sums(self, of_rows: Tensor, lengths: Tensor) -> Tensor:
        # One after the other within a group: the same bits each time.
        return self._torch.segment_reduce(of_rows, "sum", lengths=lengths, axis=0, unsafe=True)

    def means(self, theta: Tensor) -> Tensor:
        """f of each term."""
        return self._mean(self._links(theta))

    def gradient(self, theta: Tensor, loss: Loss) -> tuple[Tensor, Tensor, Tensor]:
        """As :meth:`Linear.gradient`."""
        links = self._links(theta)
        value, slope, _ = loss(self._mean(links))
        shares = (slope / self.sizes).index_select(0, self.group) * self._slopes(links)
        found = _product(shares, self.rows)
        if self.intercept:
            found = self._torch.cat([found, shares.sum().reshape(1)])
        return value, slope, found

    def hessian(self, theta: Tensor, loss: Loss) -> Tensor:
        """The sum over groups of phi'' times the square of the mean gradient: Gauss-Newton's."""
        links = self._links(theta)
        second = loss(self._mean(links))[2]
        slopes = self._slopes(links)
        found = self.rows.new_zeros((self.d, self.d))
        for first, end in self._stretches():
            some = slice(int(self.starts[first]), int(self.starts[end]))
            if end == first + 1:
                sums = _product(slopes[some], self.rows[some])[None]
            else:
                products = slopes[some, None] * self.rows[some]
                sums = self._sums(products, self.lengths[first:end])
            if self.intercept:
                of_one = self._sums(slopes[some], self.lengths[first:end])
                sums = self._torch.cat([sums, of_one[:, None]], dim=1)
            sums /= self.sizes[first:end, None]
            found += (sums * second[first:end, None]).T @ sums
        return found

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Groups whose rows together are few enough, or one group."""
        most, first = max(1, _NUMBERS // self.width), 0
        while first < self.terms:
            end = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            end = max(end, first + 1)
            yield first, end
            first = end

    def squares(self) -> tuple[Tensor, Tensor]:
        """As :meth:`Linear.squares`, of the means of groups: at most these."""
        columns = self.rows.new_zeros(self.width)
        shares = (1.0 / self.sizes).index_select(0, self.group)
        for some in _slices(len(self.rows), self.width):
            columns += shares[some] @ self.rows[some] ** 2
        if self.intercept:
            columns = self._torch.cat([columns, columns.new_tensor([float(self.terms)])])
        return (self.targets**2).sum(), columns


def _product(weights: Tensor, rows: Tensor) -> Tensor:
    """``sum_r weights_r rows_r``, in blocks, of which a device takes many at once."""
    whole = len(rows) // _BLOCK * _BLOCK
    found = weights[whole:] @ rows[whole:]
    if whole:
        blocks = rows[:whole].view(-1, _BLOCK, rows.shape[1])
        found = found + (weights[:whole].view(-1, 1, _BLOCK) @ blocks).sum(dim=(0, 1))
    return found


def _slices(count: int, width: int) -> Iterator[slice]:
    each = max(1, _NUMBERS // width)
    return (slice(first, min(first + each, count)) for first in range(0, count, each))


class _Passes:
    """What the compiled core asks."""

    def __init__(self, data: Linear | Groups, loss: Loss) -> None:
        self.data, self.loss = data, loss
        rows = len(data.rows)
        # Whatever the order of a sum, a number passes through no more roundings than there are.
        self.leaves = 1 + max(0, rows - _LEAF + 1) // 2

    def pass_(self, theta: Floats, want: str) -> list[Floats]:
        data = self.data
        if want == "survey":
            offset, columns = data.squares() if data.affine else (0.0, np.zeros(data.d))
            head = [float(data.terms), float(len(data.rows)), float(offset)]
            sums = np.concatenate([head, np.asarray(_home(columns))])
        else:
            at = on(theta, "theta", data.rows.device)
            if want == "gradient":
                value, slope, gradient = data.gradient(at, self.loss)
                sums = np.concatenate(
                    [[float(value.sum()), float(slope @ slope)], _home(gradient)]
                )
            else:
                sums = _home(data.hessian(at, self.loss))[np.tril_indices(data.d)]
        return [np.concatenate([[0.0, self.leaves, len(sums), 0.0], sums])]


def _home(found: Any) -> Floats:
    return found if isinstance(found, np.ndarray) else found.cpu().numpy()


class OnDevice(Own):
    """An f whose rows lie on a device, where its phi is to be, too."""

    def __init__(self, name: str, data: Linear | Groups, remake: tuple[Any, Any]) -> None:
        self._name, self._data, self._remake = name, data, remake

    @property
    def d(self) -> int:
        return self._data.d

    @property
    def ell(self) -> int:
        return 1

    @property
    def terms(self) -> int:
        return self._data.terms

    def _with(self, phi: Phi) -> tuple[_innermean.F, _innermean.Phi]:
        data = self._data
        passes = _Passes(data, of(phi, data.rows.device))
        shape = {
            "d": data.d,
            "leaves": passes.leaves,
            "loss": "own",
            "affine": data.affine,
            "convex": data.affine,
            "knows_seconds": True,
        }
        core = _innermean.F.leaves(passes, json.dumps(shape))
        return core, core.whole(phi._core())

    def _means(self, core: _innermean.Problem, theta: Floats) -> Floats:
        return _home(self._data.means(on(theta, "theta", self._data.rows.device)))
