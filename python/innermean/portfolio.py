"""Portfolios: weights of assets from their returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from innermean import _arrays, _innermean
from innermean._callbacks import with_callbacks
from innermean._estimator import Estimator, said, weights_of

try:
    from skfolio.optimization import BaseOptimization as _Base
except ImportError:
    _Base = None

__all__ = ["Portfolio"]

_SQUARES = ("variance", "semivariance")


class Portfolio(*([Estimator] if _Base is None else [Estimator, _Base])):  # type: ignore[misc]
    """Weights for assets: much return, little risk, as the command line finds them.

    Minimises ``-return + risk_aversion risk + l2/2 |weights|^2`` and costs, within limits. With
    skfolio installed it is one of its optimisers: ``predict`` returns its ``Portfolio``, and
    ``cross_val_predict``, ``WalkForward`` and fallbacks work. Without skfolio it is an estimator of
    scikit-learn: ``predict`` gives the portfolio's returns, and ``score`` their mean over their
    standard deviation.

    Parameters
    ----------
    risk
        ``"variance"``, ``"semivariance"``, ``"absolute"``, ``"huber"``, ``"cvar"``, ``"entropic"``
        or ``"kelly"``.
    objective
        ``"utility"``, ``"min-risk"``, ``"max-return"`` (with `max_risk` within a risk) or
        ``"max-sharpe"``.
    risk_aversion
        The weight of risk against expected return.
    min_weights, max_weights
        Of each asset: a number, a number for each, a dict by asset, or None for no limit.
    budget
        1 where weights sum to 1, None where they need not.
    ddof
        1 multiplies variance and semivariance by n/(n - 1), as skfolio does; 0 as on the command
        line.
    huber_width, level, exponent, percent
        Of the risks huber, cvar, entropic and kelly.
    l1, l2
        The weights of norms of the weights.
    groups, group_limits
        The group of each asset, as a dict or one for each; and the least and largest sum of the
        weights of groups, such as ``{"tech": (None, 0.3)}``.
    gross
        The largest sum of absolute weights.
    previous_weights
        What is held now: a number for each, or a dict by asset.
    turnover
        The largest sum of absolute trades.
    transaction_costs
        What a trade costs, as a part of its size.
    target_return
        The least expected return.
    risk_budget
        ``"equal"``, or the part of the variance for each asset as a dict.
    max_risk, risk_free_rate
        Of the objectives max-return and max-sharpe, for a period.
    half_life
        In so many periods the weight of a period halves.
    benchmark
        Whether risk is that of the difference to ``y``, the returns of a benchmark.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    portfolio_params, fallback, raise_on_failure
        As skfolio's optimisers have them; without skfolio they do nothing.

    Attributes
    ----------
    weights_
        The weights.
    answer_
        What they mean: ``expected_return``, ``risk``, ...
    certificate_
        How far the objective is from the lowest, as far as that is proven.

    Examples
    --------
    >>> import numpy as np, innermean
    >>> returns = np.array([[1.0, 0.2], [-0.6, 0.1], [0.5, -0.1]])
    >>> innermean.Portfolio(risk_aversion=2).fit(returns).weights_.round(3)
    array([0.144, 0.856])
    """

    def __init__(
        self,
        risk: str = "variance",
        *,
        objective: str = "utility",
        risk_aversion: float = 1.0,
        min_weights: Any = 0.0,
        max_weights: Any = 1.0,
        budget: float | None = 1.0,
        ddof: int = 0,
        huber_width: float | None = None,
        level: float | None = None,
        exponent: float | None = None,
        percent: bool = False,
        l1: float = 0.0,
        l2: float = 0.0,
        groups: Any = None,
        group_limits: dict[str, tuple[float | None, float | None]] | None = None,
        gross: float | None = None,
        previous_weights: Any = None,
        turnover: float | None = None,
        transaction_costs: float = 0.0,
        target_return: float | None = None,
        risk_budget: Any = None,
        max_risk: float | None = None,
        risk_free_rate: float = 0.0,
        half_life: float | None = None,
        benchmark: bool = False,
        method: str = "auto",
        settings: dict[str, Any] | None = None,
        tolerance: float | None = 1e-9,
        max_outer: int | None = 10_000,
        max_seconds: float | None = None,
        seed: int = 0,
        portfolio_params: dict[str, Any] | None = None,
        fallback: Any = None,
        raise_on_failure: bool = True,
    ) -> None:
        self.risk = risk
        self.objective = objective
        self.risk_aversion = risk_aversion
        self.min_weights = min_weights
        self.max_weights = max_weights
        self.budget = budget
        self.ddof = ddof
        self.huber_width = huber_width
        self.level = level
        self.exponent = exponent
        self.percent = percent
        self.l1 = l1
        self.l2 = l2
        self.groups = groups
        self.group_limits = group_limits
        self.gross = gross
        self.previous_weights = previous_weights
        self.turnover = turnover
        self.transaction_costs = transaction_costs
        self.target_return = target_return
        self.risk_budget = risk_budget
        self.max_risk = max_risk
        self.risk_free_rate = risk_free_rate
        self.half_life = half_life
        self.benchmark = benchmark
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed
        self.portfolio_params = portfolio_params
        self.fallback = fallback
        self.raise_on_failure = raise_on_failure

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Portfolio:
        """Finds the weights from a row of returns for each period.

        Parameters
        ----------
        X
            Returns: a row for each period, a column for each asset.
        y
            The benchmark's returns, where `benchmark` is True; otherwise not looked at.
        sample_weight
            What each period counts.
        """
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        constraint, limits = self._limits()
        aversion = float(self.risk_aversion)
        if self.ddof and self.risk in _SQUARES:
            aversion *= len(X) / (len(X) - self.ddof)
        task = said(
            objective=self.objective,
            risk=self.risk,
            risk_aversion=aversion,
            huber_width=self.huber_width,
            level=self.level,
            exponent=self.exponent,
            percent=bool(self.percent),
            constraint=constraint,
            l1=self.l1,
            l2=self.l2,
            max_risk=self.max_risk,
            risk_free=self.risk_free_rate or None,
        )
        against = None
        if self.benchmark:
            if y is None:
                raise ValueError("y: expected the benchmark's returns, as benchmark=True asks for")
            against = _arrays.floats(y, "y", ndim=1, length=len(X))
        self._run(
            _innermean.fit_portfolio,
            X,
            self._names(),
            task,
            said(**limits),
            self._solver(),
            weights=weights_of(sample_weight, X),
            half_life=self.half_life,
            benchmark=against,
        )
        self.weights_ = self.result_.theta
        return self

    def _limits(self) -> tuple[str | None, dict[str, Any]]:
        """A constraint by name, and the limits that have none."""
        if self.budget not in (None, 1):
            raise ValueError(f"budget: expected 1 or None, got {self.budget!r}")
        names = self._names()
        lower, upper = self.min_weights, self.max_weights
        alike = all(bound is None or np.isscalar(bound) for bound in (lower, upper))
        assets: dict[str, dict[str, Any]] = {}
        if self.risk_budget is not None:  # it determines the weights by itself
            constraint = None
        elif alike:
            constraint = self._constraint(lower, upper)
        else:
            constraint = self._constraint(None, None)
            sides = (("lower", "min_weights", lower), ("upper", "max_weights", upper))
            for side, parameter, bound in sides:
                for name, number in _by_asset(bound, names, parameter):
                    assets.setdefault(name, {"asset": name})[side] = number
        for name, group in _by_asset(self.groups, names, "groups"):
            assets.setdefault(name, {"asset": name})["group"] = str(group)
        ends = (self.group_limits or {}).items()
        groups = [{"group": str(group), "lower": lo, "upper": hi} for group, (lo, hi) in ends]
        held = self.previous_weights
        budget = self.risk_budget
        if budget is not None and not isinstance(budget, str):
            budget = {"given": _by_asset(budget, names, "risk_budget")}
        return constraint, {
            "assets": list(assets.values()),
            "groups": groups,
            "gross": self.gross,
            "current": None if held is None else _by_asset(held, names, "previous_weights"),
            "turnover": self.turnover,
            "cost": self.transaction_costs or None,
            "target_return": self.target_return,
            "risk_budget": budget,
        }

    def _constraint(self, lower: float | None, upper: float | None) -> str | None:
        lo, hi = (-np.inf if lower is None else lower), (np.inf if upper is None else upper)
        if lo > hi:
            raise ValueError(f"min_weights={lo:g}: expected at most max_weights={hi:g}")
        if self.budget is not None:
            count = self.n_features_in_
            for name, bound, side in (("min_weights", lo, "most"), ("max_weights", hi, "least")):
                beyond = bound * count - 1 if side == "most" else 1 - bound * count
                if beyond > 1e-9:
                    raise ValueError(
                        f"{name}={bound:g}: expected at {side} {1 / count:g}, so that {count} "
                        "weights can sum to 1"
                    )
            return "long-only" if lo == 0 and hi >= 1 else f"sum-to-one={lo},{hi}"
        return None if np.isinf(lo) and np.isinf(hi) else f"box={lo},{hi}"

    if _Base is None:

        def predict(self, X: Any) -> np.ndarray:
            """The returns of the portfolio in each period."""
            check_is_fitted(self)
            X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
            return X @ self.weights_

        def score(self, X: Any, y: Any = None) -> float:
            """The mean of the returns over their standard deviation."""
            returns = self.predict(X)
            return float(returns.mean() / returns.std(ddof=1))


def _by_asset(given: Any, names: list[str], name: str) -> list[tuple[str, Any]]:
    """What is said of assets, by a dict, one for each, or one for all."""
    if given is None:
        return []
    if isinstance(given, dict):
        return [(str(asset), _plain(value)) for asset, value in given.items()]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [(asset, given) for asset in names]
    values = list(given)
    if len(values) != len(names):
        raise ValueError(f"{name}: expected {len(names)}, one for each asset, got {len(values)}")
    return [(asset, _plain(value)) for asset, value in zip(names, values)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
