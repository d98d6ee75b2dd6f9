"""f by numba: compiled once, called by address, at the speed of the library."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from innermean import _innermean
from innermean._arrays import Floats, Integers
from innermean.own.rows import Own, data

__all__ = ["kernel"]

#: Sums of f and products with its derivative as C functions, f and vjp, and whether vjp returns f.
Compiled = tuple[Any, Any, Any, Any, bool]

#: Compiled functions by f, vjp and widths; the number of rows is no part of it.
_COMPILED: dict[Any, Compiled] = {}


def _compiled(f: Any, vjp: Any, d: int, ell: int, wide: tuple[int, int]) -> Compiled:
    key = (f, vjp, d, ell, wide)
    if key not in _COMPILED:
        _COMPILED[key] = _compile(f, vjp, d, ell, *wide)
    return _COMPILED[key]


#: Up to so many numbers theta and sums lie on the stack while rows are gone through.
_ON_STACK = 512
_LOCK = threading.Lock()


@contextlib.contextmanager
def _vectors() -> Iterator[None]:
    """Compiles to vector instructions.

    A loop whose length is known is unrolled before loops become vectors; then only the pass that
    finds vectors in straight code does, which numba leaves out by default.
    """
    from numba.core import config

    with _LOCK:
        before = config.SLP_VECTORIZE
        config.SLP_VECTORIZE = 1
        try:
            yield
        finally:
            config.SLP_VECTORIZE = before


def _room(count: int) -> Any:
    """A function that returns room for so many numbers on the stack of whoever calls it."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def room(typing):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            place = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), count))
            return builder.bitcast(place, ir.DoubleType().as_pointer())

        return types.CPointer(types.float64)(), code

    return room


def _copies(d: int) -> tuple[Any, Any, Any]:
    """theta on the stack, room for a sum there, and a function that adds it to where it belongs.

    Nothing else points to them, as the compiler sees, which then keeps them in registers.
    """
    import numba

    # In the caller's own frame: room in that of a function ends with it.
    inlined = numba.njit(fastmath=True, inline="always")
    carray = numba.carray
    if d > _ON_STACK:
        where = inlined(lambda numbers: carray(numbers, d))
        return where, where, inlined(lambda sums, out: None)
    of_theta, of_sums = _room(d), _room(d)

    @inlined
    def here(theta):  # type: ignore[no-untyped-def]
        given, own = carray(theta, d), carray(of_theta(), d)
        for k in range(d):
            own[k] = given[k]
        return own

    @inlined
    def zeros(out):  # type: ignore[no-untyped-def]
        own = carray(of_sums(), d)
        for k in range(d):
            own[k] = 0.0
        return own

    @inlined
    def add(sums, out):  # type: ignore[no-untyped-def]
        given = carray(out, d)
        for k in range(d):
            given[k] += sums[k]

    return here, zeros, add


def _compile(f: Any, vjp: Any, d: int, ell: int, p: int, q: int) -> Compiled:
    with _vectors():
        return _compile_now(f, vjp, d, ell, p, q)


def _compile_now(f: Any, vjp: Any, d: int, ell: int, p: int, q: int) -> Compiled:
    import numba
    from numba import types

    # With numpy's divisions: nobody catches an exception in the midst of a run, and a loop without
    # one is faster.
    compiled = numba.njit(fastmath=True, error_model="numpy", forceinline=True)
    value, product = (each if hasattr(each, "py_func") else compiled(each) for each in (f, vjp))
    doubles, number, flat = types.CPointer(types.float64), types.float64, numba.float64[::1]
    w_type = number if ell == 1 else flat
    product.compile((flat, flat, flat, w_type, flat))
    returns = product.overloads[(flat, flat, flat, w_type, flat)].signature.return_type
    knows = ell == 1 and returns == number
    carray = numba.carray
    here, sums, add = _copies(d)

    if ell == 1:

        def sum_(theta, x, y, n, out):  # type: ignore[no-untyped-def]
            theta_, x_, y_ = here(theta), carray(x, p), carray(y, (n, q))
            total = 0.0
            for r in range(n):
                total += value(theta_, x_, y_[r])
            out[0] += total

    else:

        def sum_(theta, x, y, n, out):  # type: ignore[no-untyped-def]
            theta_, x_, y_ = here(theta), carray(x, p), carray(y, (n, q))
            for r in range(n):
                found = value(theta_, x_, y_[r])
                for c in range(ell):
                    out[c] += found[c]

    if knows:

        def product_(theta, x, y, n, w, out, values):  # type: ignore[no-untyped-def]
            theta_, x_, y_ = here(theta), carray(x, p), carray(y, (n, q))
            out_, w_ = sums(out), w[0]
            total = 0.0
            for r in range(n):
                total += product(theta_, x_, y_[r], w_, out_)
            values[0] += total
            add(out_, out)

    elif ell == 1:

        def product_(theta, x, y, n, w, out, values):  # type: ignore[no-untyped-def]
            theta_, x_, y_ = here(theta), carray(x, p), carray(y, (n, q))
            out_, w_ = sums(out), w[0]
            for r in range(n):
                product(theta_, x_, y_[r], w_, out_)
            add(out_, out)

    else:

        def product_(theta, x, y, n, w, out, values):  # type: ignore[no-untyped-def]
            theta_, x_, y_ = here(theta), carray(x, p), carray(y, (n, q))
            out_, w_ = sums(out), carray(w, ell)
            for r in range(n):
                product(theta_, x_, y_[r], w_, out_)
            add(out_, out)

    made = (
        numba.cfunc(types.void(doubles, doubles, doubles, types.int64, doubles))(sum_),
        numba.cfunc(
            types.void(doubles, doubles, doubles, types.int64, doubles, doubles, doubles)
        )(product_),
    )
    return (*made, value, product, knows)


def _try(value: Any, product: Any, d: int, ell: int, x: Floats, y: Floats) -> None:
    """Calls both for the first row as Python does: an error in the midst of a run goes unseen."""
    theta, out = np.zeros(d), np.zeros(d)
    for name, call in (
        ("f", lambda: value(theta, x[0], y[0])),
        ("vjp", lambda: product(theta, x[0], y[0], 1.0 if ell == 1 else np.ones(ell), out)),
    ):
        try:
            call()
        except Exception as error:
            sentence = f"{name}: it fails for theta = 0 and the first row: {error}"
            raise ValueError(sentence) from error


def kernel(
    f: Callable[..., Any],
    vjp: Callable[..., Any],
    *,
    d: int,
    y: Any,
    x: Any = None,
    groups: Any = None,
    ell: int = 1,
    affine: bool = False,
    convex: bool = False,
) -> Own:
    """An f of one sample that numba compiles; no call of Python is left in a run.

    Parameters
    ----------
    f
        ``f(theta, x, y)``: a number or, with `ell`, that many.
    vjp
        ``vjp(theta, x, y, w, out)``: adds ``w * df/dtheta`` to `out`. If it returns f as well, a
        pass reads the data once and not twice.
    d, y, x, groups, ell, affine, convex
        As in :func:`innermean.batched`.

    Notes
    -----
    Loops are faster than ``y @ theta``, which calls BLAS for a handful of numbers. Both functions
    are tried on the first row; what they raise in the midst of a run is printed and not raised.
    """
    x, y, starts = data(x, y, groups)
    return _made(f, vjp, d, ell, x, y, starts, affine, convex)


def _made(
    f: Any,
    vjp: Any,
    d: int,
    ell: int,
    x: Floats,
    y: Floats,
    starts: Integers,
    affine: bool,
    convex: bool,
) -> Own:
    widths = (x.shape[1], y.shape[1])
    sum_, product, *functions, knows = _compiled(f, vjp, d, ell, widths)
    _try(*functions, d, ell, x, y)
    facts = (affine, convex, knows)
    core = _innermean.F.kernel(sum_.address, product.address, d, ell, starts, x, y, widths, facts)
    return Own("kernel", core, (_made, (f, vjp, d, ell, x, y, starts, affine, convex)))
