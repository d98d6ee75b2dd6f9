"""The compiled core; what users see is above it."""

from typing import Any, Callable, final

from innermean._arrays import Codes, Floats, Integers

__all__ = [
    "Curve",
    "F",
    "Leaves",
    "Phi",
    "Problem",
    "Record",
    "fit_bags",
    "fit_linear",
    "fit_moments",
    "fit_policy",
    "fit_portfolio",
    "fit_sequences",
    "methods",
    "page",
    "settings",
    "version",
]

def methods() -> list[list[str]]: ...
def page() -> tuple[str, str]: ...
def settings() -> list[str]: ...
def version() -> str: ...
def fit_linear(
    rows: Any,
    names: list[str],
    target: Floats,
    classes: list[str],
    task: str,
    solver: str,
    *,
    weights: Floats | None = None,
    class_weights: list[tuple[str, float]] | None = None,
    balanced: bool = False,
    errors: tuple[str, Codes | None] | None = None,
    callback: Callable[[Record], Any] | None = None,
) -> dict[str, Any]: ...
def fit_bags(
    rows: Floats,
    names: list[str],
    groups: Codes,
    group_names: list[str],
    labels: Floats,
    label_names: list[str],
    task: str,
    solver: str,
    *,
    weights: Floats | None = None,
    by_size: bool = False,
    errors: tuple[str, Codes | None] | None = None,
    callback: Callable[[Record], Any] | None = None,
) -> dict[str, Any]: ...
def fit_policy(
    states: Any,
    next_states: Any,
    rewards: Floats,
    names: list[str],
    task: str,
    solver: str,
    *,
    weights: Floats | None = None,
    terminated: Floats | None = None,
    truncated: Floats | None = None,
    episodes: Codes | None = None,
    ratios: Floats | None = None,
    callback: Callable[[Record], Any] | None = None,
) -> dict[str, Any]: ...
def fit_portfolio(
    returns: Floats,
    names: list[str],
    task: str,
    limits: str,
    solver: str,
    *,
    weights: Floats | None = None,
    half_life: float | None = None,
    benchmark: Floats | None = None,
    callback: Callable[[Record], Any] | None = None,
) -> dict[str, Any]: ...
def fit_sequences(
    rows: Floats,
    names: list[str],
    sequences: Codes,
    language: tuple[list[str], Codes, int, list[float], bool],
    task: str,
    starts: int,
    solver: str,
    *,
    callback: Callable[[Record], Any] | None = None,
) -> dict[str, Any]: ...
def fit_moments(
    outcome: Floats,
    endogenous: tuple[list[str], Floats],
    exogenous: tuple[list[str], Floats],
    instruments: tuple[list[str], Floats],
    task: str,
    seed: int,
    *,
    clusters: Codes | None = None,
    max_seconds: float | None = None,
) -> dict[str, Any]: ...
@final
class Leaves:
    @staticmethod
    def linear(leaves: list[tuple[int, Floats, Floats]], d: int, loss: str) -> Leaves: ...
    @staticmethod
    def groups(
        leaves: list[tuple[int, Floats, Floats]], shape: tuple[int, bool], link: str, loss: str
    ) -> Leaves: ...
    def pass_(self, theta: Floats, want: str) -> Floats: ...
@final
class F:
    @staticmethod
    def portfolio(returns: Floats, d: int) -> F: ...
    @staticmethod
    def linear(rows: Floats, d: int, offsets: Floats) -> F: ...
    @staticmethod
    def sparse(
        d: int, starts: Integers, columns: Integers, values: Floats, offsets: Floats
    ) -> F: ...
    @staticmethod
    def groups(
        rows: Floats,
        width: int,
        starts: Integers,
        link: str,
        intercept: bool,
        targets: Floats | None,
    ) -> F: ...
    @staticmethod
    def kernel(
        sum: int,
        product: int,
        d: int,
        ell: int,
        starts: Integers,
        x: Floats,
        y: Floats,
        widths: tuple[int, int],
        facts: tuple[bool, bool, bool],
    ) -> F: ...
    @staticmethod
    def batched(
        object: Any, d: int, ell: int, starts: Integers, affine: bool, convex: bool
    ) -> F: ...
    @staticmethod
    def leaves(object: Any, shape: str) -> F: ...
    def whole(self, phi: Phi | None = None) -> Phi: ...
    @property
    def d(self) -> int: ...
    @property
    def ell(self) -> int: ...
    @property
    def terms(self) -> int: ...

@final
class Curve:
    def __new__(cls, value: int, slope: int, parameters: Floats, width: int) -> Curve: ...
    def at(self, i: int, t: float) -> tuple[float, float]: ...

@final
class Phi:
    def __new__(cls, kind: str, numbers: list[float], vectors: list[Floats]) -> Phi: ...
    @staticmethod
    def own(
        curve: Curve,
        max_curvature: float | None,
        max_slope: float | None,
        kinks: bool,
        domain: tuple[float, float],
    ) -> Phi: ...
    def weighted(self, weights: Floats) -> Phi: ...

@final
class Problem:
    def __new__(cls, f: F, phi: Phi, g: str, own: Curve | None) -> Problem: ...
    def solve(
        self,
        solver: str,
        start: Floats | None,
        callback: Callable[[Record], Any] | None,
        progress: Callable[[Record], Any] | None,
        keep: bool = False,
        checkpoint: bytes | None = None,
        seconds: float | None = None,
        outer: int | None = None,
        save: Callable[[bytes], Any] | None = None,
    ) -> dict[str, Any]: ...
    def objective(self, theta: Floats) -> float: ...
    def gradient(self, theta: Floats) -> Floats: ...
    def means(self, theta: Floats) -> Floats: ...
    def check(
        self, scale: float, centre: list[float] | None, seed: int
    ) -> tuple[list[str], list[str], int]: ...
    def suited(self) -> list[tuple[str, str | None]]: ...
    def compare(self, said: str, start: Floats) -> dict[str, Any]: ...

@final
class Record:
    @property
    def outer(self) -> int: ...
    @property
    def inner(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def optimality(self) -> float | None: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def theta(self) -> Floats | None: ...
