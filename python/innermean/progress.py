"""A run while it goes on: a line in a terminal, a display that updates in a notebook."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, TextIO

if TYPE_CHECKING:
    from innermean._innermean import Record

__all__ = ["Progress", "of"]


def of(progress: bool | Callable[[Record], Any] | None) -> Callable[[Record], Any] | None:
    """What `progress=...` of a call means: True is a :class:`Progress`, a callable itself."""
    if progress is None or progress is False:
        return None
    return Progress() if progress is True else progress


class Progress:
    """Shows how a run goes.

    Parameters
    ----------
    file
        Where lines go; standard error by default. In a notebook a display is used instead.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._display = None if file is not None else _notebook()
        self._handle: Any = None
        self._width = 0

    def __call__(self, record: Record) -> None:
        line = describe(record)
        if self._display is not None:
            if self._handle is None:
                self._handle = self._display({"text/plain": line}, raw=True, display_id=True)
            else:
                self._handle.update({"text/plain": line}, raw=True)
            return
        file = self._file or sys.stderr
        if file.isatty():
            file.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            file.write(line + "\n")
        file.flush()

    def close(self) -> None:
        """Leaves the line as it is, and goes to the next."""
        if self._width:
            (self._file or sys.stderr).write("\n")
            self._width = 0


def describe(record: Record) -> str:
    """A record in a line."""
    parts = [
        f"outer {record.outer:,}",
        f"calls {record.calls:,}",
        f"{record.seconds:.1f} s",
        f"objective {record.objective:.10g}",
    ]
    if record.gap is not None:
        parts.append(f"gap {record.gap:.2e}")
    elif record.optimality is not None:
        parts.append(f"stationarity {record.optimality:.2e}")
    return "   ".join(parts)


def _notebook() -> Any:
    """IPython's display, where this runs in a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found]

    return display
