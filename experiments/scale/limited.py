"""Answers within a limit on memory, beside those without one, and times beside that of reading."""

import json

import tables

RISKS = ["semivariance", "absolute", "huber", "cvar", "entropic", "kelly"]
FEATURES = ",".join(f"x{k}" for k in range(1, 26))
NEXT = ",".join(f"x{k}" for k in range(26, 51))
PORTFOLIO = "portfolio FILE --constraint long-only"
LINEAR = "linear FILE --target y --l2 0.01 --except class"
LOGISTIC = "linear FILE --target class --loss logistic --l2 0.01 --except y"
BAGS = "bags FILE --labels shares.csv --l2 0.01"
POLICY = f"policy FILE --features {FEATURES} --next-features {NEXT} --reward-column y" \
    " --episode-column none --discount 0.9"

CONVERSIONS = [
    "convert table.csv returns.npy --except y,class,group",
    "convert table.csv linear.npy --numbers y --texts class --except group --intercept",
    "convert table.csv bags.npy --group group --except y,class",
]
#: File, kind of limit, command; and whether it is to take no longer than one and a half readings.
RUNS = [
    ("table.csv", "-v", PORTFOLIO + " --except y,class,group", True),
    ("returns.npy", "-v", PORTFOLIO, True),
    ("returns.npy", "-d", PORTFOLIO, True),
    *[("returns.npy", "-v", f"{PORTFOLIO} --risk {risk}", False) for risk in RISKS],
    ("returns.npy", "-d", PORTFOLIO + " --risk absolute", False),
    ("table.csv", "-v", LINEAR + ",group", True),
    ("linear.npy", "-v", LINEAR, True),
    ("linear.npy", "-d", LINEAR + " --loss huber --huber-width 0.1", False),
    ("linear.npy", "-d", LOGISTIC, False),
    ("linear.npy", "-v", LOGISTIC, False),
    ("bags.npy", "-v", BAGS, False),
    ("bags.npy", "-d", BAGS, False),
    ("bags.npy", "-v", BAGS + " --link identity", False),
    ("table.csv", "-v", POLICY, True),
]
#: Distances of answers, and times of reading.
NEAR, READINGS = 1e-12, 1.5


def distance(one, other):
    """Of two answers, of the size of the larger."""
    size = max(abs(x) for x in other) or 1.0
    return max(abs(a - b) for a, b in zip(one, other)) / size


def lines(program, folder, memory):
    """The table, and a sentence for each target."""
    yield "| file | limit | command | exit | theta | seconds | of reading | CPU s | resident MB |"
    yield "|---|---|---|---|---|---|---|---|---|"
    refused, far, slow, most = [], [], [], 0.0
    for words in CONVERSIONS:
        code, said, wall, cpu, peak = tables.run(program, words, folder, "-v", memory)
        assert code == 0, said
        yield f"| table.csv | `-v` {memory} | `{words}` | {code} | | {wall:.1f} | | {cpu:.1f} |" \
            f" {peak:,.0f} |"
    reading = {}
    for file in ["table.csv", "returns.npy", "linear.npy"]:
        reading[file] = tables.read_once(folder / file)
        yield f"| {file} | | reading the bytes once | | | {reading[file]:.1f} | 1.0 | | |"
    for file, kind, words, quadratic in RUNS:
        words = words.replace("FILE", file) + " --threads 2"
        name = f"`{words}`, `{kind}`".replace(FEATURES, "x1,...").replace(NEXT, "x26,...")
        tables.forget(folder / file)
        code, said, wall, cpu, peak = tables.run(program, words + " --json", folder, kind, memory)
        shown = times = ""
        if code == 0:
            free = tables.run(program, words + " --json", folder)
            off = distance(json.loads(said)["theta"], json.loads(free[1])["theta"])
            shown = f"{off:.0e}"
            far += [name] if off > NEAR else []
        else:
            print(f"{name}: {said.strip()}")
            shown = "refused"
            refused.append(name)
        if quadratic:
            ratio = wall / reading[file]
            times, most = f"{ratio:.1f}", max(most, ratio)
            slow += [name] if ratio > READINGS else []
        command = name.rsplit(",", 1)[0]
        yield f"| {file} | `{kind}` {memory} | {command} | {code} | {shown} | {wall:.1f} | {times} |" \
            f" {cpu:.1f} | {peak:,.0f} |"
    yield ""
    yield verdict(f"all are solved within {memory} MB", refused)
    yield verdict(f"answers are those without a limit to {NEAR:.0e}", far)
    yield verdict(
        f"quadratic problems take at most {READINGS} times reading the bytes from the disk"
        f" (at most {most:.1f})", slow,
    )


def verdict(target, missed):
    """A line of a list: a target, and whether it is met."""
    by = f"missed by {len(missed)}: " + "; ".join(missed)
    return f"- {target}: " + (by if missed else "met")
