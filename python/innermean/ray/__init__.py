"""Data larger than a machine: rows in leaves, held by workers of Ray.

:func:`prepare` cuts a table into leaves, once. :func:`linear`, :func:`bags` and :func:`solve` then
have workers hold them: every pass is made where the rows are, and the method and its proof run
here. The bits of an answer depend neither on how many workers there are nor on who holds what.

Needs Ray: ``pip install innermean[ray]``.
"""

from innermean.ray.fits import Fit, bags, linear, solve
from innermean.ray.folder import LEAF, Folder, prepare
from innermean.ray.holding import Shard
from innermean.ray.workers import Workers

__all__ = ["LEAF", "Fit", "Folder", "Shard", "Workers", "bags", "linear", "prepare", "solve"]
