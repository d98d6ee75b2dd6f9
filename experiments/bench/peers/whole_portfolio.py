"""The long-only portfolio of least variance of a CSV file by skfolio, from the file to the weights.

One line of JSON: the weights and the seconds, the median of some runs after a first. Neither the start of Python nor imports count.
"""

import json
import statistics
import sys
import time

import pandas as pd
from skfolio.optimization import MeanRisk


def solve(path):
    start = time.perf_counter()
    weights = MeanRisk().fit(pd.read_csv(path)).weights_
    return time.perf_counter() - start, weights.tolist()


path, rounds = sys.argv[1], int(sys.argv[2])
solve(path)
seconds, weights = zip(*(solve(path) for _ in range(rounds)))
print(json.dumps({"seconds": statistics.median(seconds), "weights": weights[0]}))
