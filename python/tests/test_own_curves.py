"""phi and g by a value and a slope of one's own, against those that are built in."""

import math
import pickle

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

pytest.importorskip("numba")


def huber(u):
    return 0.5 * u * u if abs(u) <= 1 else abs(u) - 0.5


def huber_slope(u):
    return max(-1.0, min(1.0, u))


def quantile(u, level):
    return level * u if u > 0 else (level - 1) * u


def quantile_slope(u, level):
    return level if u > 0 else level - 1


def poisson(u, row):
    return row[0] * (math.exp(u) - row[1] * u)


def poisson_slope(u, row):
    return row[0] * (math.exp(u) - row[1])


def quartic(x):
    return 0.25 * x**4


def quartic_slope(x):
    return x**3


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(120, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_t(3, 120)


@pytest.mark.parametrize("method", ["auto", "svrpda1", "apg", "newton"])
def test_a_huber_of_ones_own_is_that_of_the_library(rows, method):
    X, y = rows
    own = phi.own(huber, huber_slope, max_curvature=1.0, max_slope=1.0)
    expected = problems.linear(X, phi.huber(), g.ridge(0.1), y=y).solve(tolerance=1e-10)
    problem = problems.linear(X, own, g.ridge(0.1), y=y)
    found = problem.solve(method, tolerance=1e-8, max_outer=2000)
    assert found.success and found.certificate.proven
    assert found.objective - expected.objective <= found.certificate.gap + 1e-15
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)
    assert problem.check(), problem.check()


def test_parameters_of_each_term_and_kinks(rng):
    # A constant is nearest to a sample in the tilted absolute value at its quantile.
    sample, level = rng.normal(size=51), 0.3
    own = phi.own(quantile, quantile_slope, parameters=np.full(51, level), kinks=True, max_slope=1)
    found = problems.linear(np.ones((51, 1)), own, y=-sample).solve(tolerance=1e-6)
    at = -found.theta[0]
    assert found.certificate.proven
    assert np.mean(sample < at - 1e-3) <= level <= np.mean(sample <= at + 1e-3)


def test_rows_of_parameters_and_a_curvature_without_bound(rng):
    X = rng.normal(size=(200, 3))
    counts = rng.poisson(np.exp(X @ [0.3, -0.2, 0.1])).astype(float)
    parameters = np.column_stack([np.ones(200), counts])
    own = phi.own(poisson, poisson_slope, parameters=parameters)
    found = problems.linear(X, own, g.ridge(0.01)).solve(tolerance=1e-9)
    assert found.success
    gradient = X.T @ (np.exp(X @ found.theta) - counts) / 200 + 0.01 * found.theta
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


def test_a_phi_that_ends():
    # -log u + 3 u of u = theta is least at 1/3.
    own = phi.own(
        lambda u: 3 * u - math.log(u), lambda u: 3 - 1 / u, domain=(0, math.inf)
    )
    problem = problems.linear(np.ones((1, 1)), own, g.ridge(1e-9))
    found = problem.solve(start=[1.0], tolerance=1e-10)
    assert found.theta[0] == pytest.approx(1 / 3, rel=1e-4)
    assert problem.objective([-1.0]) == math.inf


def test_weights_and_pickles(rows):
    X, y = rows
    weights = np.linspace(0.5, 1.5, len(y))
    own = phi.own(huber, huber_slope, max_curvature=1.0).weighted(weights)
    expected = problems.linear(X, phi.huber().weighted(weights), g.ridge(0.1), y=y)
    problem = pickle.loads(pickle.dumps(problems.linear(X, own, g.ridge(0.1), y=y)))
    at = np.linspace(-1, 1, 4)
    assert problem.objective(at) == pytest.approx(expected.objective(at), rel=1e-14)
    assert repr(own).startswith("phi.own(huber)")


def test_a_g_of_ones_own(rows):
    X, y = rows
    own = g.own(quartic, quartic_slope)
    problem = problems.linear(X, phi.square(), own + g.l1(0.05) + g.box(-0.4, 0.6), y=y)
    assert problem.check(), problem.check()
    found = problem.solve(tolerance=1e-8)
    assert found.success and found.certificate.gap >= 0
    theta = found.theta
    assert theta.min() >= -0.4 and theta.max() <= 0.6
    slope = 2 * X.T @ (X @ theta - y) / len(y) + theta**3
    # Stationary: where a bound holds it is pushed against.
    for t, s in zip(theta, slope):
        lower = -np.inf if t <= -0.4 else s + (0.05 if t > 0 else -0.05)
        upper = np.inf if t >= 0.6 else s + (0.05 if t >= 0 else -0.05)
        assert lower <= 1e-3 and upper >= -1e-3, (theta, slope)
    assert repr(own) == "g(own=quartic)"


def test_parameters_of_each_coordinate(rows):
    X, y = rows
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    own = g.own(lambda x, w: 0.5 * w * x * x, lambda x, w: w * x, parameters=weights)
    found = problems.linear(X, phi.square(), own, y=y).solve(tolerance=1e-9)
    expected = problems.linear(X, phi.square(), g.ridge(weights), y=y).solve(tolerance=1e-12)
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)
    with pytest.raises(ValueError, match="parameters = 4, expected 3"):
        problems.linear(X[:, :3], phi.square(), own, y=y)


def test_mistakes_are_found():
    with pytest.raises(ValueError, match="slope is .* where differences of value give"):
        phi.own(lambda u: u * u, lambda u: u)
    with pytest.raises(ValueError, match="expected a convex function"):
        phi.own(lambda u: -u * u, lambda u: -2 * u)
    with pytest.raises(ValueError, match="expected finite numbers in the domain"):
        phi.own(lambda u: -math.log(u), lambda u: -1 / u)
    with pytest.raises(ValueError, match=r"slope: expected a function slope\(t\)"):
        phi.own(lambda u: u * u, lambda u, p: 2 * u)
    with pytest.raises(ValueError, match="first below the second"):
        phi.own(quartic, quartic_slope, domain=(1, 0))
    own = g.own(quartic, quartic_slope)
    with pytest.raises(ValueError, match="goes with what is a sum over coordinates"):
        own + g.simplex()
    with pytest.raises(ValueError, match="one g.own at most"):
        own + own
    with pytest.raises(ValueError, match="as many as f has"):
        parameters = np.ones(3)
        tilted = phi.own(quantile, quantile_slope, parameters=parameters, kinks=True)
        problems.linear(np.ones((4, 1)), tilted)


def test_it_goes_with_an_f_of_ones_own(rows):
    X, y = rows
    f = innermean.batched(
        lambda t, x, y: np.tanh(y @ t) - x[:, 0],
        lambda t, x, y, w: (w * (1 - np.tanh(y @ t) ** 2)) @ y,
        d=4,
        x=np.tanh(y),
        y=X,
    )
    own = innermean.Problem(f, phi.own(huber, huber_slope, max_curvature=1.0), g.ridge(0.1))
    known = innermean.Problem(f, phi.huber(), g.ridge(0.1))
    assert own.solve().objective == pytest.approx(known.solve().objective, rel=1e-6)
