"""Problems whose f is built in.

Arrays of float64 in C order are read where they are: do not change them while a problem is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from innermean import _arrays, _innermean
from innermean.g import G
from innermean.g import none as _no_g
from innermean.g import tilt as _tilt
from innermean.own.rows import Own, sort
from innermean.phi import Phi
from innermean.problem import Problem

if TYPE_CHECKING:
    from innermean.device.passes import OnDevice

__all__ = ["groups", "linear", "portfolio"]


def _portfolio(returns: _arrays.Floats) -> Own:
    core = _innermean.F.portfolio(returns, returns.shape[1])
    return Own("portfolio", core, (_portfolio, (returns,)))


def portfolio(returns: Any, phi: Phi, g: G | None = None) -> Problem:
    """``-<mean, theta> + (1/n) sum_i phi(<r_i - mean, theta>) + g(theta)``

    Parameters
    ----------
    returns
        A row for each period, a column for each asset.
    phi
        The risk: ``phi.square(2)`` is twice the variance.
    g
        Constraints, such as ``g.simplex()``.

    Examples
    --------
    >>> import numpy as np
    >>> from innermean import phi, problems
    >>> returns = np.array([[1.0, 0.2], [-0.6, 0.1], [0.5, -0.1]])
    >>> problems.portfolio(returns, phi.square()).solve().theta.round(2)
    array([0.29, 1.96])
    """
    rows = _arrays.table(returns, "returns")
    return Problem(_portfolio(rows), phi, (g or _no_g()) + _tilt(-rows.mean(axis=0)))


def _linear(X: Any, offsets: _arrays.Floats) -> Own:
    if _arrays.is_sparse(X):
        data, columns, starts, d = _arrays.csr(X, "X")
        core = _innermean.F.sparse(d, starts, columns, data, offsets)
    else:
        core = _innermean.F.linear(X, X.shape[1], offsets)
    return Own("linear", core, (_linear, (X, offsets)))


def _linear_on(X: Any, y: Any, device: Any) -> OnDevice:
    from innermean.device import passes, tensors

    where = tensors.placed(device)
    rows = tensors.on(X, "X", where, ndim=2)
    _arrays.check_rows(rows.shape, "X")
    offsets = rows.new_zeros(len(rows)) if y is None else -tensors.vector(y, "y", where, len(rows))
    data = passes.Linear(rows, offsets)
    return passes.OnDevice("linear", data, (_linear_on, (rows, -offsets, device)))


def linear(
    X: Any, phi: Phi, g: G | None = None, *, y: Any = None, device: Any = None
) -> Problem:
    """``(1/n) sum_i phi_i(<x_i, theta> - y_i) + g(theta)``

    Parameters
    ----------
    X
        A row for each term; dense or one of scipy's sparse matrices.
    phi
        ``phi.square()`` with targets `y`, ``phi.logistic(labels)`` without.
    g
        Penalties and constraints.
    y
        Targets; zeros by default.
    device
        Where passes are made, such as ``"cuda"``: by torch, of a dense X, which may be there
        already, and of a phi with a slope everywhere. By default by the library itself.
    """
    if device is not None:
        return Problem(_linear_on(X, y, device), phi, g)
    rows = X if _arrays.is_sparse(X) else _arrays.table(X, "X")
    _arrays.check_rows(rows.shape, "X")
    n = rows.shape[0]
    offsets = np.zeros(n) if y is None else -_arrays.floats(y, "y", ndim=1, length=n)
    return Problem(_linear(rows, offsets), phi, g)


def _groups(
    X: _arrays.Floats, starts: _arrays.Integers, link: str, intercept: bool, targets: Any
) -> Own:
    core = _innermean.F.groups(X, X.shape[1], starts, link, intercept, targets)
    return Own("groups", core, (_groups, (X, starts, link, intercept, targets)))


def _groups_on(
    X: Any, starts: _arrays.Integers, link: str, intercept: bool, targets: Any, device: Any
) -> OnDevice:
    from innermean.device import passes, tensors

    where = tensors.placed(device)
    rows, terms = tensors.on(X, "X", where, ndim=2), len(starts) - 1
    given = rows.new_zeros(terms)
    if targets is not None:
        given = tensors.vector(targets, "targets", where, terms)
    data = passes.Groups(rows, starts, link, intercept, given)
    remake = (_groups_on, (rows, starts, link, intercept, given, device))
    return passes.OnDevice("groups", data, remake)


def _sorted_on(X: Any, groups: Any, device: Any) -> tuple[Any, _arrays.Integers]:
    """Rows on a device, sorted by group, and where each group starts."""
    from innermean.device import tensors

    where = tensors.placed(device)
    import torch

    rows = tensors.on(X, "X", where, ndim=2)
    _arrays.check_rows(rows.shape, "X")
    if isinstance(groups, torch.Tensor):
        groups = groups.cpu().numpy()
    order, starts = sort(groups, len(rows))
    return rows if order is None else rows[torch.from_numpy(order).to(where)], starts


def groups(
    X: Any,
    groups: Any,
    phi: Phi,
    g: G | None = None,
    *,
    link: str = "logistic",
    intercept: bool = False,
    targets: Any = None,
    device: Any = None,
) -> Problem:
    """``(1/n) sum_i phi_i(mean_r link(<x_r, theta>) - target_i) + g(theta)``, r of group i

    Parameters
    ----------
    X
        A row for each member of a group; read in place where rows are sorted by group.
    groups
        The group of each row: 0, 1, ...
    phi, g
        As in :class:`innermean.Problem`; ``phi.bernoulli(proportions)`` for shares.
    link
        ``"logistic"``, ``"identity"`` or ``"exp"``.
    intercept
        Whether theta has an intercept, as its last coordinate.
    targets
        Taken off the averages; zeros by default.
    device
        As in :func:`linear`.
    """
    if link not in ("logistic", "identity", "exp"):
        raise ValueError(f"link: expected 'logistic', 'identity' or 'exp', got {link!r}")
    if device is not None:
        lying, starts = _sorted_on(X, groups, device)
        return Problem(_groups_on(lying, starts, link, intercept, targets, device), phi, g)
    rows = _arrays.table(X, "X")
    order, starts = sort(groups, len(rows))
    rows = rows if order is None else np.ascontiguousarray(rows[order])
    if targets is not None:
        targets = _arrays.floats(targets, "targets", ndim=1, length=len(starts) - 1)
    return Problem(_groups(rows, starts, link, intercept, targets), phi, g)
