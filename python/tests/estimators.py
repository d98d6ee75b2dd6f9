"""What tests of estimators share: scikit-learn's checks, and the command line as a judge."""

import json
import pathlib
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

PROGRAM = pathlib.Path(__file__).parents[2] / "target/debug/innermean"

#: For the same bits as an estimator with ``tolerance=1e-14``: at a larger one the command line goes
#: on to all digits that it prints, where that is nearly free.
TO_ROUNDING = ["--tolerance", 1e-14, "--max-outer", 10_000]


def failures(estimator, expected=None):
    """The names of scikit-learn's checks that fail; those expected must fail."""
    expected = expected or {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(
            estimator, on_fail=None, on_skip=None, expected_failed_checks=expected
        )
    status = {check["check_name"]: check["status"] for check in checks}
    assert len(status) > 35
    assert all(status.get(name) == "xfail" for name in expected), status
    return [name for name, end in status.items() if end == "failed"]


def command(tmp_path, *arguments, **tables):
    """What the command line says of tables that are written to files; a name stands for its file.

    A table is a dict of columns. Numbers are written so that the same bits are read.
    """
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM}: cargo build -p innermean-cli --all-features")
    files = {}
    for name, columns in tables.items():
        lines = [",".join(columns)]
        lines += [",".join(map(written, row)) for row in zip(*columns.values(), strict=True)]
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text("\n".join(lines) + "\n")
    words = [str(files.get(word, word)) for word in map(str, arguments)]
    found = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True)
    assert found.stdout, found.stderr
    return json.loads(found.stdout)


def written(value):
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


def assert_same(estimator, document):
    """The same bits as the command line's document, in all that both say."""
    result = estimator.result_
    np.testing.assert_array_equal(result.theta, np.array(document["theta"]))
    assert result.objective == document["objective"]
    assert result.method == document["method"] and result.reason == document["reason"]
    assert result.status == document["status"]
    certificate = result.certificate
    for name, value in document["certificate"].items():
        assert getattr(certificate, name) == value
    assert result.outer == document["outer"] and result.inner == document["inner"]
    assert result.calls == document["calls"]["total"]
    shared = estimator.answer_.keys() & document.keys()
    assert shared
    for name in shared:
        assert estimator.answer_[name] == document[name], name
