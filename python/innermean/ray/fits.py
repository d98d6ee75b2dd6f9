"""Fits to rows in leaves."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Callable

from innermean import _arrays, _innermean
from innermean import g as _g
from innermean import progress as _progress
from innermean.problem import _solver
from innermean.ray.folder import Folder, labels_of
from innermean.ray.holding import Shard
from innermean.ray.workers import Workers
from innermean.result import Result

__all__ = ["Fit", "bags", "linear", "solve"]

_LOSSES = ("square", "huber", "logistic", "squared-hinge", "smoothed-hinge")
_WITH_WIDTH = ("huber", "smoothed-hinge")
_OF_LINK = {"logistic": "bernoulli", "identity": "square", "exp": "poisson"}


@dataclass(repr=False, eq=False)
class Fit(Result):
    """A :class:`innermean.Result` with what it took.

    Attributes
    ----------
    passes
        Passes over the data.
    workers
        Workers that held leaves.
    restarts
        How often one had to be started again.
    columns
        The names of the features; an intercept is the last coordinate of theta.
    """

    passes: int = 0
    workers: int = 0
    restarts: int = 0
    columns: list[str] = field(default_factory=list)

    def _lines(self) -> Any:
        *lines, theta = super()._lines()
        yield from lines
        yield "passes", f"{self.passes} by {self.workers} workers, {self.restarts} restarts"
        yield theta


def linear(
    leaves: str | os.PathLike[str] | Folder,
    loss: str = "square",
    *,
    width: float = 1.0,
    l1: float = 0.0,
    l2: float = 0.0,
    g: _g.G | None = None,
    intercept: bool = True,
    **how: Any,
) -> Fit:
    """A linear model of rows with labels of their own.

    Columns are taken as they are: bring them to one scale before, or the penalty means different
    things to each.

    Parameters
    ----------
    leaves
        A folder that :func:`prepare` has written, with ``label=...``.
    loss
        ``"square"`` (half the square), ``"huber"``, and of labels -1 and 1 ``"logistic"``,
        ``"squared-hinge"``, ``"smoothed-hinge"``.
    width
        Of Huber's loss and of the smoothed hinge.
    l1, l2
        Penalties; `g` takes any other.
    intercept
        Whether there is one, which nothing penalises.
    **how
        As :func:`solve`: `workers`, `tolerance`, `checkpoint`, ...
    """
    folder = Folder.open(leaves)
    if folder.groups is not None:
        raise ValueError(f"{folder.path}: its rows are of groups; bags() fits them")
    if loss not in _LOSSES:
        raise ValueError(f"loss: expected one of {', '.join(_LOSSES)}, got {loss!r}")
    said: Any = {loss: float(width)} if loss in _WITH_WIDTH else loss
    spec = {"kind": "linear", "loss": said, "intercept": intercept}
    shape = _shape(folder, said, intercept, affine=True)
    return _fit(folder, spec, shape, _penalty(l1, l2, g, intercept), **how)


def bags(
    leaves: str | os.PathLike[str] | Folder,
    labels: Any,
    *,
    link: str = "logistic",
    l1: float = 0.0,
    l2: float = 0.0,
    g: _g.G | None = None,
    intercept: bool = True,
    **how: Any,
) -> Fit:
    """A model of single rows, of which labels are known for groups alone.

    Parameters
    ----------
    leaves
        A folder that :func:`prepare` has written, with ``group=...``.
    labels
        A label for each group: a dict, a series of pandas, or a table (or the path of one) whose
        first two columns are group and label.
    link
        ``"logistic"``: labels are proportions; ``"identity"``: means; ``"exp"``: counts.
    **how
        As :func:`solve`.
    """
    folder = Folder.open(leaves)
    if folder.groups is None:
        raise ValueError(f"{folder.path}: its rows have no groups; prepare(..., group=...)")
    if link not in _OF_LINK:
        raise ValueError(f"link: expected one of {', '.join(_OF_LINK)}, got {link!r}")
    loss = _OF_LINK[link]
    found = labels_of(labels, folder)
    if link == "logistic" and not ((found >= 0.0) & (found <= 1.0)).all():
        raise ValueError("labels: expected proportions between 0 and 1")
    spec = {"kind": "groups", "loss": loss, "link": link, "intercept": intercept, "labels": found}
    shape = _shape(folder, loss, intercept, affine=link == "identity")
    return _fit(folder, spec, shape, _penalty(l1, l2, g, intercept), **how)


def solve(
    shard: type[Shard],
    leaves: str | os.PathLike[str] | Folder,
    *,
    d: int,
    g: _g.G | None = None,
    convex: bool = False,
    **how: Any,
) -> Fit:
    """Minimises the mean loss of rows, of which a class of your own adds up the losses.

    Parameters
    ----------
    shard
        A class derived from :class:`Shard`, which is sent to the workers with its module.
    d
        The length of theta.
    convex
        Whether the loss is convex in theta: then there is a proof.
    workers
        How many, or :class:`Workers`.
    method, tolerance, max_seconds, max_outer, start, seed, callback, progress
        As :meth:`innermean.Problem.solve`.
    checkpoint
        A file that is written after every step. If it is there, the run goes on from it, to the
        same bits.
    """
    folder = Folder.open(leaves)
    spec = {"kind": "own", "shard": shard, "d": int(d)}
    knows = getattr(shard, "hessian", None) is not None
    shape = {
        "d": int(d),
        "leaves": len(folder.leaves),
        "loss": "own",
        "affine": False,
        "convex": convex,
        "knows_seconds": knows,
    }
    return _fit(folder, spec, shape, _g.none() if g is None else g, **how)


def _shape(folder: Folder, loss: Any, intercept: bool, *, affine: bool) -> dict[str, Any]:
    return {
        "d": len(folder.columns) + intercept,
        "leaves": len(folder.leaves),
        "loss": loss,
        "affine": affine,
        "convex": affine,
        "knows_seconds": True,
    }


def _penalty(l1: float, l2: float, g: _g.G | None, intercept: bool) -> _g.G:
    given = _g.none() if g is None else g
    if l1:
        given = given + _g.l1(l1)
    if l2:
        given = given + _g.ridge(l2)
    return given.free_tail(1) if intercept else given


def _fit(
    folder: Folder,
    spec: dict[str, Any],
    shape: dict[str, Any],
    g: _g.G,
    *,
    workers: int | Workers = 2,
    method: str = "auto",
    tolerance: float | None = 1e-6,
    max_seconds: float | None = None,
    max_outer: int | None = 10_000,
    start: Any = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[_innermean.Record], Any] | None = None,
    progress: bool | Callable[[_innermean.Record], Any] = False,
    **settings: Any,
) -> Fit:
    stop = {
        "max_outer": max_outer,
        "max_calls": None,
        "max_seconds": max_seconds,
        "target_objective": None,
        "tolerance": tolerance,
    }
    solver = _solver(method, stop, None, seed, settings)
    if start is not None:
        start = _arrays.floats(start, "start", ndim=1, length=shape["d"])
    crew = Workers(workers) if isinstance(workers, int) else workers
    file = None if checkpoint is None else pathlib.Path(checkpoint)
    state = _read(file) if file is not None and file.exists() else None
    shown = _progress.of(progress)
    crew.start(folder, spec)
    try:
        f = _innermean.F.leaves(crew, json.dumps(shape))
        own = None if g._curve is None else g._curve.core
        core = _innermean.Problem(f, f.whole(), g._said(), own)
        save = None if file is None else (lambda blob: _write(file, blob))
        told = core.solve(solver, start, callback, shown, False, state, None, None, save)
        told |= {
            "passes": crew.passes,
            "workers": len(crew._actors),
            "restarts": crew.restarts,
            "columns": folder.columns,
        }
    finally:
        crew.stop()
        if isinstance(shown, _progress.Progress):
            shown.close()
    return Fit.of(told)


_MAGIC = b"innermean leaves 1\n"


def _read(file: pathlib.Path) -> bytes:
    blob = file.read_bytes()
    if not blob.startswith(_MAGIC):
        raise ValueError(f"{file}: expected a checkpoint of a fit to leaves; remove it")
    return blob[len(_MAGIC) :]


def _write(file: pathlib.Path, blob: bytes) -> None:
    """At once or not at all."""
    part = file.with_name(file.name + ".part")
    part.write_bytes(_MAGIC + blob)
    os.replace(part, file)
