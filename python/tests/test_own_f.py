"""An f of one's own against the problem that is built in."""

import importlib.util
import math

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

ROWS, GROUPS, D = 90, 12, 3
G = g.ridge(0.05)


def sigmoid(u):
    return 1 / (1 + np.exp(-u))


def f_rows(theta, x, y):
    return sigmoid(y @ theta) - x[:, 0]


def vjp_rows(theta, x, y, w):
    s = sigmoid(y @ theta)
    return (w * s * (1 - s)) @ y


def f_one(theta, x, y):
    total = 0.0
    for k in range(D):
        total += y[k] * theta[k]
    return 1 / (1 + math.exp(-total)) - x[0]


def vjp_one(theta, x, y, w, out):
    s = f_one_compiled(theta, x, y) + x[0]
    for k in range(D):
        out[k] += w * s * (1 - s) * y[k]
    return s - x[0]


def vjp_alone(theta, x, y, w, out):
    s = f_one_compiled(theta, x, y) + x[0]
    for k in range(D):
        out[k] += w * s * (1 - s) * y[k]


numba = pytest.importorskip("numba")
f_one_compiled = numba.njit(f_one)


def f_jax(theta, x, y):
    import jax

    return jax.nn.sigmoid(y @ theta) - x[0]


def f_torch(theta, x, y):
    import torch

    return torch.sigmoid(y @ theta) - x[0]


MAKERS = {
    "batched": lambda **data: innermean.batched(f_rows, vjp_rows, **data),
    "kernel": lambda **data: innermean.kernel(f_one, vjp_one, **data),
    "kernel, vjp alone": lambda **data: innermean.kernel(f_one, vjp_alone, **data),
    "jax": lambda **data: innermean.jax(f_jax, **data),
    "torch": lambda **data: innermean.torch(f_torch, **data),
}


@pytest.fixture
def data(rng):
    order = rng.permutation(np.arange(ROWS) % GROUPS)
    return {"x": rng.uniform(size=GROUPS), "y": rng.normal(size=(ROWS, D)), "groups": order}


@pytest.fixture
def native(data):
    return problems.groups(data["y"], data["groups"], phi.square(), G, targets=data["x"])


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_as_what_is_built_in(name, data, native, rng):
    library = name.split(",")[0]
    if library in ("jax", "torch") and importlib.util.find_spec(library) is None:
        pytest.skip(f"no {library}")
    problem = innermean.Problem(MAKERS[name](d=D, **data), phi.square(), G)
    theta = rng.normal(size=D)
    np.testing.assert_allclose(problem.means(theta), native.means(theta), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(problem.gradient(theta), native.gradient(theta), rtol=1e-11)
    report = problem.check()
    assert report, report
    expected = native.solve(tolerance=1e-9)
    for method in ("auto", "svrpda1"):
        found = problem.solve(method, tolerance=1e-7, max_outer=300)
        assert found.objective == pytest.approx(expected.objective, rel=1e-6), (name, method)


def test_rows_of_their_own_without_groups(rng):
    y, target = rng.normal(size=(50, D)), rng.normal(size=50)
    f = innermean.batched(
        lambda t, x, y: y @ t - x[:, 0], lambda t, x, y, w: w @ y, d=D, x=target, y=y, affine=True
    )
    found = innermean.minimize(f, phi.square(), tolerance=1e-10)
    np.testing.assert_allclose(found.theta, np.linalg.lstsq(y, target)[0], rtol=1e-5)
    assert found.certificate.proven


def test_check_finds_a_sign_mistake(data):
    def mistaken(theta, x, y, w):
        return -vjp_rows(theta, x, y, w)

    f = innermean.batched(f_rows, mistaken, d=D, **data)
    report = innermean.Problem(f, phi.square()).check()
    assert not report
    assert any("vjp" in finding for finding in report.findings), report
    assert "this is wrong" in str(report)


def test_check_finds_a_wrong_claim(data):
    f = innermean.batched(f_rows, vjp_rows, d=D, affine=True, **data)
    assert not innermean.Problem(f, phi.square()).check()


def test_what_f_returns_must_have_the_right_shape(data):
    short = innermean.batched(lambda t, x, y: np.zeros(3), vjp_rows, d=D, **data)
    with pytest.raises(ValueError, match="f_rows: expected an array of shape"):
        innermean.minimize(short, phi.square())
    long = innermean.batched(f_rows, lambda t, x, y, w: np.zeros(D + 1), d=D, **data)
    with pytest.raises(ValueError, match="vjp_rows: expected an array of shape"):
        innermean.minimize(long, phi.square())


def test_an_error_of_f_is_that_of_the_run(data):
    def fails(theta, x, y):
        raise ZeroDivisionError("in f")

    f = innermean.batched(fails, vjp_rows, d=D, **data)
    problem = innermean.Problem(f, phi.square())
    for call in (problem.solve, lambda: problem.objective(np.zeros(D)), problem.check):
        with pytest.raises(ZeroDivisionError, match="in f"):
            call()


def test_f_may_solve_a_problem_of_its_own(data, native):
    inner = native.solve().theta

    def nested(theta, x, y):
        np.testing.assert_array_equal(native.solve().theta, inner)
        return f_rows(theta, x, y)

    f = innermean.batched(nested, vjp_rows, d=D, **data)
    assert np.isfinite(innermean.Problem(f, phi.square(), G).objective(np.zeros(D)))


def test_a_kernel_that_fails_is_refused_at_once(data):
    def f(theta, x, y):
        return y @ theta

    def vjp(theta, x, y, w, out):
        out += w * y

    with pytest.raises(ValueError, match="f: it fails for theta = 0 and the first row: incompat"):
        innermean.kernel(f, vjp, d=D + 1, **data)


def test_a_kernel_of_many_coordinates(rng):
    # Beyond what lies on the stack.
    d, y = 700, rng.normal(size=(20, 700)) / 30

    def f(theta, x, y):
        total = 0.0
        for k in range(y.shape[0]):
            total += y[k] * theta[k]
        return math.tanh(total)

    def vjp(theta, x, y, w, out):
        s = f_(theta, x, y)
        for k in range(y.shape[0]):
            out[k] += w * (1 - s * s) * y[k]
        return s

    f_ = numba.njit(f)
    problem = innermean.Problem(innermean.kernel(f, vjp, d=d, y=y), phi.square(), G)
    theta = rng.normal(size=d)
    np.testing.assert_allclose(problem.means(theta), np.tanh(y @ theta), rtol=1e-12)
    s = np.tanh(y @ theta)
    np.testing.assert_allclose(
        problem.gradient(theta), (2 * s * (1 - s * s)) @ y / 20, rtol=1e-10, atol=1e-15
    )
