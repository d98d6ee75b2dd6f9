"""The notebooks: each runs to its end, draws what it says, and is kept without outputs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def test_there_are_some():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    # In a process of its own, as a kernel is; what its text claims it asserts itself.
    runner = Path(__file__).with_name("run_notebook.py")
    found = subprocess.run(
        [sys.executable, runner, path, tmp_path], capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr
    pictures = list(tmp_path.glob("*.png"))
    assert pictures and all(picture.stat().st_size > 2000 for picture in pictures)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_a_notebook_without_outputs(path):
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    cells = notebook["cells"]
    assert cells[0]["cell_type"] == "markdown" and cells[0]["source"][0].startswith("# ")
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        assert cell["cell_type"] == "markdown" or not cell["outputs"]
