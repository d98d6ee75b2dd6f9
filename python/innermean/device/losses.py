"""phi on a device: value, slope and second derivative of many averages at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from innermean.device.tensors import Tensor, on
from innermean.phi import Phi

__all__ = ["KNOWN", "Loss", "of"]

#: From averages to the value, the slope and the second derivative of each.
Loss = Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]


def _square(torch: Any, weight: float) -> Loss:
    return lambda u: (weight * u * u, 2.0 * weight * u, torch.full_like(u, 2.0 * weight))


def _downside_square(torch: Any, weight: float) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        low = u.clamp(max=0.0)
        return weight * low * low, 2.0 * weight * low, 2.0 * weight * (u < 0.0).to(u.dtype)

    return loss


def _huber(torch: Any, weight: float, width: float) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        near = u.clamp(-width, width)
        bend = weight / width
        # With the nearest point m of the parabola: m (u - m/2) / width on either side of it.
        return bend * near * (u - 0.5 * near), bend * near, bend * (u.abs() < width).to(u.dtype)

    return loss


def _exponential(torch: Any, weight: float, rate: float) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        slope = weight * torch.exp(rate * u)
        return weight * torch.expm1(rate * u) / rate, slope, rate * slope

    return loss


def _logistic(torch: Any, labels: Tensor) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        margin = labels * u
        p = torch.sigmoid(-margin)
        # log(1 + e^-m) without the threshold beyond which torch's softplus is a straight line.
        value = (-margin).clamp(min=0.0) + torch.log1p(torch.exp(-margin.abs()))
        return value, -labels * p, p * torch.sigmoid(margin)

    return loss


def _squared_hinge(torch: Any, labels: Tensor) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        short = (1.0 - labels * u).clamp(min=0.0)
        return short * short, -2.0 * labels * short, 2.0 * (short > 0.0).to(u.dtype)

    return loss


def _smoothed_hinge(torch: Any, width: float, labels: Tensor) -> Loss:
    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        short = 1.0 - labels * u
        near = short.clamp(0.0, width)
        bends = (short > 0.0) & (short < width)
        value = near * (short - 0.5 * near) / width
        return value, -labels * near / width, bends.to(u.dtype) / width

    return loss


def _barrier(torch: Any, weight: Tensor, u: Tensor) -> Tensor:
    """``-weight log u``, without end where u is 0 or below; nothing where the weight is 0."""
    inside = torch.where(u > 0.0, -weight * torch.log(u), torch.inf)
    return torch.where(weight > 0.0, inside, 0.0)


def _over(torch: Any, weight: Tensor, u: Tensor) -> Tensor:
    """``weight / u``; 0 where the weight is."""
    return torch.where(weight > 0.0, weight / u, 0.0)


def _bernoulli(torch: Any, proportions: Tensor) -> Loss:
    q, rest = proportions, 1.0 - proportions

    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        other = 1.0 - u
        value = _barrier(torch, q, u) + _barrier(torch, rest, other)
        slope = _over(torch, rest, other) - _over(torch, q, u)
        return value, slope, _over(torch, q, u * u) + _over(torch, rest, other * other)

    return loss


def _poisson(torch: Any, scale: float, counts: Tensor, exposures: Tensor) -> Loss:
    n, c = scale * exposures, scale * counts
    least = torch.xlogy(c, c / n) - c

    def loss(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        value = n * u + _barrier(torch, c, u) + least
        return value, n - _over(torch, c, u), _over(torch, c, u * u)

    return loss


#: The kinds of phi that are known here: those with a slope everywhere.
KNOWN: dict[str, Callable[..., Loss]] = {
    "square": _square,
    "downside_square": _downside_square,
    "huber": _huber,
    "exponential": _exponential,
    "logistic": _logistic,
    "squared_hinge": _squared_hinge,
    "smoothed_hinge": _smoothed_hinge,
    "bernoulli": _bernoulli,
    "poisson": _poisson,
}


def of(phi: Phi, device: Any) -> Loss:
    """That of a phi of the library, with its vectors on the device."""
    import torch

    if phi.kind not in KNOWN:
        raise ValueError(
            f"phi: {phi.kind} is none for a device; expected one of {', '.join(KNOWN)}, or leave "
            "out device"
        )
    vectors = [on(vector, "phi", device) for vector in phi._vectors]
    plain = KNOWN[phi.kind](torch, *phi._numbers, *vectors)
    if phi._weights is None:
        return plain
    weights = on(phi._weights, "weights", device)

    def weighted(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        value, slope, second = plain(u)
        return weights * value, weights * slope, weights * second

    return weighted
