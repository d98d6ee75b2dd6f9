"""Runs: callbacks, interrupts, pieces, processes, threads, bits."""

import concurrent.futures
import math
import os
import pickle
import signal

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

D = 4


@pytest.fixture
def problem(rng):
    return problems.portfolio(rng.normal(0.05, 1.0, (150, D)), phi.square(2.0), g.simplex())


def f_rows(theta, x, y):
    return np.tanh(y @ theta) - 0.3


def vjp_rows(theta, x, y, w):
    return (w * (1 - np.tanh(y @ theta) ** 2)) @ y


@pytest.fixture
def python_problem(rng):
    f = innermean.batched(f_rows, vjp_rows, d=D, y=rng.normal(size=(60, D)))
    return innermean.Problem(f, phi.square(), g.ridge(0.1))


def test_callback_is_told_and_stops(problem):
    told = []

    def callback(record):
        told.append(record)
        return len(told) == 3

    found = problem.solve("svrpda1", tolerance=None, callback=callback)
    assert found.status == "stopped" and not found.success
    assert len(told) == 3 and len(found.trace.objective) == 3
    assert told[0].calls < told[2].calls
    assert told[2].theta.shape == (D,)
    assert "Record(outer=" in repr(told[0])


def test_error_of_a_callback_is_raised_with_the_result(problem):
    def callback(record):
        if record.outer >= 2:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough") as raised:
        problem.solve("svrpda1", tolerance=None, callback=callback)
    assert raised.value.result.outer >= 2
    assert raised.value.result.theta.shape == (D,)


def test_progress_is_a_callable_or_a_line(problem, capsys):
    seen = []
    problem.solve("svrpda1", max_outer=3, tolerance=None, progress=seen.append)
    assert seen and seen[0].theta is None
    problem.solve("svrpda1", max_outer=3, tolerance=None, progress=True)
    assert "objective" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["problem", "python_problem"])
def test_interrupt_has_the_best_point(kind, request):
    of = request.getfixturevalue(kind)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            of.solve("svrpda1", tolerance=None, max_outer=None, max_seconds=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    found = raised.value.result
    assert found.status == "interrupted"
    assert math.isfinite(found.objective)
    assert of.objective(found.theta) == pytest.approx(found.objective, rel=1e-9)


PIECES = ["svrpda1", "svrpda2", "auto"]


@pytest.mark.parametrize("kind", ["problem", "python_problem"])
@pytest.mark.parametrize("method", PIECES)
def test_pieces_do_not_change_a_bit(kind, method, request):
    of = request.getfixturevalue(kind)
    whole = of.start(method, seed=5, tolerance=1e-5).advance(outer=40).result()
    run = of.start(method, seed=5, tolerance=1e-5).advance(outer=2)
    blob = run.checkpoint()
    if not run.ended:
        assert run.result().outer == 2
    run = innermean.resume(of, blob).advance(outer=3)
    if not run.ended:
        assert run.result().outer == 5
    for _ in range(35):
        run = innermean.resume(of, run.checkpoint()).advance(outer=1)
        if run.ended:
            break
    assert run.result().status == whole.status
    assert run.result().theta.tobytes() == whole.theta.tobytes()
    assert run.result().objective == whole.objective


def test_advance_to_the_end_is_solve(problem):
    whole = problem.solve("svrpda1", tolerance=1e-6)
    run = problem.start("svrpda1", tolerance=1e-6)
    while not run.ended:
        run.advance(outer=1)
    assert run.result().success
    assert run.result().theta.tobytes() == whole.theta.tobytes()


def test_an_error_leaves_the_piece_before_it(python_problem):
    run = python_problem.start("svrpda1", tolerance=None).advance(outer=2)

    def callback(record):
        if record.outer == 4:
            raise LookupError

    with pytest.raises(LookupError):
        run.advance(callback=callback)
    straight = python_problem.start("svrpda1", tolerance=None).advance(outer=6).result()
    again = run.advance(outer=6 - goes_on_from(run)).result()
    assert again.theta.tobytes() == straight.theta.tobytes()


def goes_on_from(run):
    """Where the run goes on from."""
    return innermean.resume(run.problem, run.checkpoint()).advance(outer=0).result().outer


@pytest.mark.parametrize("error", [LookupError, KeyboardInterrupt])
def test_an_error_of_f_spoils_no_checkpoint(error, rng):
    fails = False

    def sometimes(theta, x, y):
        if fails and len(y) == 1:  # in the midst of steps
            raise error
        return f_rows(theta, x, y)

    y = rng.normal(size=(60, D))
    f = innermean.batched(sometimes, vjp_rows, d=D, y=y, groups=np.arange(60) % 20)
    of = innermean.Problem(f, phi.square(), g.ridge(0.1))
    run = of.start("svrpda1", tolerance=None).advance(outer=2)
    fails = True
    with pytest.raises(error) as raised:
        run.advance(outer=2)
    assert np.isfinite(raised.value.result.theta).all()
    fails = False
    straight = of.start("svrpda1", tolerance=None).advance(outer=4).result()
    assert run.advance(outer=2).result().theta.tobytes() == straight.theta.tobytes()


def test_bytes_that_are_no_checkpoint(problem):
    for blob in (b"", b"nonsense", problem.start("svrpda1").checkpoint()[:-5]):
        with pytest.raises(ValueError):
            innermean.resume(problem, blob).advance()


def test_pickle_is_the_same_problem(problem, python_problem):
    for of in (problem, python_problem):
        again = pickle.loads(pickle.dumps(of))
        assert again.solve(seed=3).theta.tobytes() == of.solve(seed=3).theta.tobytes()
    found = problem.solve()
    again = pickle.loads(pickle.dumps(found))
    assert again.theta.tobytes() == found.theta.tobytes()
    assert again.trace.objective.tobytes() == found.trace.objective.tobytes()
    assert str(again.certificate) == str(found.certificate)


@pytest.mark.parametrize("kind", ["problem", "python_problem"])
def test_threads_share_a_problem(kind, request):
    of = request.getfixturevalue(kind)
    expected = [of.solve("svrpda1", seed=seed, max_outer=4).theta.tobytes() for seed in range(6)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = pool.map(lambda seed: of.solve("svrpda1", seed=seed, max_outer=4), range(6))
        assert [run.theta.tobytes() for run in runs] == expected


SOLVES = """
import hashlib, numpy as np
from innermean import g, phi, problems
returns = np.random.default_rng(0).normal(0.02, 1, (20_000, 30))
problem = problems.portfolio(returns, phi.huber(1.0, 0.5), g.simplex())
bits = hashlib.sha256()
for method in ("auto", "svrpda1"):
    bits.update(problem.solve(method, max_outer=5).theta.tobytes())
bits.update(problem.gradient(np.ones(30)).tobytes())
"""


def test_same_bits_on_any_number_of_threads(apart):
    script = SOLVES + "print(bits.hexdigest())"
    assert len({apart(script, RAYON_NUM_THREADS=str(count)) for count in (1, 2, 3)}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_solves(apart):
    script = SOLVES + """
import os, sys
before = problem.solve(max_outer=5).theta.tobytes()
child = os.fork()
if child == 0:
    os._exit(0 if problem.solve(max_outer=5).theta.tobytes() == before else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    apart(script)


def test_settings_and_methods(problem):
    names = [method.name for method in innermean.methods()]
    assert {"svrpda1", "svrpda2", "direct"} <= set(names)
    suited = innermean.methods(problem)
    assert 0 < len(suited) <= len(names)
    assert [method.name for method in suited] == problem.suited()
    found = problem.solve("svrpda1", max_outer=2, tolerance=None, alpha_theta=0.01)
    assert found.settings["alpha_theta"] == 0.01
    with pytest.raises(TypeError, match="no setting 'alfa'"):
        problem.solve(alfa=1)
    with pytest.raises(ValueError, match="nonsense"):
        problem.solve("nonsense")
    with pytest.raises(ValueError, match="seeds"):
        innermean.compare(problem, seeds=0)
