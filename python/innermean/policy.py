"""What states are worth under a policy, from a log of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from innermean import _arrays, _innermean
from innermean._callbacks import with_callbacks
from innermean._estimator import Estimator, said, weights_of

__all__ = ["Log", "PolicyEvaluator", "rollout"]


class PolicyEvaluator(Estimator):
    """The value of states, linear in their features, from transitions that were seen.

    Parameters
    ----------
    discount
        The weight of what comes a step later; 0.9 by default.
    objective
        ``"bellman"``, the mean squared Bellman error; ``"projected"``, the projected one, whose
        minimum is that of LSTD. By default the Bellman error, and the projected one where most
        states are seen once.
    features
        None: rows of X are features. A callable that makes them of X. ``"one-hot"``: X names
        states, which have a value each.
    trace
        The lambda of LSTD(lambda).
    intercept
        Whether a feature is added that is 1 in every state.
    never_left
        What a state is that is entered and never left: ``"error"``, ``"terminal"`` or
        ``"bootstrap"``.
    terminal
        Names of states that end an episode, of one-hot features.
    l1, l2
        The weights of norms of the coefficients.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.

    Attributes
    ----------
    coef_, intercept_
        Of the features.
    states_, values_
        Of one-hot features: the states by name, and what they are worth.
    certificate_
        How far the objective is from the lowest, as far as that is proven.

    Examples
    --------
    >>> import innermean
    >>> model = innermean.PolicyEvaluator(discount=0.5, features="one-hot")
    >>> log = {"next_states": ["b", "end"], "rewards": [0.0, 1.0], "terminated": [False, True]}
    >>> model.fit(["a", "b"], **log).predict(["a", "b"]).round(6)
    array([0.5, 1. ])
    """

    def __init__(
        self,
        discount: float | None = None,
        *,
        objective: str | None = None,
        features: Callable[[Any], Any] | str | None = None,
        trace: float = 0.0,
        intercept: bool = False,
        never_left: str = "error",
        terminal: list[str] | None = None,
        l1: float = 0.0,
        l2: float = 0.0,
        method: str = "auto",
        settings: dict[str, Any] | None = None,
        tolerance: float | None = 1e-9,
        max_outer: int | None = 10_000,
        max_seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        self.discount = discount
        self.objective = objective
        self.features = features
        self.trace = trace
        self.intercept = intercept
        self.never_left = never_left
        self.terminal = terminal
        self.l1 = l1
        self.l2 = l2
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        next_states: Any = None,
        rewards: Any = None,
        terminated: Any = None,
        truncated: Any = None,
        episodes: Any = None,
        ratios: Any = None,
        sample_weight: Any = None,
    ) -> PolicyEvaluator:
        """Finds the values from a log with a row for each step.

        Parameters
        ----------
        X
            The states that steps leave.
        y
            The same as `rewards`.
        next_states
            The states that they enter; by default that of the next row, where the log goes on.
        rewards
            What each step earns.
        terminated, truncated
            Whether an episode ends with a step, or is cut off there.
        episodes
            The episode of each step, for traces.
        ratios
            Importance ratios: the policy's probability of the action over that of the log.
        sample_weight
            What each step counts.
        """
        if (rewards is None) == (y is None):
            raise ValueError(
                "requires y to be passed, but the target y is None: give rewards, as y or by name"
                if y is None
                else "rewards: y is given as well; expected one of them"
            )
        named = isinstance(self.features, str)
        if named and self.features != "one-hot":
            raise ValueError(f"features: expected 'one-hot' or a callable, got {self.features!r}")
        rewards = y if rewards is None else rewards
        if named:
            states, rows = _texts(X, "X"), len(_texts(X, "X"))
            rewards = _arrays.floats(rewards, "rewards", ndim=1, length=rows)
        elif self.features is None:
            if isinstance(X, np.ndarray) and X.ndim == 1:
                raise ValueError(
                    "X: expected rows of features, got one axis; features='one-hot' takes names or "
                    "numbers of states, and a callable makes features of them"
                )
            states, rewards = validate_data(
                self, X, rewards, dtype=np.float64, order="C", y_numeric=True
            )
            rows, rewards = len(states), rewards.astype(np.float64)
        else:
            states = _arrays.table(self.features(X), "features(X)")
            rows, self.n_features_in_ = states.shape
            rewards = _arrays.floats(rewards, "rewards", ndim=1, length=rows)
        columns = {
            "terminated": _marks(terminated, "terminated", rows),
            "truncated": _marks(truncated, "truncated", rows),
            "episodes": _codes(episodes, rows),
            "ratios": _column(ratios, "ratios", rows),
            "weights": weights_of(sample_weight, np.empty(rows)),
        }
        if next_states is None:
            kept = _goes_on(rows, columns)
            after = states[1:][kept[:-1]] if rows > 1 else states[:0]
            ends = kept.copy()
            ends[-1] = False
            if columns["terminated"] is not None and columns["terminated"][-1]:
                ends[-1] = True
                after = np.concatenate([after, states[-1:]])
            states, rewards, after = states[ends], rewards[ends], np.ascontiguousarray(after)
            columns = {
                name: None if column is None else np.ascontiguousarray(column[ends])
                for name, column in columns.items()
            }
            if len(states) == 0:
                raise ValueError(f"X: expected a minimum of 2 steps in a row, got n_samples={rows}")
        elif named:
            after = _texts(next_states, "next_states")
        elif self.features is None:
            after = _arrays.table(next_states, "next_states")
        else:
            after = _arrays.table(self.features(next_states), "features(next_states)")
        if after.shape != states.shape:
            raise ValueError(f"next_states: expected shape {states.shape}, got {after.shape}")
        task = said(
            discount=self.discount,
            objective=self.objective,
            intercept=bool(self.intercept),
            never_left=self.never_left,
            terminal=list(self.terminal or []),
            l1=self.l1,
            l2=self.l2,
            **{"lambda": self.trace},
        )
        given, entered = (_named(states), _named(after)) if named else (states, after)
        names = [] if named else self._names()
        found = self._run(
            _innermean.fit_policy,
            given,
            entered,
            np.ascontiguousarray(rewards),
            names,
            task,
            self._solver(),
            **columns,
        )
        theta = self.result_.theta
        if named:
            self.states_, self.values_ = np.array(self.answer_["states"]), found["values"]
        else:
            self.coef_ = theta[: self.n_features_in_]
            self.intercept_ = float(theta[-1]) if self.intercept else 0.0
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What states are worth."""
        check_is_fitted(self, "result_")
        if isinstance(self.features, str):
            values = dict(zip(self.states_.tolist(), self.values_))
            states = _texts(X, "X").tolist()
            unknown = [state for state in states if state not in values]
            if unknown:
                raise ValueError(f"X: the state {unknown[0]!r} is not in the log")
            return np.array([values[state] for state in states])
        if self.features is None:
            rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        else:
            rows = _arrays.table(self.features(X), "features(X)")
        return rows @ self.coef_ + self.intercept_


def _texts(states: Any, name: str) -> np.ndarray:
    values = _arrays.as_numpy(states)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name}: expected the name of each state, got {values.ndim} axes")
    return np.array([str(value) for value in values.tolist()], dtype=object)


def _named(states: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names in the order in which they appear, and which of them each is."""
    names: dict[str, int] = {}
    codes = [names.setdefault(state, len(names)) for state in states]
    return list(names), np.array(codes, dtype=np.uint32)


def _marks(values: Any, name: str, rows: int) -> Any:
    if values is None:
        return None
    return _arrays.floats(_arrays.as_numpy(values).astype(np.float64), name, ndim=1, length=rows)


def _column(values: Any, name: str, rows: int) -> Any:
    return None if values is None else _arrays.floats(values, name, ndim=1, length=rows)


def _codes(episodes: Any, rows: int) -> Any:
    if episodes is None:
        return None
    values = _arrays.as_numpy(episodes)
    if len(values) != rows:
        raise ValueError(f"episodes: expected length {rows}, got {len(values)}")
    return np.unique(values, return_inverse=True)[1].astype(np.uint32)


def _goes_on(rows: int, columns: dict[str, Any]) -> np.ndarray:
    """Whether the state that a step enters is known: by the next row, or as there is none."""
    known = np.ones(rows, dtype=bool)
    known[-1] = False
    if columns["truncated"] is not None:
        known[columns["truncated"] > 0] = False
    if columns["episodes"] is not None:
        known[:-1][np.diff(columns["episodes"].astype(np.int64)) != 0] = False
    if columns["terminated"] is not None:
        known[:-1][columns["terminated"][:-1] > 0] = True
    return known


@dataclass(frozen=True, eq=False)
class Log:
    """The steps of a policy: what :func:`rollout` returns.

    Attributes
    ----------
    state, action, reward, next_state
        A row for each step.
    terminated, truncated
        Whether an episode ended with it, or was cut off.
    episode
        The number of its episode.
    """

    state: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_state: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    episode: np.ndarray

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.reward)


def rollout(
    env: Any,
    policy: Callable[[Any], Any] | None = None,
    steps: int = 1000,
    *,
    seed: int | None = None,
) -> Log:
    """So many steps of a policy in an environment of gymnasium.

    Parameters
    ----------
    env
        Any environment that is not vectorised, whose observations are arrays or whole numbers.
    policy
        The action for an observation; by default one at random.
    steps
        How many; the last counts as cut off if no episode ends with it.
    seed
        Of the environment and of random actions.
    """
    if steps < 1:
        raise ValueError(f"steps: expected at least 1, got {steps}")
    columns: dict[str, list[Any]] = {name: [] for name in Log.__dataclass_fields__}
    if seed is not None:
        env.action_space.seed(seed)
    state, _ = env.reset(seed=seed)
    episode = 0
    for step in range(steps):
        action = env.action_space.sample() if policy is None else policy(state)
        entered, reward, terminated, truncated, _ = env.step(action)
        cut = bool(truncated) or (step + 1 == steps and not terminated)
        row = (state, action, float(reward), entered, bool(terminated), cut, episode)
        for column, value in zip(columns.values(), row):
            column.append(np.array(value))
        state = entered
        if terminated or truncated:
            episode += 1
            state, _ = env.reset()
    return Log(**{name: np.stack(column) for name, column in columns.items()})
