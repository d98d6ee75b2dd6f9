"""Arrays of any kind as what the compiled core reads: C-ordered float64 or int64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers that are looked at together for one that is not finite.
_BLOCK = 1 << 16

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.uint32]


def is_sparse(value: Any) -> bool:
    """Whether it is one of scipy's sparse matrices or arrays."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def as_numpy(value: Any) -> np.ndarray:
    """What numpy makes of an array, a table of pandas, polars or Arrow, or a nested list."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "__array__") and hasattr(value, "to_numpy"):
        return np.asarray(value.to_numpy())
    if hasattr(value, "column_names") and hasattr(value, "itercolumns"):  # an Arrow table
        return np.column_stack([column.to_numpy() for column in value.itercolumns()])
    return np.asarray(value)


def floats(
    value: Any,
    name: str,
    *,
    ndim: int | None = None,
    length: int | None = None,
    finite: bool = True,
) -> Floats:
    """`value` as a C-ordered array of float64, itself where it is one.

    Parameters
    ----------
    value
        Whatever numpy understands, or a table.
    name
        What the argument is called, for errors.
    ndim
        The number of axes it must have.
    length
        The length of its first axis, if that is known.
    finite
        Whether NaN and infinities are refused.
    """
    if is_sparse(value):
        raise ValueError(f"{name}: expected a dense array here; got a sparse one, use .toarray()")
    try:
        array = as_numpy(value)
        if np.iscomplexobj(array):
            raise TypeError("complex")
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        given = getattr(value, "dtype", type(value).__name__)
        raise ValueError(f"{name}: expected numbers, got {given}") from error
    if np.ndim(value) == 0 and array.ndim == 1:  # ascontiguousarray makes scalars arrays
        array = array.reshape(())
    if ndim is not None and array.ndim != ndim:
        given = _axes(array.ndim)
        raise ValueError(f"{name}: expected an array of {_axes(ndim)}, got one of {given}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name}: expected length {length}, got {len(array)}")
    if finite:
        check_finite(array, name)
    return array


def table(value: Any, name: str) -> Floats:
    """Rows and columns, at least one of each."""
    rows = floats(value, name, ndim=2)
    check_rows(rows.shape, name)
    return rows


def check_rows(shape: tuple[int, ...], name: str) -> None:
    """Refuses a table without rows or columns."""
    if 0 in shape:
        raise ValueError(f"{name}: expected at least one row and one column, got shape {shape}")


def integers(value: Any, name: str, *, length: int | None = None) -> Integers:
    """`value` as a C-ordered vector of int64; fractions are refused."""
    array = as_numpy(value)
    if array.dtype.kind not in "iub":
        as_floats = floats(array, name)
        if not np.array_equal(as_floats, np.floor(as_floats)):
            raise ValueError(f"{name}: expected whole numbers")
        array = as_floats
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"{name}: expected an array of one axis, got one of {_axes(array.ndim)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name}: expected length {length}, got {len(array)}")
    return array


def check_finite(array: Floats, name: str) -> None:
    """Refuses NaN and infinities, and says where the first is."""
    # One pass without a copy; a sum that is not finite may still be one of finite numbers.
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    flat = array.reshape(-1)
    for first in range(0, flat.size, _BLOCK):
        bad = ~np.isfinite(flat[first : first + _BLOCK])
        if bad.any():
            k = first + int(bad.argmax())
            place = np.unravel_index(k, array.shape)
            where = ", ".join(str(int(axis)) for axis in place)
            raise ValueError(
                f"{name}: {flat[k]} at [{where}]; expected finite numbers: "
                "leave out or fill in what is missing"
            )


def csr(value: Any, name: str) -> tuple[Floats, Integers, Integers, int]:
    """Data, column indices, row starts and the number of columns of a sparse matrix."""
    rows = value.tocsr()
    if not rows.has_canonical_format:
        if rows is value:
            rows = rows.copy()
        rows.sum_duplicates()
    return (
        floats(rows.data, name),
        np.ascontiguousarray(rows.indices, dtype=np.int64),
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        int(rows.shape[1]),
    )


def _axes(count: int) -> str:
    return {0: "no axes", 1: "one axis", 2: "two axes"}.get(count, f"{count} axes")
