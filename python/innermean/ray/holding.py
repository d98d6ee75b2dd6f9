"""What a worker does: holds leaves, and makes passes over them."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from innermean import _innermean
from innermean._arrays import Floats
from innermean.ray.folder import Folder, LeafLost

__all__ = ["Holder", "Shard"]


class Shard:
    """A leaf of your own: derive from it, and give the class to :func:`innermean.ray.solve`.

    Parameters
    ----------
    rows
        The rows of the leaf, float64 and not to be written to.
    labels
        The labels of its rows.
    """

    def __init__(self, rows: Floats, labels: Floats) -> None:
        self.rows, self.labels = rows, labels

    def gradient(self, theta: Floats) -> tuple[float, Floats]:
        """The sum of the losses of the rows, and that of their gradients."""
        raise NotImplementedError

    #: If there is a method ``hessian(theta)``, the sum of second derivatives, d rows of d numbers,
    #: Newton's method can be had.
    hessian: Any = None


class Holder:
    """Holds leaves, which it loads when they are asked for."""

    def __init__(self, folder: Folder, spec: dict[str, Any]) -> None:
        self._folder, self._spec = folder, spec
        self._held: dict[int, Any] = {}
        self._sets: list[tuple[list[int], Any]] = []

    def pass_(self, leaves: list[int], theta: Floats, want: str) -> list[Floats]:
        """Partial sums over these leaves, as numbers that travel."""
        if self._spec["kind"] == "own":
            return [self._own(number, theta, want) for number in leaves]
        missing = sorted(set(leaves) - {k for known, _ in self._sets for k in known})
        if missing:
            self._sets.append((missing, self._load(missing)))
        wanted = set(leaves)
        for k, (known, _) in enumerate(self._sets):
            if not wanted.issuperset(known):  # some have moved to other workers
                own = sorted(wanted & set(known))
                self._sets[k] = (own, self._load(own) if own else None)
        return [held.pass_(theta, want) for known, held in self._sets if known]

    def _load(self, numbers: list[int]) -> Any:
        spec, loaded = self._spec, []
        for number in numbers:
            rows, beside = self._folder.load(number)
            if spec["kind"] == "groups":
                labels = spec["labels"][beside[:, 0].astype(np.int64)]
                beside = np.column_stack([beside[:, :2], labels, beside[:, 2]]).reshape(-1)
            elif spec["intercept"]:
                rows = np.column_stack([rows, np.ones(len(rows))])
            loaded.append((number, rows, np.ascontiguousarray(beside)))
        width, loss = len(self._folder.columns), json.dumps(spec["loss"])
        try:
            if spec["kind"] == "groups":
                shape = (width, spec["intercept"])
                link = json.dumps(spec["link"])
                return _innermean.Leaves.groups(loaded, shape, link, loss)
            return _innermean.Leaves.linear(loaded, width + spec["intercept"], loss)
        except ValueError as error:
            raise LeafLost(f"one of leaves {numbers[0]} to {numbers[-1]}", str(error)) from error

    def _own(self, number: int, theta: Floats, want: str) -> Floats:
        if number not in self._held:
            self._held[number] = self._spec["shard"](*self._folder.load(number))
        leaf, rows, d = self._held[number], self._folder.leaves[number]["rows"], self._spec["d"]
        if want == "survey":
            sums = np.concatenate([[rows, rows, 0.0], np.zeros(d)])
        elif want == "gradient":
            loss, gradient = leaf.gradient(theta)
            gradient = _of_shape(gradient, (d,), "gradient")
            sums = np.concatenate([[float(loss), float(rows)], gradient])
        else:
            matrix = _of_shape(leaf.hessian(theta), (d, d), "hessian")
            sums = matrix[np.tril_indices(d)]
        return np.concatenate([[number, 1.0, len(sums), 0.0], sums])


def _of_shape(found: Any, shape: tuple[int, ...], name: str) -> Floats:
    found = np.asarray(found, dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {found.shape}")
    return found


def process() -> int:
    """That of the worker."""
    return os.getpid()
