"""Tables of a given size, and runs of the program within a limit."""

import os
import pathlib
import random
import resource
import subprocess
import time

WIDTH = 50
BLOCK = 5000
#: Groups in a block of rows.
GROUPS = 10
ROOT = pathlib.Path(__file__).resolve().parents[2]


def limited(kind, megabytes):
    """What a process does to itself before it becomes the program."""
    if kind is None:
        return None
    which = {"-v": resource.RLIMIT_AS, "-d": resource.RLIMIT_DATA}[kind]
    return lambda: resource.setrlimit(which, (megabytes << 20, megabytes << 20))


def run(program, words, folder, kind=None, megabytes=0):
    """Exit code, answer or complaint, seconds, CPU seconds, and the largest resident size in MB."""
    out, err = folder / "out", folder / "err"
    start = time.monotonic()
    with open(out, "w") as stdout, open(err, "w") as stderr:
        process = subprocess.Popen(
            [program, *words.split()], cwd=folder, stdout=stdout, stderr=stderr,
            preexec_fn=limited(kind, megabytes),
        )
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    code = os.waitstatus_to_exitcode(status)
    return code, (out if code in (0, 1) else err).read_text(), seconds, \
        used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def make_table(path, megabytes):
    """A block of rows, so often that the numbers take this much memory; ten groups in a block."""
    draw = random.Random(1)
    header = ",".join([f"x{k}" for k in range(1, WIDTH + 1)] + ["y", "class", "group"]) + "\n"
    lines = []
    for row in range(BLOCK):
        x = [round(draw.gauss(0.0005, 0.01), 6) for _ in range(WIDTH)]
        y = sum((k % 5 - 2) * v for k, v in enumerate(x)) + draw.gauss(0.0, 0.02)
        group = row * GROUPS // BLOCK
        cells = [*map(str, x), f"{y:.6f}", "ill" if y > 0 else "well", f"g{group}"]
        lines.append(",".join(cells) + "\n")
    block = "".join(lines)
    times = megabytes * 1_000_000 // (8 * WIDTH * BLOCK)
    with open(path, "w") as out:
        out.write(header)
        for _ in range(times):
            out.write(block)
    return times * BLOCK


def make_beside(folder):
    """Labels of the groups, and a language of the classes."""
    shares = "".join(f"g{k},{0.3 + 0.04 * k}\n" for k in range(GROUPS))
    (folder / "shares.csv").write_text("group,share\n" + shares)
    counts = "".join(f"g{k},{3 + k}\n" for k in range(GROUPS))
    (folder / "counts.csv").write_text("group,count\n" + counts)
    parts = "".join(f"g{k},{0.3 + 0.04 * k},{0.2},{0.5 - 0.04 * k}\n" for k in range(GROUPS))
    (folder / "parts.csv").write_text("group,a,b,c\n" + parts)
    (folder / "language.csv").write_text("token1,token2,count\na,a,5\na,b,2\nb,a,2\nb,b,4\n")


def forget(path):
    """Drops what the system remembers of a file, so that it is read from the disk again."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_once(path):
    """Seconds that it takes to read the bytes of a file."""
    forget(path)
    piece, start = bytearray(1 << 20), time.monotonic()
    with open(path, "rb", buffering=0) as data:
        while data.readinto(piece):
            pass
    return time.monotonic() - start
