"""What is shown: results, comparisons, curves; and the examples of the documentation."""

import doctest
import importlib
import json
import pkgutil
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import innermean
from innermean import g, phi, problems


@pytest.fixture
def problem(rng):
    return problems.portfolio(rng.normal(0.05, 1.0, (80, 3)), phi.square(2.0), g.simplex())


@pytest.fixture
def comparison(problem):
    return innermean.compare(problem, ["svrpda1", "direct"], seeds=2, until=1e-4, max_seconds=20)


def test_result_in_words_and_html(problem):
    found = problem.solve("svrpda1", tolerance=1e-6)
    assert "above the optimum" in repr(found)
    html = found._repr_html_()
    assert html.startswith("<table>") and "polyline" in html
    assert f"{found.objective:.12g}" in html
    once = problem.solve("svrpda1", max_outer=0, tolerance=None)
    assert "polyline" not in once._repr_html_()
    told = json.loads(json.dumps(found.to_dict()))
    assert told["theta"] == found.theta.tolist()
    assert len(found.trace.to_pandas()) == len(found.trace.calls)


def test_curve_of_a_run(problem):
    found = problem.solve("svrpda1", tolerance=1e-6)
    _, ax = plt.subplots()
    assert found.plot(ax=ax) is ax
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), found.trace.calls)
    assert ax.get_yscale() == "log"
    assert found.plot("outer", "objective").get_xlabel() == "outer iterations"
    with pytest.raises(ValueError, match="no column 'call'"):
        found.plot("call")
    plt.close("all")


def test_comparison(comparison):
    assert list(comparison.runs) == ["svrpda1", "direct"]
    table = comparison.to_pandas()
    assert len(table) == 4
    assert (table["gap"] <= 1e-4).all() and (table["gap"] >= 0).all()
    assert "svrpda1" in repr(comparison)
    assert comparison._repr_html_().count("<tr>") == 5
    _, ax = plt.subplots()
    assert len(comparison.plot(ax=ax).get_lines()) == 4
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["svrpda1", "direct"]
    plt.close("all")


def test_every_public_name_is_there():
    for name in innermean.__all__:
        assert getattr(innermean, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        innermean.nothing_like_it  # noqa: B018
    assert re.fullmatch(r"\d+\.\d+\.\d+", innermean.__version__)


def test_importing_costs_no_optional_package(apart):
    heavy = {"numba", "jax", "torch", "matplotlib", "pandas", "scipy"}
    loaded = apart("import sys, innermean.problems; print(*sys.modules)").split()
    assert heavy.isdisjoint(loaded)


MODULES = [
    f"innermean.{module.name}"
    for module in pkgutil.iter_modules(innermean.__path__)
    if module.name != "_innermean"
]


@pytest.mark.parametrize("name", ["innermean", "innermean.own.numpy", *MODULES])
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md", "README.md"])
def test_code_of_the_pages_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    known = {}
    for block in blocks:
        exec(compile(block, page, "exec"), known)
