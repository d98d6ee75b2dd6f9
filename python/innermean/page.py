"""Results as a page that any browser opens without a network, as the command line's ``--report``.

Style and script are the command line's own, so that both faces make the same page.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from innermean import _innermean

if TYPE_CHECKING:
    from innermean.comparison import Comparison
    from innermean.result import Result, Trace

__all__ = ["of_comparison", "of_result"]

#: What may be loaded: what the page holds.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)
#: With more numbers, only the largest have bars; of more, only the largest are in the table.
_BARS, _ROWS = 40, 5000
#: Points of a curve.
_POINTS = 2000
_COUNTS = {"calls": "oracle calls", "seconds": "seconds", "rows": "rows read"}
_BAD = ("diverged", "unbounded", "start_not_finite", "failed")


def of_result(
    result: Result,
    title: str,
    names: Sequence[str] | None,
    settings: Mapping[str, Any],
    code: str,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """The page of a run: the answer, its convergence, settings, and how to do it again."""
    kind = "" if result.notes else " good"
    if not result.success:
        kind = " bad" if result.status in _BAD else ""
    certificate = str(result.certificate)
    proven = f"The objective is {certificate}." if result.certificate.proven else certificate + "."
    main = [
        f'<div class="verdict{kind}"><strong>{escape(result.message)}</strong> '
        f"{escape(proven)}</div>",
        _bars(result.theta, names),
        "<h3>In numbers</h3>",
        _pairs([*dict(result._lines()).items(), *(facts or {}).items()], without="theta"),
    ]
    has_gap = np.isfinite(result.trace["gap"]).any()
    about = (
        "The proven gap is a bound on the objective minus the optimum, for the best point so far."
        if has_gap
        else "No distance from the optimum is proven; the objective is shown above the lowest that "
        "this run found, which says nothing about the optimum itself."
    )
    curves = {result.method: [result.trace]}
    main += [_curves_text(about), "<h2>Settings</h2>", _pairs(settings.items())]
    data = _curves(curves, result.objective, "objective − lowest found", has_gap)
    return _document(title, "\n".join(main), code, data)


def of_comparison(comparison: Comparison, title: str, code: str) -> str:
    """The page of a comparison: a table, and the curves of all runs."""
    from innermean import picture

    rows = list(comparison._rows())
    about = f"Above the optimum, {comparison.optimum:.12g}, which a solver of its own has found."
    traces = {name: [run.trace for run in runs] for name, runs in comparison.runs.items()}
    table = f'<div class="scroll">{picture.comparison(rows)}</div>'
    main = [_curves_text(about), "<h2>Comparison</h2>", table]
    data = _curves(traces, comparison.optimum, "objective − optimum", False)
    return _document(title, "\n".join(main), code, data)


def write(path: str | os.PathLike[str], page: str) -> None:
    """Writes a page, or nothing."""
    path = os.fspath(path)
    unfinished = f"{path}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(page)
        os.replace(unfinished, path)
    except OSError:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def _bars(numbers: np.ndarray, names: Sequence[str] | None) -> str:
    named = [f"theta[{k}]" for k in range(len(numbers))] if names is None else list(names)
    named = [escape(str(name)) for name in named]
    known = np.where(np.isfinite(numbers), numbers, 0.0)
    above, below = max(known.max(initial=0.0), 0.0), max(-known.min(initial=0.0), 0.0)
    whole = (above + below) or 1.0
    zero = 100 * below / whole
    many = len(numbers) > _BARS
    largest = np.argsort(-np.abs(known), kind="stable")
    order = largest[:_BARS] if many else np.arange(len(numbers))
    out = ["<h3>The answer</h3>", f'<div class="bars" style="--zero:{zero:.2f}%">']
    for k in order:
        width = 100 * abs(known[k]) / whole
        left, kind = (zero - width, ' class="below"') if known[k] < 0 else (zero, "")
        bar = f'<i{kind} style="left:{left:.2f}%;width:{width:.2f}%"></i>' if width > 0 else ""
        out.append(
            f'<span class="name" title="{named[k]}">{named[k]}</span>'
            f'<span class="track">{bar}</span><span class="number">{numbers[k]:.5g}</span>'
        )
    out.append("</div>")
    if many:
        rest = len(numbers) - _BARS
        words = f"The {_BARS} largest are shown; {rest:,} smaller ones are left out."
        out.append(f'<p class="soft">{words}</p>')
        shown = largest[:_ROWS] if len(numbers) > _ROWS else np.arange(len(numbers))
        count = f"The {_ROWS:,} largest" if len(numbers) > _ROWS else f"All {len(numbers):,}"
        cells = "".join(
            f'<tr><td>{named[k]}</td><td class="number">{numbers[k]:.9g}</td></tr>' for k in shown
        )
        out.append(
            f'<details><summary>{count}</summary><div class="scroll"><table><tbody>{cells}'
            "</tbody></table></div></details>"
        )
    return "\n".join(out)


def _pairs(pairs: Iterable[tuple[str, Any]], without: str | None = None) -> str:
    rows = (
        f"<dt>{escape(str(name))}</dt>"
        f"<dd>{escape(f'{value:.6g}' if isinstance(value, float) else str(value))}</dd>"
        for name, value in pairs
        if name != without and value is not None
    )
    return "<dl>" + "\n".join(rows) + "</dl>"


def _curves_text(about: str) -> str:
    return (
        f"<h2>Convergence</h2>\n<p>{escape(about)}</p>\n"
        '<p class="soft">Point at a curve to read it, drag to zoom, double click to go back. '
        "An open triangle means zero or less.</p>\n"
        "<noscript><p>The curves need scripts, which are turned off.</p></noscript>\n"
        '<div id="controls" class="controls"></div>\n<div id="legend"></div>\n'
        '<div id="panels"></div>\n<div id="reading" role="status" hidden></div>'
    )


def _thinned(heights: np.ndarray) -> np.ndarray:
    """The points of a curve that are kept: of each stretch the ends, the lowest, the highest."""
    n = len(heights)
    if n <= _POINTS:
        return np.arange(n)
    cuts = np.array_split(np.arange(n), _POINTS // 4)
    shown = np.where(np.isfinite(heights), heights, 0.0)
    kept = [
        [cut[0], cut[-1], cut[shown[cut].argmin()], cut[shown[cut].argmax()]] for cut in cuts
    ]
    return np.unique(kept)


def _curves(
    traces: Mapping[str, list[Trace]], optimum: float, above: str, has_gap: bool
) -> str:
    """What the page's script draws."""

    def numbers(column: np.ndarray) -> list[float | None]:
        return [float(f"{x:.5g}") if np.isfinite(x) else None for x in column]

    quantities = [{"title": "proven gap", "log": True}] if has_gap else []
    quantities += [{"title": above, "log": True}, {"title": "objective", "log": False}]
    runs = []
    for name, several in enumerate(traces.values()):
        for k, trace in enumerate(several):
            objective = np.asarray(trace["objective"], dtype=np.float64)
            heights = [trace["gap"]] if has_gap else []
            heights += [objective - optimum, objective]
            kept = _thinned(np.asarray(heights[0], dtype=np.float64))
            runs.append(
                {
                    "name": name,
                    "note": f"run {k}" if len(several) > 1 else "",
                    "x": [numbers(np.asarray(trace[count], float)[kept]) for count in _COUNTS],
                    "y": [numbers(np.asarray(height)[kept]) for height in heights],
                }
            )
    told = {
        "x": list(_COUNTS.values()),
        "y": quantities,
        "names": list(traces),
        "panels": [{"title": "", "runs": runs}],
    }
    # A script element ends at the first `</script`.
    return json.dumps(told, ensure_ascii=False).replace("<", "\\u003c")


def _document(title: str, main: str, code: str, data: str) -> str:
    style, script = _innermean.page()
    version = f"innermean {_innermean.version()}, Python {platform.python_version()}"
    title = escape(title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - innermean</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header><div><h1>{title}</h1></div>
<button id="theme" type="button" title="Light or dark" aria-label="Light or dark">◐</button>
</header>
<main>
{main}
<h2>Once more</h2>
<pre><code id="command">{escape(code)}</code></pre>
<button id="copy" type="button">Copy</button>
</main>
<footer>{escape(version)}, {escape(platform.machine())} on {escape(platform.system())}</footer>
<script id="data" type="application/json">{data}</script>
<script>
{script}</script>
</body>
</html>
"""
