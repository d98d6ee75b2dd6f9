"""Minimise a loss of averages, with a proof of how good the answer is.

innermean solves problems of the form::

    min over theta of  (1/n) sum_i phi_i( mean_j f_theta(x_i, y_ij) ) + g(theta)

The average is *inside* the loss, so that a stochastic gradient of it is biased. Portfolios,
policy evaluation, labels known for groups alone, classifiers trained without labels and
instrumental variables are problems of this kind.

Start with a problem whose f is built in (:mod:`innermean.problems`), or with an f of your own
(:func:`kernel`, :func:`batched`, :func:`jax`, :func:`torch`). The applications are estimators of
scikit-learn: :class:`Portfolio`, :class:`LinearClassifier`, :class:`LinearRegressor`,
:class:`BagClassifier`, :class:`BagRegressor`, :class:`PolicyEvaluator`,
:class:`SequenceClassifier`, :class:`InstrumentalRegressor`.

Examples
--------
>>> import numpy as np, innermean
>>> from innermean import phi, g
>>> returns = np.array([[1.0, 0.2], [-0.6, 0.1], [0.5, -0.1]])
>>> problem = innermean.problems.portfolio(returns, phi.square(), g.none())
>>> problem.solve().theta.round(2)
array([0.29, 1.96])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from innermean._innermean import version as _version

__version__ = _version()

#: Where each public name is defined. They are imported when first asked for: numba, JAX
#: and torch cost nothing until they are used.
_HOMES = {
    "Problem": "innermean.problem",
    "Run": "innermean.problem",
    "minimize": "innermean.problem",
    "resume": "innermean.problem",
    "methods": "innermean.table",
    "compare": "innermean.comparison",
    "Comparison": "innermean.comparison",
    "Result": "innermean.result",
    "Certificate": "innermean.result",
    "Trace": "innermean.result",
    "Record": "innermean._innermean",
    "kernel": "innermean.own.numba",
    "batched": "innermean.own.numpy",
    "jax": "innermean.own.jax",
    "torch": "innermean.own.torch",
    "BagClassifier": "innermean.bags",
    "BagRegressor": "innermean.bags",
    "InstrumentalRegressor": "innermean.moments",
    "LinearClassifier": "innermean.linear",
    "LinearRegressor": "innermean.linear",
    "Log": "innermean.policy",
    "PolicyEvaluator": "innermean.policy",
    "Portfolio": "innermean.portfolio",
    "SequenceClassifier": "innermean.sequences",
    "rollout": "innermean.policy",
}
_MODULES = ("g", "phi", "problems")

__all__ = sorted([*_HOMES, *_MODULES])

if TYPE_CHECKING:
    from innermean import g as g
    from innermean import phi as phi
    from innermean import problems as problems
    from innermean._innermean import Record as Record
    from innermean.bags import BagClassifier as BagClassifier
    from innermean.bags import BagRegressor as BagRegressor
    from innermean.comparison import Comparison as Comparison
    from innermean.comparison import compare as compare
    from innermean.linear import LinearClassifier as LinearClassifier
    from innermean.linear import LinearRegressor as LinearRegressor
    from innermean.moments import InstrumentalRegressor as InstrumentalRegressor
    from innermean.own.jax import jax as jax
    from innermean.own.numba import kernel as kernel
    from innermean.own.numpy import batched as batched
    from innermean.own.torch import torch as torch
    from innermean.policy import Log as Log
    from innermean.policy import PolicyEvaluator as PolicyEvaluator
    from innermean.policy import rollout as rollout
    from innermean.portfolio import Portfolio as Portfolio
    from innermean.problem import Problem as Problem
    from innermean.problem import Run as Run
    from innermean.problem import minimize as minimize
    from innermean.problem import resume as resume
    from innermean.result import Certificate as Certificate
    from innermean.result import Result as Result
    from innermean.result import Trace as Trace
    from innermean.sequences import SequenceClassifier as SequenceClassifier
    from innermean.table import methods as methods


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"innermean.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'innermean' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
