"""What estimators have in common: settings for the compiled core, and what it says of a fit."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from innermean.problem import _solver
from innermean.result import Result


def said(**settings: Any) -> str:
    """Settings as the compiled core reads them; None leaves a setting to its default."""
    given = {name: value for name, value in settings.items() if value is not None}
    return json.dumps(given, default=lambda number: number.item())


class Estimator(BaseEstimator):
    """An application as an estimator of scikit-learn.

    After ``fit``, ``result_`` is the run as :class:`innermean.Result`, and ``answer_`` what the
    application says of it; ``certificate_``, ``status_``, ``n_iter_`` and ``objective_`` are parts.
    """

    def _solver(self, start: Any = None) -> str:
        stop = {
            "max_outer": self.max_outer,
            "max_calls": None,
            "max_seconds": self.max_seconds,
            "target_objective": None,
            "tolerance": self.tolerance,
        }
        solver = _solver(self.method, stop, None, self.seed, self.settings or {})
        if start is None:
            return solver
        given = {"given": np.asarray(start, dtype=np.float64).tolist()}
        return json.dumps({**json.loads(solver), "start": given})

    def _keep(self, found: dict[str, Any]) -> Result:
        """Keeps what every fit has, and warns where it is not solved or doubtful."""
        result = Result.of(found["result"])
        self.result_, self.answer_ = result, found["answer"]
        self.certificate_, self.status_ = result.certificate, result.status
        self.objective_, self.n_iter_ = result.objective, result.outer
        for sentence in found["warnings"]:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
        if not result.success:
            warnings.warn(result.message, ConvergenceWarning, stacklevel=3)
        return result

    def _names(self) -> list[str]:
        """The names of the features; x0, x1, ... where they have none."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{k}" for k in range(self.n_features_in_)] if names is None else list(names)


def weights_of(sample_weight: Any, X: Any) -> Any:
    """Weights of rows as the compiled core takes them."""
    from sklearn.utils.validation import _check_sample_weight

    if sample_weight is None:
        return None
    return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

