"""Answers that are known: least squares, mean and variance, and the prox of every g."""

import numpy as np
import pytest

from innermean import g, phi, problems

D = 6


def test_portfolio_is_the_solution_of_its_equations(rng):
    returns = rng.normal(0.1, 1.0, (300, D))
    found = problems.portfolio(returns, phi.square(2.0)).solve(tolerance=1e-10)
    centred = returns - returns.mean(axis=0)
    covariance = centred.T @ centred / len(returns)
    np.testing.assert_allclose(
        found.theta, np.linalg.solve(4.0 * covariance, returns.mean(axis=0)), rtol=1e-6
    )
    assert found.success and found.certificate.proven
    assert found.certificate.gap <= 1e-9


def test_ridge_is_the_solution_of_its_equations(rng):
    X, y, weight = rng.normal(size=(200, D)), rng.normal(size=200), 0.3
    found = problems.linear(X, phi.square(), g.ridge(weight), y=y).solve(tolerance=1e-12)
    expected = np.linalg.solve(2 * X.T @ X / 200 + weight * np.eye(D), 2 * X.T @ y / 200)
    np.testing.assert_allclose(found.theta, expected, rtol=1e-5)
    objective = np.mean((X @ found.theta - y) ** 2) + weight / 2 * found.theta @ found.theta
    assert found.objective == pytest.approx(objective, rel=1e-12)


def project(v, g_, start=None):
    """argmin of ``|theta - v|^2 + g(theta)``."""
    n = len(v)
    problem = problems.linear(np.sqrt(n) * np.eye(n), phi.square(), g_, y=np.sqrt(n) * v)
    found = problem.solve(tolerance=1e-12, start=start)
    assert found.success, found
    return found.theta


def onto_simplex(v):
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - excess[np.flatnonzero(ordered > excess)[-1]], 0)


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0)


V = np.array([0.9, -0.4, 0.3, 1.4, -1.1, 0.05])
EACH = np.array([0.1, 0.2, 0.9, 0.4, 0.5, 0.6])
A = np.array([1.0, 2.0, -1.0, 0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("g_", "expected"),
    [
        (g.none(), V),
        (g.l1(0.5), soft(V, 0.25)),
        (g.l1(EACH), soft(V, EACH / 2)),
        (g.ridge(0.6), V / 1.3),
        (g.ridge(EACH), V / (1 + EACH / 2)),
        (g.tilt(EACH), V - EACH / 2),
        (g.tilt(0.4) + g.l1(0.5), soft(V - 0.2, 0.25)),
        (g.l1(0.5) + g.ridge(0.6), soft(V, 0.25) / 1.3),
        (g.box(-0.2, 0.5), np.clip(V, -0.2, 0.5)),
        (g.box(hi=EACH), np.minimum(V, EACH)),
        (g.simplex(), onto_simplex(V)),
        (g.budget(), V + (1 - V.sum()) / D),
        (g.linear(A, 0.7, 0.7), V + A * (0.7 - A @ V) / (A @ A)),
        (g.linear(A, hi=10.0), V),
        (g.norm(np.ones(D), price=0.5), soft(V, 0.25)),
        (g.norm(EACH, center=np.ones(D), price=1.0), 1 + soft(V - 1, EACH / 2)),
        (g.log_barrier(EACH), (V + np.sqrt(V**2 + 2 * EACH)) / 2),
        (g.l1(0.5).free_tail(2), np.r_[soft(V[:4], 0.25), V[4:]]),
    ],
    ids=repr,
)
def test_prox_of_g(g_, expected):
    # A barrier is infinite at 0, where runs begin.
    start = np.ones(D) if "barrier" in repr(g_) else None
    np.testing.assert_allclose(project(V, g_, start), expected, atol=2e-6)


def test_limit_of_a_norm_binds():
    found = project(V, g.norm(np.ones(D), limit=1.5))
    assert np.abs(found).sum() == pytest.approx(1.5, abs=1e-6)
    threshold = np.abs(V - found).max()
    np.testing.assert_allclose(found, soft(V, threshold), atol=1e-6)


def test_group_averages_by_each_link(rng):
    X, groups = rng.normal(size=(60, 3)), np.arange(60) % 7
    theta, targets = rng.normal(size=4), rng.normal(size=7)
    links = {
        "identity": lambda u: u,
        "logistic": lambda u: 1 / (1 + np.exp(-u)),
        "exp": np.exp,
    }
    for name, link in links.items():
        problem = problems.groups(
            X, groups, phi.square(), link=name, intercept=True, targets=targets
        )
        rows = link(X @ theta[:3] + theta[3])
        means = np.array([rows[groups == i].mean() for i in range(7)]) - targets
        np.testing.assert_allclose(problem.means(theta), means, rtol=1e-12)
        assert problem.objective(theta) == pytest.approx(np.mean(means**2), rel=1e-12)
