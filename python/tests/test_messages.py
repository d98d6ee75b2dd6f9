"""What is said to whoever gives something that makes no sense."""

import numpy as np
import pytest

from innermean import (
    LinearClassifier,
    LinearRegressor,
    PolicyEvaluator,
    Portfolio,
    g,
    phi,
    problems,
)

X = np.random.default_rng(0).normal(size=(30, 4))
y = X @ [1.0, -2.0, 0.0, 0.5]


def of_linear(**how):
    return problems.linear(X, phi.square(), y=y).solve(**how)


SAID = {
    "loss='absolute': expected one of 'square', 'huber'": lambda: LinearRegressor("absolute"),
    "risk='var': expected one of 'variance'": lambda: Portfolio("var"),
    "l2=-1: expected a finite number, 0 or above": lambda: LinearRegressor(l2=-1),
    "l1='a': expected a finite number": lambda: LinearRegressor(l1="a"),
    "huber_width='a': expected a number": lambda: LinearRegressor("huber", huber_width="a"),
    "method='lbgfs': there is no such method; did you mean 'lbfgs'": lambda: LinearRegressor(
        method="lbgfs"
    ),
    "seed=0.5: expected a whole number, 0 or above": lambda: LinearRegressor(seed=0.5),
    "seed=-1: expected a whole number": lambda: LinearRegressor(seed=-1),
    "tolerance=-1: expected a number, 0 or above": lambda: LinearRegressor(tolerance=-1),
    "min_weights=0.5: expected at most 0.25, so that 4": lambda: Portfolio(min_weights=0.5),
    "max_weights=0.1: expected at least 0.25, so that 4": lambda: Portfolio(max_weights=0.1),
    "min_weights=0.2: expected at most max_weights=0.1": lambda: Portfolio(
        min_weights=0.2, max_weights=0.1
    ),
    "max_weights: expected 4, one for each asset, got 2": lambda: Portfolio(max_weights=[0.1, 1]),
}


@pytest.mark.parametrize("sentence", SAID)
def test_settings_are_named_with_what_was_expected(sentence):
    with pytest.raises(ValueError) as error:
        SAID[sentence]().fit(X, y)
    assert sentence in str(error.value)


def test_one_class_is_written_as_it_was_given():
    with pytest.raises(ValueError, match="got one class, 'up'"):
        LinearClassifier().fit(X, ["up"] * 30)


def test_parts_of_a_problem_must_be_parts():
    with pytest.raises(TypeError, match="phi: expected one from innermean.phi, got str"):
        problems.linear(X, "square", y=y)
    with pytest.raises(TypeError, match="g: expected one from innermean.g, got float"):
        problems.linear(X, phi.square(), 0.1, y=y)
    with pytest.raises(ValueError, match="tolerance=nan: expected a number"):
        of_linear(tolerance=float("nan"))
    with pytest.raises(TypeError, match="there is no setting 'lr'"):
        of_linear(method="svrpda1", lr=0.1)
    with pytest.raises(ValueError, match="expected at most hi"):
        problems.linear(X, phi.square(), g.box(1, 0), y=y)
    with pytest.raises(TypeError, match="callback: expected a callable"):
        of_linear(callback="print")


def test_phi_has_as_many_terms_as_f():
    with pytest.raises(ValueError, match="phi: expected one for each of 30 terms, got 7"):
        problems.linear(X, phi.logistic(np.ones(7)))
    weighted = phi.square().weighted(np.ones(31))
    with pytest.raises(ValueError, match="phi: expected one for each of 30 terms, got 31"):
        problems.linear(X, weighted, y=y)


def test_numbers_of_states_are_no_features():
    model = PolicyEvaluator(0.9)
    with pytest.raises(ValueError, match="X: expected rows of features.*features='one-hot'"):
        model.fit(np.array([0, 1, 2]), next_states=np.array([1, 2, 0]), rewards=np.ones(3))
