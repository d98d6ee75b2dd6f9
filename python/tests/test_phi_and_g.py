"""Every phi and g against its formula, and what they refuse."""

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

N, D = 40, 4
RNG = np.random.default_rng(3)
LABELS = RNG.choice([-1.0, 1.0], N)
SHARES = RNG.uniform(size=N)
COUNTS = RNG.poisson(3.0, N) + 1.0
EXPOSURES = RNG.uniform(0.5, 2.0, N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)


def huber(u, c, h):
    return np.where(np.abs(u) <= h, c * u**2 / (2 * h), c * (np.abs(u) - h / 2))


def hinge(t, h):
    return np.where(t <= 0, 0, np.where(t <= h, t**2 / (2 * h), t - h / 2))


ANYWHERE = [
    (phi.square(2.0), lambda u: 2 * u**2),
    (phi.downside_square(3.0), lambda u: 3 * np.minimum(u, 0) ** 2),
    (phi.absolute(2.0), lambda u: 2 * np.abs(u)),
    (phi.huber(2.0, 0.7), lambda u: huber(u, 2.0, 0.7)),
    (phi.excess(2.0), lambda u: 2 * np.maximum(u, 0)),
    (phi.exponential(2.0, 0.5), lambda u: 4 * (np.exp(0.5 * u) - 1)),
    (phi.logistic(LABELS), lambda u: np.log1p(np.exp(-LABELS * u))),
    (phi.squared_hinge(LABELS), lambda u: np.maximum(1 - LABELS * u, 0) ** 2),
    (phi.smoothed_hinge(LABELS, 0.6), lambda u: hinge(1 - LABELS * u, 0.6)),
    (phi.square().weighted(WEIGHTS), lambda u: WEIGHTS * u**2),
    (phi.square().weighted(WEIGHTS).weighted(SHARES + 1), lambda u: WEIGHTS * (SHARES + 1) * u**2),
]
BETWEEN_0_AND_1 = [
    (phi.bernoulli(SHARES), lambda u: -SHARES * np.log(u) - (1 - SHARES) * np.log(1 - u)),
    (
        phi.poisson(COUNTS, EXPOSURES, 0.3),
        lambda u: 0.3 * (EXPOSURES * u - COUNTS + COUNTS * np.log(COUNTS / (EXPOSURES * u))),
    ),
    (phi.poisson(COUNTS), lambda u: u - COUNTS + COUNTS * np.log(COUNTS / u)),
    (phi.negative_log(WEIGHTS), lambda u: -WEIGHTS * np.log(u)),
]


@pytest.mark.parametrize(("phi_", "formula"), ANYWHERE, ids=lambda part: repr(part)[:30])
def test_phi(phi_, formula, rng):
    X, theta = rng.normal(size=(N, D)), rng.normal(size=D)
    check(problems.linear(X, phi_), X, theta, formula)


@pytest.mark.parametrize(("phi_", "formula"), BETWEEN_0_AND_1, ids=lambda part: repr(part)[:30])
def test_phi_of_shares(phi_, formula, rng):
    X, theta = rng.uniform(0.05, 0.4, size=(N, D)), rng.uniform(0.2, 0.6, size=D)
    check(problems.linear(X, phi_), X, theta, formula)


def check(problem, X, theta, formula):
    """The objective, and its gradient by central differences."""
    assert problem.objective(theta) == pytest.approx(np.mean(formula(X @ theta)), rel=1e-12)
    h = 1e-6
    steps = h * np.eye(len(theta))
    slopes = [
        np.mean(formula(X @ (theta + step)) - formula(X @ (theta - step))) / (2 * h)
        for step in steps
    ]
    np.testing.assert_allclose(problem.gradient(theta), slopes, rtol=1e-5, atol=1e-7)


def pairs(y):
    """f(y_r) = (<y_r, theta>, theta_0 + 2)."""
    return innermean.batched(
        lambda t, x, y: np.column_stack([y @ t, np.full(len(y), t[0] + 2)]),
        lambda t, x, y, w: w[:, 0] @ y + np.r_[w[:, 1].sum(), np.zeros(len(t) - 1)],
        d=D,
        y=y,
        ell=2,
        groups=np.zeros(len(y), int),
    )


def test_phi_of_two_numbers(rng):
    y, theta = rng.uniform(0.1, 1.0, size=(10, D)), rng.uniform(0.1, 1.0, size=D)
    u = np.array([(y @ theta).mean(), theta[0] + 2])
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])
    form = innermean.Problem(pairs(y), phi.quadratic_form(matrix))
    assert form.objective(theta) == pytest.approx(u @ np.linalg.solve(matrix, u) / 2, rel=1e-12)
    assert form.check(), form.check()
    logs = innermean.Problem(pairs(y), phi.negative_log([0.4, 0.6], ell=2))
    assert logs.objective(theta) == pytest.approx(-0.4 * np.log(u[0]) - 0.6 * np.log(u[1]))
    np.testing.assert_allclose(logs.means(theta), u[None], rtol=1e-14)


ONES, EACH = np.ones(D), np.array([0.1, 0.2, 0.3, 0.4])
FORMULAS = [
    (g.none(), lambda t: 0.0),
    (g.l1(0.3), lambda t: 0.3 * np.abs(t).sum()),
    (g.l1(EACH), lambda t: EACH @ np.abs(t)),
    (g.ridge(0.3), lambda t: 0.15 * t @ t),
    (g.ridge(EACH), lambda t: EACH @ t**2 / 2),
    (g.tilt(EACH), lambda t: EACH @ t),
    (g.norm(EACH, center=ONES, price=2.0), lambda t: 2 * EACH @ np.abs(t - 1)),
    (g.log_barrier(EACH), lambda t: -EACH @ np.log(t)),
    (g.l1(0.3) + g.ridge(EACH) + g.tilt(1.0), lambda t: 0.3 * t.sum() + EACH @ t**2 / 2 + t.sum()),
    (g.ridge(0.3).free_tail(1), lambda t: 0.15 * t[:-1] @ t[:-1]),
    (g.box(0.0, 1.0), lambda t: 0.0),
    (g.linear(ONES, hi=10.0), lambda t: 0.0),
]


@pytest.mark.parametrize(("g_", "formula"), FORMULAS, ids=lambda part: repr(part)[:30])
def test_g(g_, formula, rng):
    X, theta = rng.normal(size=(N, D)), rng.uniform(0.1, 0.9, size=D)
    plain = problems.linear(X, phi.square())
    found = plain.with_g(g_).objective(theta) - plain.objective(theta)
    assert found == pytest.approx(formula(theta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("g_", [g.box(0.0, 0.5), g.simplex(), g.linear(ONES, hi=1.0)], ids=repr)
def test_outside_constraints_the_objective_is_infinite(g_):
    assert problems.linear(np.eye(D), phi.square(), g_).objective(2 * ONES) == np.inf


def test_what_they_refuse():
    for make, words in [
        (lambda: phi.huber(1.0, -1.0), "width"),
        (lambda: phi.square(0.0), "weight"),
        (lambda: phi.logistic([0.5, 1.0]), "labels"),
        (lambda: phi.bernoulli([0.5, 1.5]), r"proportions\[1\]"),
        (lambda: phi.square().weighted([1.0, -1.0]), r"weights\[1\]"),
        (lambda: phi.poisson([1.0, 2.0], [1.0]), "exposures"),
        (lambda: g.l1(np.nan), "weight"),
        (lambda: g.l1(1.0).free_tail(1) + g.ridge(1.0), "free_tail"),
        (lambda: g.log_barrier(1.0) + g.l1(1.0), "log_barrier"),
        (lambda: problems.linear(np.eye(3), phi.square(), g.l1([1.0, 2.0])), "l1"),
        (lambda: g.l1(-1.0), "weight: expected finite numbers, 0 or above"),
        (lambda: g.ridge([1.0, np.inf]), "weight: expected finite numbers"),
        (lambda: g.box(np.eye(2)), "lo: expected a number, or one for each"),
        (lambda: problems.linear(np.eye(3), phi.square(), g.box(1.0, 0.0)), "lo|hi|box"),
        (lambda: problems.linear(np.eye(3), phi.quadratic_form(np.eye(2))), "phi: quadratic_form"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()


def test_how_they_look():
    assert repr(g.l1(0.1) + g.ridge(0.01)) == "g(l1=0.1, l2=0.01)"
    assert repr(g.ridge(EACH)) == "g(l2=<4 numbers>)"
    assert repr(phi.square(2).weighted([1, 2])) == "phi.square(2.0).weighted(<2 numbers>)"
