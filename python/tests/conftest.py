"""What tests share."""

import os
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def apart():
    """Runs a script in a process of its own; what it printed."""

    def run(script, **environment):
        found = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    return run
