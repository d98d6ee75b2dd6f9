"""What estimators have in common: settings for the compiled core, and what it says of a fit."""

from __future__ import annotations

import json
import numbers
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from innermean import _arrays
from innermean._callbacks import CallbackSupportMixin, onlooker
from innermean.problem import _solver
from innermean.result import Result


def said(**settings: Any) -> str:
    """Settings as the compiled core reads them; None leaves a setting to its default."""
    given = {name: value for name, value in settings.items() if value is not None}
    for name in ("l1", "l2"):
        weight = given.get(name, 0.0)
        if not isinstance(weight, numbers.Real) or not 0 <= weight < float("inf"):
            raise ValueError(f"{name}={weight!r}: expected a finite number, 0 or above")
    return json.dumps(given, default=lambda number: number.item())


def _outside() -> int:
    """How far up the stack whoever called `fit` is, for whoever calls this."""
    level, frame = 1, sys._getframe(1)
    inside = ("innermean.", "sklearn.callback", "skfolio.optimization._base")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    return level


class Estimator(CallbackSupportMixin, BaseEstimator):
    """An application as an estimator of scikit-learn.

    After ``fit``, ``result_`` is the run as :class:`innermean.Result`, and ``answer_`` what the
    application says of it; ``certificate_``, ``status_``, ``n_iter_`` and ``objective_`` are parts.
    ``set_callbacks`` takes scikit-learn's callbacks (version 1.9), which see each evaluation of the
    run as a task and may stop it.
    """

    def _run(self, fit: Callable[..., dict[str, Any]], *data: Any, **more: Any) -> dict[str, Any]:
        """Calls the compiled core, and keeps what every fit has."""
        callback = onlooker(self)
        found = fit(*data, callback=callback, **more)
        if callback is not None:
            callback.close()
        self._keep(found)
        return found

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Writes a page about the fit that any browser opens without a network.

        Parameters
        ----------
        path
            Where it goes, such as ``"page.html"``.
        title
            What it is about; the name of the estimator by default.
        """
        from innermean import page

        check_is_fitted(self, "result_")
        facts = {
            name.replace("_", " "): value
            for name, value in self.answer_.items()
            if isinstance(value, (str, bool, int, float))
        }
        settings = {**self.get_params(deep=False), **self.result_.settings}
        text = page.of_result(
            self.result_,
            type(self).__name__ if title is None else title,
            self._coordinates(),
            settings,
            f"innermean.{self!r}.fit(...)",
            facts,
        )
        page.write(path, text)

    def _coordinates(self) -> list[str] | None:
        """A name for each coordinate of theta, where the features have one each."""
        names = [*self._names(), *(["(intercept)"] if getattr(self, "intercept", False) else [])]
        theta = self.result_.theta
        if len(names) == len(theta):
            return names
        if len(self.answer_.get("states") or []) == len(theta):
            return list(self.answer_["states"])
        return None

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

    def _keep(self, found: dict[str, Any]) -> None:
        """Keeps what every fit has, and warns where it is not solved or doubtful."""
        result = Result.of(found["result"])
        self.result_, self.answer_ = result, found["answer"]
        self.certificate_, self.status_ = result.certificate, result.status
        self.objective_, self.n_iter_ = result.objective, result.outer
        for sentence in found["warnings"]:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=_outside())
        # A callback that stops a run knows that it does.
        if not result.success and result.status != "stopped":
            warnings.warn(result.message, ConvergenceWarning, stacklevel=_outside())

    def _names(self) -> list[str]:
        return names_of(self)


class Sure(Estimator):
    """An estimator with standard errors."""

    def _errors(self, clusters: Any, rows: int, taken: Any = None) -> Any:
        """What is asked of the compiled core: settings, and the cluster of each row."""
        kind = {False: None, True: "robust"}.get(self.standard_errors, self.standard_errors)
        if kind not in (None, "robust", "clustered"):
            raise ValueError(
                f"standard_errors: expected True, False or 'clustered', got {kind!r}"
            )
        if kind == "clustered" and clusters is None:
            raise ValueError("standard_errors='clustered' needs clusters in fit")
        if clusters is not None and kind != "clustered":
            raise ValueError("clusters: do nothing without standard_errors='clustered'")
        if kind is None:
            return None
        codes = None if clusters is None else codes_of(clusters, rows)
        if codes is not None and taken is not None:
            codes = np.ascontiguousarray(codes[np.asarray(taken) > 0])
        return said(standard_errors=kind), codes

    def _solver(self, start: Any = None) -> str:
        solver = super()._solver(start)
        if not self.standard_errors:
            return solver
        # They are refused where theta is a tenth of one away from the minimum.
        how = json.loads(solver)
        tolerance = how["stop"]["tolerance"]
        how["stop"]["tolerance"] = TIGHT if tolerance is None else min(tolerance, TIGHT)
        return json.dumps(how)

    def _keep(self, found: dict[str, Any]) -> None:
        super()._keep(found)
        for name in ("standard_errors_", "degrees_of_freedom_", "_estimates"):
            vars(self).pop(name, None)
        told = found.get("inference")
        if told is None:
            return
        errors = told["standard_errors"]
        self._estimates = np.array(told["estimates"])
        if errors is None:
            warnings.warn(
                f"There are no standard errors: {told['refused']}.",
                ConvergenceWarning,
                stacklevel=_outside(),
            )
            self.standard_errors_ = np.full(len(self._estimates), np.nan)
            self.degrees_of_freedom_ = np.nan
            return
        self.standard_errors_ = np.array(errors["errors"])
        self.degrees_of_freedom_ = errors["degrees_of_freedom"]

    def conf_int(self, level: float = 0.95) -> np.ndarray:
        """Intervals that hold the true coefficients so often, by Student's t.

        A row for each coefficient, the intercepts last, in the order of ``standard_errors_``. Of
        several classes they are about coefficients less their mean over the classes.
        """
        from scipy.stats import t

        check_is_fitted(self, "result_")
        if not hasattr(self, "standard_errors_"):
            raise ValueError("conf_int: needs standard_errors=True before fit")
        if not 0 < level < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
        reach = t.ppf(0.5 + level / 2, self.degrees_of_freedom_) * self.standard_errors_
        return np.column_stack([self._estimates - reach, self._estimates + reach])


#: The tolerance of a run whose answer gets standard errors.
TIGHT = 1e-10


def codes_of(clusters: Any, rows: int) -> _arrays.Codes:
    """The cluster of each row, counted from 0."""
    values = _arrays.as_numpy(clusters)
    if values.shape != (rows,):
        raise ValueError(
            f"clusters: expected the cluster of each of {rows} rows, got shape {values.shape}"
        )
    return np.unique(values, return_inverse=True)[1].astype(np.uint32)


def names_of(estimator: Any) -> list[str]:
    """The names of the features; x0, x1, ... where they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{k}" for k in range(estimator.n_features_in_)] if names is None else list(names)


def weights_of(sample_weight: Any, X: Any) -> Any:
    """Weights of rows as the compiled core takes them."""
    from sklearn.utils.validation import _check_sample_weight

    if sample_weight is None:
        return None
    return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

