"""What is shown: results, comparisons, curves; and the examples of the documentation."""

import doctest
import importlib
import importlib.util
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


def test_table_of_methods(problem):
    suited = innermean.methods(problem)
    table = suited.to_pandas()
    assert list(table.index) == [method.name for method in suited] == problem.suited()
    assert "alpha_theta" in table.loc["svrpda1", "settings"]
    html = suited._repr_html_()
    assert html.count("<tr>") == len(suited) + 1 and "<td style='text-align:left'>svrpda1" in html


def script_of(page):
    """What the script of a page draws."""
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page)
    return json.loads(data)


def test_pages(problem, comparison, tmp_path):
    found = problem.solve("svrpda1", tolerance=1e-6)
    path = tmp_path / "page.html"
    found.report(path, title="Three <assets>", names=["a", "</script><b>", "c"])
    page = path.read_text()
    assert "<title>Three &lt;assets&gt; - innermean</title>" in page
    assert "&lt;/script&gt;&lt;b&gt;" in page and page.count("</script>") == 2
    assert page.count('class="name"') == 3 and "above the optimum" in page
    # Nothing is loaded from elsewhere.
    assert not re.search(r'(src|href)="(?!data:)', page) and "default-src 'none'" in page
    drawn = script_of(page)
    assert [quantity["title"] for quantity in drawn["y"]][0] == "proven gap"
    (run,) = drawn["panels"][0]["runs"]
    assert len(run["x"][0]) == len(run["y"][0]) == len(found.trace.calls)
    assert run["x"][0][-1] == pytest.approx(found.calls, rel=1e-4)
    comparison.report(path)
    drawn = script_of(path.read_text())
    assert drawn["names"] == ["svrpda1", "direct"] and len(drawn["panels"][0]["runs"]) == 4
    with pytest.raises(ValueError, match="names: expected 3, got 1"):
        found.report(path, names=["a"])
    with pytest.raises(FileNotFoundError):
        found.report(tmp_path / "none" / "page.html")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_pages_of_estimators_and_of_many_numbers(rng, tmp_path):
    path = tmp_path / "page.html"
    X = rng.normal(size=(200, 60))
    innermean.LinearRegressor(l2=0.1).fit(X, X[:, 0]).report(path, title="Sixty")
    page = path.read_text()
    assert page.count('class="name"') == 40 and "21 smaller ones are left out" in page
    assert page.count("<tr><td>") == 61 and "(intercept)" in page
    assert "innermean.LinearRegressor(l2=0.1).fit(...)" in page
    long = innermean.LinearRegressor("huber", method="svrpda1", tolerance=None, max_outer=3000)
    with pytest.warns(Warning, match="outer iterations"):
        long.set_params(settings={"inner_iterations": 10}).fit(X, X[:, 0]).report(path)
    (run,) = script_of(path.read_text())["panels"][0]["runs"]
    assert len(long.result_.trace.calls) > 2000 >= len(run["y"][0]) > 400
    with pytest.raises(Exception, match="not fitted"):
        innermean.Portfolio().report(path)


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
PAGES = ["docs/python.md", "docs/python-migration.md", "python/README.md", "README.md"]
PAGES += sorted(f"docs/python/{page.name}" for page in (ROOT / "docs/python").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_pages_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    known = {}
    for block in blocks:
        needed = re.match(r"# needs (\w+)\n", block)
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue
        exec(compile(block, page, "exec"), known)
