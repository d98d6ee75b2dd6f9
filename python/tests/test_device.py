"""Rows on a device: the same answers and proofs as those of the library's own passes.

Here by torch on the CPU, and on a CUDA device where there is one.
"""

import pickle

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

torch = pytest.importorskip("torch", reason="no torch: pip install innermean[torch]")

N, D, COUNT = 900, 4, 30
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    ),
]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def table(rng):
    rows = rng.normal(size=(N, D)) + 0.3
    labels = np.sign(rows @ np.array([1.0, -0.5, 0.2, 0.0]) + 0.7 * rng.normal(size=N))
    members = rng.permutation(np.arange(N) % COUNT)
    return rows, labels, members


def losses(labels, rng):
    return {
        "square": phi.square(0.7),
        "downside_square": phi.downside_square(2.0),
        "huber": phi.huber(1.3, 0.4),
        "exponential": phi.exponential(0.5, 0.7),
        "logistic": phi.logistic(labels),
        "squared_hinge": phi.squared_hinge(labels),
        "smoothed_hinge": phi.smoothed_hinge(labels, 0.6),
        "weighted": phi.logistic(labels).weighted(rng.uniform(0.5, 2.0, len(labels))),
    }


@pytest.mark.parametrize("name", [*losses(np.ones(1), np.random.default_rng(0))])
def test_linear_as_in_memory(name, table, rng, device):
    rows, labels, _ = table
    loss, y = losses(labels, rng)[name], rng.normal(size=N)
    here = problems.linear(rows, loss, g.l1(0.01) + g.ridge(0.1), y=y)
    there = problems.linear(rows, loss, g.l1(0.01) + g.ridge(0.1), y=y, device=device)
    theta = rng.normal(size=D)
    assert (there.d, there.terms) == (D, N)
    assert there.objective(theta) == pytest.approx(here.objective(theta), rel=1e-13)
    np.testing.assert_allclose(there.gradient(theta), here.gradient(theta), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(there.means(theta), here.means(theta), rtol=1e-12, atol=1e-13)
    expected, found = here.solve(tolerance=1e-9), there.solve(tolerance=1e-9)
    assert found.success, found
    assert found.certificate.proven, found
    assert abs(found.objective - expected.objective) <= 1e-8 * abs(expected.objective)
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)


def test_a_simplex_and_no_g(table, rng, device):
    rows, _, _ = table
    y = rows @ np.array([0.5, 0.2, 0.3, 0.0]) + 0.1 * rng.normal(size=N)
    for penalty in (g.simplex(), g.none()):
        here = problems.linear(rows, phi.square(), penalty, y=y).solve(tolerance=1e-7)
        there = problems.linear(rows, phi.square(), penalty, y=y, device=device)
        found = there.solve(tolerance=1e-7)
        assert found.success and found.certificate.proven, found
        np.testing.assert_allclose(found.theta, here.theta, atol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("link", ["identity", "logistic", "exp"])
def test_groups_as_in_memory(link, intercept, table, rng, device):
    rows, _, members = table
    share = rng.uniform(0.2, 0.8, COUNT)
    share[:2] = 0.0, 1.0
    counts = rng.poisson(3.0, COUNT)
    loss = {
        "identity": phi.huber(1.0, 0.5),
        "logistic": phi.bernoulli(share),
        "exp": phi.poisson(counts, np.full(COUNT, 2.0), 0.5),
    }[link]
    how = {"link": link, "intercept": intercept}
    if link == "identity":
        how["targets"] = share
    here = problems.groups(rows, members, loss, g.ridge(0.05), **how)
    there = problems.groups(rows, members, loss, g.ridge(0.05), device=device, **how)
    theta = 0.3 * rng.normal(size=D + intercept)
    assert there.objective(theta) == pytest.approx(here.objective(theta), rel=1e-13)
    np.testing.assert_allclose(there.gradient(theta), here.gradient(theta), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(there.means(theta), here.means(theta), rtol=1e-12, atol=1e-13)
    expected, found = here.solve(tolerance=1e-8), there.solve(tolerance=1e-8)
    assert found.success, found
    assert found.certificate.proven or link != "identity", found
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)


def test_hessians_are_made_in_pieces(table, rng, device, monkeypatch):
    from innermean.device import passes

    rows, labels, members = table
    share = rng.uniform(0.2, 0.8, COUNT)
    made = [
        problems.linear(rows, phi.logistic(labels), g.ridge(0.1), device=device),
        problems.groups(rows, members, phi.bernoulli(share), g.ridge(0.1), device=device),
    ]
    whole = [problem.solve("newton", tolerance=1e-9) for problem in made]
    # Less than a group, and a few groups.
    for numbers in (40, 500):
        monkeypatch.setattr(passes, "_NUMBERS", numbers)
        for problem, expected in zip(made, whole):
            found = problem.solve("newton", tolerance=1e-9)
            np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-7)


def test_tensors_and_what_speaks_dlpack_are_taken_where_they_are(table, device):
    from innermean.device import tensors

    class Speaks:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **how):
            return self.tensor.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    rows, labels, members = table
    there = torch.from_numpy(rows).to(device)
    for given in (there, Speaks(there)):
        assert tensors.on(given, "X", there.device).data_ptr() == there.data_ptr()
    expected = problems.linear(rows, phi.logistic(labels), g.ridge(0.1)).solve()
    for given in (there, Speaks(there), there.float()):
        found = problems.linear(given, phi.logistic(labels), g.ridge(0.1), device=device).solve()
        np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)
    by_tensor = problems.groups(
        there, torch.from_numpy(members).to(device), phi.square(), g.ridge(0.1), device=device
    )
    assert by_tensor.terms == COUNT


def test_the_same_bits_each_time(table, device):
    rows, labels, _ = table
    problem = problems.linear(rows, phi.logistic(labels), g.ridge(0.1), device=device)
    first, second = problem.solve(), problem.solve()
    assert first.theta.tobytes() == second.theta.tobytes()


def test_pickles_and_goes_on_from_a_checkpoint(table, device):
    rows, labels, members = table
    share = np.linspace(0.2, 0.8, COUNT)
    for problem in (
        problems.linear(rows, phi.logistic(labels), g.ridge(0.1), device=device),
        problems.groups(rows, members, phi.bernoulli(share), g.ridge(0.1), device=device),
    ):
        again = pickle.loads(pickle.dumps(problem))
        expected = problem.solve("lbfgs", tolerance=1e-9)
        assert again.solve("lbfgs", tolerance=1e-9).theta.tobytes() == expected.theta.tobytes()
        run = problem.start("lbfgs", tolerance=1e-9).advance(outer=2)
        on = innermean.resume(again, run.checkpoint()).advance().result()
        assert on.theta.tobytes() == expected.theta.tobytes()


def test_another_g_and_what_suits(table, device):
    rows, labels, _ = table
    problem = problems.linear(rows, phi.logistic(labels), g.ridge(0.1), device=device)
    other = problem.with_g(g.l1(0.01)).solve()
    expected = problems.linear(rows, phi.logistic(labels), g.l1(0.01)).solve()
    assert other.objective == pytest.approx(expected.objective, rel=2e-6)
    assert problem.check(), problem.check()
    assert "newton" in problem.suited()


def test_mistakes_are_named(table, device):
    rows, labels, members = table
    linear = lambda **more: problems.linear(rows, phi.square(), device=device, **more)  # noqa: E731
    with pytest.raises(ValueError, match="phi: absolute is none for a device"):
        problems.linear(rows, phi.absolute(), device=device)
    with pytest.raises(ValueError, match="y: expected length 900, got 3"):
        linear(y=np.zeros(3))
    with pytest.raises(ValueError, match="phi: expected one for each of 900 terms, got 3"):
        problems.linear(rows, phi.logistic(labels[:3]), device=device)
    with pytest.raises(ValueError, match="groups: expected length 900, got 899"):
        problems.groups(rows, members[1:], phi.square(), device=device)
    with pytest.raises(ValueError, match="device='nowhere': expected one that torch can use"):
        problems.linear(rows, phi.square(), device="nowhere")
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X: nan at \[3, 1\]; expected finite numbers"):
        problems.linear(rows, phi.square(), device=device)


def test_own_f_on_the_device(table, rng, device, monkeypatch):
    from innermean.own import torch as own

    rows, _, members = table
    share = rng.uniform(0.2, 0.8, COUNT)
    native = problems.groups(rows, members, phi.square(), g.ridge(0.05), targets=share)
    data = {"d": D, "x": share, "y": rows, "groups": members}
    f = innermean.torch(lambda t, x, y: torch.sigmoid(y @ t) - x[0], device=device, **data)
    problem, theta = innermean.Problem(f, phi.square(), g.ridge(0.05)), rng.normal(size=D)
    # At once, and in pieces of less than a term.
    for numbers in (own._NUMBERS, 100):
        monkeypatch.setattr(own, "_NUMBERS", numbers)
        np.testing.assert_allclose(problem.means(theta), native.means(theta), rtol=1e-12)
        np.testing.assert_allclose(problem.gradient(theta), native.gradient(theta), rtol=1e-11)
        for method in ("auto", "newton"):
            found, expected = problem.solve(method), native.solve(method)
            assert found.objective == pytest.approx(expected.objective, rel=1e-5), method
    lying = {**data, "x": torch.from_numpy(share).to(device), "y": torch.tensor(rows).to(device)}
    f = innermean.torch(lambda t, x, y: torch.sigmoid(y @ t) - x[0], device=device, **lying)
    again = innermean.Problem(f, phi.square(), g.ridge(0.05))
    np.testing.assert_allclose(again.means(theta), native.means(theta), rtol=1e-12)
