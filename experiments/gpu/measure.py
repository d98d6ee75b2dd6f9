"""Passes and whole runs on a graphics card, beside those of the library on all cores.

Seconds are wall time, the least of some rounds in turns; a pass ends when its sums are at home. The
rows are made on the device and brought home for the library, which reads them there.
"""

import argparse
import math
import os
import pathlib
import platform
import sys
import time

import numpy as np

PAGE = pathlib.Path(__file__).parents[1] / "results/gpu.md"
WIDTH = 50
#: Rows of a group.
GROUP = 100
#: The f of one's own is made of so much fewer rows: of it torch keeps every step.
FEWER = 20


def turns(rounds, **works):
    """The least seconds of each, called in turns; and what each returned last."""
    least, found = dict.fromkeys(works, math.inf), {}
    for _ in range(rounds):
        for name, work in works.items():
            before = time.perf_counter()
            found[name] = work()
            least[name] = min(least[name], time.perf_counter() - before)
    return least, found


def passes(data, loss, rounds):
    """Seconds of each kind of pass."""
    from innermean.device.passes import _Passes

    asked, theta = _Passes(data, loss), np.full(data.d, 0.01)
    works = {want: (lambda want=want: asked.pass_(theta, want)) for want in ("gradient", "hessian")}
    for work in works.values():
        work()
    return turns(2 * rounds, **works)[0]


def copied(torch, rows, rounds):
    """Bytes a second of a copy within the device, read and written."""
    other = torch.empty_like(rows)

    def copy():
        other.copy_(rows)
        return float(other[0, 0])

    copy()
    return 2 * 8 * rows.numel() / turns(2 * rounds, copy=copy)[0]["copy"]


def line(what, rows, there, here, found, expected, took):
    """A line of the table about runs."""
    apart = float(np.abs(found.theta - expected.theta).max())
    gap = found.certificate.gap
    proven = "-" if gap is None else f"{gap:.1e}"
    each = ", ".join(f"{want} {1e3 * seconds:.2f}" for want, seconds in took.items())
    return (
        f"| {what} | {rows:,} | {there:.3f} | {here:.3f} | {here / there:.1f} | {found.method} "
        f"| {each} | {proven} | {apart:.0e} |"
    )


def runs(torch, device, count, rounds):
    """Linear logistic rows, groups, and an f of one's own."""
    import innermean
    from innermean import g, phi, problems
    from innermean.device.losses import of

    torch.manual_seed(1)
    make = {"dtype": torch.float64, "device": device}
    count = count // GROUP * GROUP
    rows = torch.randn(count, WIDTH, **make)
    truth = torch.linspace(-1.0, 1.0, WIDTH, **make) / math.sqrt(WIDTH)
    chance = torch.sigmoid(rows @ truth)
    labels = torch.where(torch.rand(count, **make) < chance, 1.0, -1.0)
    speed = copied(torch, rows, rounds)
    before = time.perf_counter()
    home, labels_home = rows.cpu().numpy(), labels.cpu().numpy()
    brought = time.perf_counter() - before
    facts = [
        f"A copy within the device moves {speed / 1e9:,.0f} GB/s; bringing {home.nbytes / 1e9:.1f} "
        f"GB of rows home took {brought:.1f} s."
    ]
    lines, ridge = [], g.ridge(1e-3)

    loss = phi.logistic(labels_home)
    there = problems.linear(rows, loss, ridge, device=device)
    here = problems.linear(home, loss, ridge)
    there.solve()
    least, found = turns(rounds, there=there.solve, here=here.solve)
    again = there.solve().theta.tobytes() == found["there"].theta.tobytes()
    facts.append(f"Twice the same run gives {'the same' if again else 'OTHER'} bits.")
    took = passes(there.f._data, of(loss, device), rounds)
    read = 2 * 8 * rows.numel() / took["gradient"] / 1e9
    facts.append(f"A gradient of linear rows reads them twice, at {read:,.0f} GB/s.")
    lines.append(line("linear, logistic", count, *least.values(), *found.values(), took))

    groups = np.repeat(np.arange(count // GROUP), GROUP)
    share = chance.view(-1, GROUP).mean(dim=1).cpu().numpy()
    loss = phi.bernoulli(share)
    there = problems.groups(rows, groups, loss, ridge, device=device)
    here = problems.groups(home, groups, loss, ridge)
    there.solve()
    least, found = turns(rounds, there=there.solve, here=here.solve)
    took = passes(there.f._data, of(loss, device), rounds)
    what = f"groups of {GROUP}, shares"
    lines.append(line(what, count, *least.values(), *found.values(), took))

    few = max(GROUP, count // FEWER // GROUP * GROUP)
    data = {"d": WIDTH, "x": share[: few // GROUP], "groups": groups[:few]}
    f = lambda theta, x, y: torch.tanh(y @ theta) - x[0]  # noqa: E731
    made = {
        "there": innermean.torch(f, y=rows[:few], device=device, **data),
        "here": innermean.torch(f, y=home[:few], device="cpu", **data),
    }
    works = {
        name: innermean.Problem(own, phi.huber(1.0, 0.1), ridge).solve for name, own in made.items()
    }
    works["there"]()
    least, found = turns(min(rounds, 2), **works)
    what = "own f by torch, there and on the CPU"
    lines.append(line(what, few, *least.values(), *found.values(), {}))
    return facts, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=pathlib.Path, default=PAGE)
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("skipped: passes on a graphics card (no torch)")
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        print("skipped: passes on a graphics card (no CUDA device)")
        return
    device = torch.device(args.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor()
    facts, lines = runs(torch, device, args.rows, args.rounds)
    page = [
        "# Rows on a graphics card",
        "",
        f"`experiments/gpu/run --rows {args.rows} --rounds {args.rounds}`: {name or device}, torch "
        f"{torch.__version__}; the library's own passes on {os.cpu_count()} cores. {WIDTH} columns "
        "of doubles, relative gap 1e-6. What is measured stands in `experiments/gpu/measure.py`.",
        "",
        *facts,
        "",
        "| problem | rows | run there, s | run here, s | ratio | method | a pass there, ms | gap "
        "| theta apart |",
        "|---|---|---|---|---|---|---|---|---|",
        *lines,
    ]
    text = "\n".join(page) + "\n"
    print(text)
    args.out.write_text(text)


if __name__ == "__main__":
    main()
