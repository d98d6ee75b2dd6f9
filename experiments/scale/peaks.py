"""The largest resident size of every command over the size of the numbers that it reads."""

import struct

import tables
from limited import FEATURES, LINEAR, NEXT, POLICY, PORTFOLIO, RISKS, verdict

#: Of the numbers; and megabytes where moments suffice, or beside few numbers.
MOST, FLOOR = 1.15, 64.0
STOP = " --tolerance 1e-2 --max-seconds 60 --threads 2"
LOSSES = ["logistic", "squared-hinge", "smoothed-hinge"]
LINKS = {
    "logistic": "shares.csv", "softmax": "parts.csv", "identity": "shares.csv", "exp": "counts.csv",
}
SEQUENCES = "sequences FILE --sequence group --language-model language.csv --starts 2"
IV = "moments FILE --outcome y --regressors x3 --exogenous x1,x2 --instruments x4,x5"


def plain(path, rows):
    """An array as numpy writes it, without names."""
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {tables.WIDTH}), }}"
    block = struct.pack("<512d", *[(k * 7919 % 1009 - 504) / 1e4 for k in range(512)])
    count = 8 * rows * tables.WIDTH
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00\x76\x00" + f"{shape:<117}\n".encode())
        for at in range(0, count, len(block)):
            out.write(block[: count - at])


def runs():
    """File, command, the numbers of a row that it reads, and whether moments suffice."""
    for file, aside in [("table.csv", " --except y,class,group"), ("plain.npy", ""), ("returns.npy", "")]:
        for risk in ["variance", *RISKS]:
            yield file, f"{PORTFOLIO} --risk {risk}{aside}", 50, False
        yield file, f"{PORTFOLIO} --moments{aside}", 50, True
    for file, aside in [("table.csv", ",group"), ("linear.npy", "")]:
        yield file, LINEAR + aside, 51, False
        yield file, LINEAR + aside + " --moments", 51, True
        yield file, LINEAR + aside + " --loss huber --huber-width 0.1", 51, False
        for loss in LOSSES:
            words = f"linear FILE --target class --loss {loss} --l2 0.01 --except y{aside}"
            yield file, words, 51, False
    for file, aside in [("table.csv", " --except y,class"), ("bags.npy", "")]:
        for link, labels in LINKS.items():
            yield file, f"bags FILE --labels {labels} --link {link} --l2 0.01{aside}", 50, False
    yield "table.csv", POLICY, 51, False
    yield "table.csv", POLICY + " --moments", 51, True
    yield "table.csv", SEQUENCES + " --except y,class", 50, False
    yield "bags.npy", SEQUENCES, 50, False
    yield "table.csv", IV, 6, False
    yield "table.csv", "predict model.json FILE --output predicted.csv", 50, False
    for words in ["returns.npy --except y,class,group", "bags.npy --group group --except y,class"]:
        yield "table.csv", f"convert FILE {words}", 50, True


def lines(program, folder, rows):
    """The table, and a sentence for the target."""
    plain(folder / "plain.npy", rows)
    for words in [
        "convert table.csv returns.npy --except y,class,group",
        "convert table.csv linear.npy --numbers y --texts class --except group --intercept",
        "convert table.csv bags.npy --group group --except y,class",
        LINEAR.replace("FILE", "table.csv") + ",group --moments --model model.json",
    ]:
        code, said, *_ = tables.run(program, words, folder)
        assert code == 0, said
    own = tables.run(program, "--version", folder)[4]
    yield "| file | command | numbers, MB | resident MB | of the numbers | less the program | target |"
    yield "|---|---|---|---|---|---|---|"
    missed, beside = [], []
    for file, words, width, moments in runs():
        is_run = not words.startswith(("convert", "predict", "moments"))
        full = words.replace("FILE", file) + (STOP if is_run else "")
        code, said, _, _, peak = tables.run(program, full, folder)
        name = f"`{words}`".replace(FEATURES, "x1,...").replace(NEXT, "x26,...")
        name = name.replace("FILE", file)
        numbers = 8e-6 * rows * width
        most = FLOOR if moments else max(MOST * numbers, FLOOR)
        met = code in (0, 1) and peak <= most
        if code not in (0, 1):
            print(f"{full}: {said.strip()}")
        missed += [] if met else [name]
        beside += [] if met or peak - own <= most else [name]
        yield f"| {file} | {name} | {numbers:,.0f} | {peak:,.0f} | {peak / numbers:.2f} |" \
            f" {(peak - own) / numbers:.2f} |" \
            f" {most:,.0f} MB: {'met' if met else 'missed' if code in (0, 1) else f'exit {code}'} |"
    yield ""
    target = f"at most {MOST} times the numbers, or {FLOOR:.0f} MB where moments suffice"
    yield verdict(target, missed)
    yield verdict(f"the same beside the {own:.0f} MB of the program itself", beside)
