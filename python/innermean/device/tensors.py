"""Arrays of any kind as tensors of doubles on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from innermean import _arrays

__all__ = ["Tensor", "on", "placed", "vector"]

#: A tensor of torch, which is imported where one is made.
Tensor = Any


def placed(device: Any, what: str = "device") -> Any:
    """The device by that name; an error says what is missing, for what."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{what} needs torch: pip install innermean[torch]") from error
    try:
        found = torch.device(device)
        torch.empty(1, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError) as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"device={device!r}: expected one that torch can use: {first}") from error
    return found


def on(value: Any, name: str, device: Any, *, ndim: int | None = None) -> Tensor:
    """`value` as doubles on the device in C order: itself where it is that already.

    Tensors and whatever else has ``__dlpack__``, such as arrays of CuPy or JAX, are taken without a
    way through the host.
    """
    import torch

    if isinstance(value, torch.Tensor):
        found = value.detach()
    elif hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        found = torch.from_dlpack(value)
    else:
        found = _shared(_arrays.floats(value, name, ndim=ndim, finite=False))
    if found.is_complex():
        raise ValueError(f"{name}: expected numbers, got {found.dtype}")
    if ndim is not None and found.ndim != ndim:
        raise ValueError(f"{name}: expected an array of {ndim} axes, got one of {found.ndim}")
    found = found.to(device=device, dtype=torch.float64).contiguous()
    if not bool(torch.isfinite(found.sum())) and not bool(torch.isfinite(found).all()):
        place = tuple(int(axis) for axis in (~torch.isfinite(found)).nonzero()[0])
        shown = ", ".join(str(axis) for axis in place)
        raise ValueError(
            f"{name}: {found[place].item()} at [{shown}]; expected finite numbers: "
            "leave out or fill in what is missing"
        )
    return found


def vector(value: Any, name: str, device: Any, length: int) -> Tensor:
    """A number for each of so many."""
    found = on(value, name, device, ndim=1)
    if len(found) != length:
        raise ValueError(f"{name}: expected length {length}, got {len(found)}")
    return found


def _shared(array: np.ndarray) -> Tensor:
    """The memory of an array, which nothing here writes to."""
    import torch

    return torch.from_numpy(array if array.flags.writeable else array.copy())
