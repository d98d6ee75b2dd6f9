"""Runs peers on request: `serve.py FAMILY FOLDER`, one JSON object a line in and out.

FOLDER holds the arrays of a case and `case.json`, which describes it; FAMILY is the file beside this one that knows the peers for such
cases. Arrays are loaded before the first answer; a peer's seconds run from arrays in memory to the solution.

    {"do": "peers"}                                  -> {"peers": [{"name": ..., "settings": [...]}, ...], "reference": [name, setting]}
    {"do": "solve", "name": ..., "setting": ...}     -> {"seconds": ..., "cpu_seconds": ..., "theta": [...]}
    {"do": "versions"}                               -> {"versions": {...}}

Whatever goes wrong is answered by {"error": ...}.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings


def versions():
    names = ["numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "cyanure", "celer", "skglm", "piqp", "proxsuite", "highspy"]
    found = {"python": sys.version.split()[0]}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def solve(case, name, setting):
    peer = next(peer for peer in case.peers if peer.name == name)
    start, cpu = time.perf_counter(), time.process_time()
    theta = peer.solve(setting)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu_seconds": cpu, "theta": [float(t) for t in theta]}


def answer(case, ask):
    if ask["do"] == "peers":
        peers = [{"name": peer.name, "settings": peer.settings} for peer in case.peers]
        return {"peers": peers, "reference": case.reference}
    if ask["do"] == "versions":
        return {"versions": versions()}
    return solve(case, ask["name"], ask["setting"])


def main():
    # What libraries print must not get between the answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.filterwarnings("ignore")
    case = None
    if len(sys.argv) == 3:
        family, folder = sys.argv[1:]
        with open(os.path.join(folder, "case.json")) as file:
            case = importlib.import_module(family).Case(folder, json.load(file))
    for line in sys.stdin:
        try:
            reply = answer(case, json.loads(line))
        except Exception as error:  # a peer may fail in any way it likes
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        out.write(json.dumps(reply) + "\n")
        out.flush()


main()
