"""Tables cut into leaves: a folder of arrays with a checksum each."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innermean._arrays import Floats

__all__ = ["LEAF", "Folder", "LeafLost", "prepare"]

#: The rows of a leaf.
LEAF = 1 << 15
_FORMAT = 1
_INDEX = "leaves.json"


class LeafLost(Exception):
    """A leaf cannot be read: which one, and why."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(part, why)
        self.part, self.why = part, why

    def __str__(self) -> str:
        return f"{self.part}: {self.why}"


@dataclass(frozen=True)
class Folder:
    """A folder that :func:`prepare` has written.

    Attributes
    ----------
    path
        Where it is.
    columns
        The names of the features.
    rows
        How many rows there are.
    groups
        The names of the groups in the order of their rows; None where rows are terms of their own.
    leaves
        For each leaf its rows and its checksum.
    """

    path: str
    columns: list[str]
    rows: int
    groups: list[Any] | None
    leaves: list[dict[str, Any]]

    @classmethod
    def open(cls, path: str | os.PathLike[str] | Folder) -> Folder:
        """Of a path, or itself."""
        if isinstance(path, Folder):
            return path
        index = pathlib.Path(path) / _INDEX
        try:
            said = json.loads(index.read_text())
        except FileNotFoundError:
            raise ValueError(f"{path}: expected a folder of leaves; prepare() makes one") from None
        except ValueError as error:
            raise ValueError(f"{index}: {error}; prepare the folder again") from error
        if said.pop("format", None) != _FORMAT:
            raise ValueError(f"{index}: expected format {_FORMAT}; prepare the folder again")
        return cls(os.path.abspath(path), **said)

    def load(self, number: int) -> tuple[Floats, Floats]:
        """The rows of a leaf, mapped, and what is beside them: labels, or runs of groups.

        Raises
        ------
        LeafLost
            If it is not there, or not what was prepared.
        """
        paths = _names(pathlib.Path(self.path), number)
        try:
            rows, beside = np.load(paths[0], mmap_mode="r"), np.load(paths[1])
        except (OSError, ValueError) as error:
            raise LeafLost(f"leaf {number} ({paths[0]})", f"it cannot be read: {error}") from error
        if _checksum(rows, beside) != self.leaves[number]["checksum"]:
            why = "it is not what was prepared, its checksum is another one; prepare it again"
            raise LeafLost(f"leaf {number} ({paths[0]})", why)
        return rows, beside


def _names(folder: pathlib.Path, number: int) -> tuple[pathlib.Path, pathlib.Path]:
    name = f"leaf-{number:06}"
    return folder / f"{name}.npy", folder / f"{name}.terms.npy"


def _checksum(rows: Floats, beside: Floats) -> str:
    made = hashlib.blake2b(digest_size=16)
    for array in (rows, beside):
        made.update(repr(array.shape).encode())
        made.update(np.ascontiguousarray(array).data)
    return made.hexdigest()


def prepare(
    source: Any,
    out: str | os.PathLike[str],
    *,
    group: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    leaf_rows: int = LEAF,
) -> Folder:
    """Cuts a table into leaves, once.

    Parameters
    ----------
    source
        A table of pandas, polars or Arrow, the path of a CSV or Parquet file or of a folder of
        Parquet files, or a dataset of Ray. Without `group` files are read a few rows at a time.
    out
        The folder to be written, which every worker must see under this path.
    group
        The column that says of which group a row is; rows are sorted by it.
    label
        The column of numbers that rows are fitted to, where they have labels of their own.
    features
        The columns of features; by default all others.
    leaf_rows
        The rows of a leaf, at most ``LEAF``.

    Returns
    -------
    Folder
        What was written. An error leaves nothing.
    """
    if not 1 <= leaf_rows <= LEAF:
        raise ValueError(f"leaf_rows: expected a number from 1 to {LEAF}, got {leaf_rows}")
    if (group is None) == (label is None):
        raise ValueError("prepare: expected either group=... or label=..., the name of a column")
    target = pathlib.Path(out)
    if target.exists():
        raise ValueError(f"{target}: it is there; remove it first, or choose another folder")
    part = target.with_name(target.name + ".part")
    part.mkdir(parents=True)
    try:
        writer = _Writer(part, group, label, features, leaf_rows, _name(source))
        for batch in _batches(source, group):
            writer.add(batch)
        writer.end()
        part.rename(target)
    except BaseException:
        for file in part.iterdir():
            file.unlink()
        part.rmdir()
        raise
    return Folder.open(target)


def _name(source: Any) -> str:
    return str(source) if isinstance(source, (str, os.PathLike)) else "the table"


def _batches(source: Any, group: str | None) -> Iterator[Any]:
    """Tables of Arrow, sorted by group."""
    import pyarrow as pa
    import pyarrow.dataset

    if hasattr(source, "iter_batches") and hasattr(source, "sort"):  # a dataset of Ray
        if group is not None:
            source = source.sort(group)
        yield from source.iter_batches(batch_format="pyarrow")
        return
    if isinstance(source, (str, os.PathLike)):
        kind = "csv" if str(source).endswith(".csv") else "parquet"
        data = pyarrow.dataset.dataset(str(source), format=kind)
        if group is None:
            yield from (pa.Table.from_batches([batch]) for batch in data.to_batches())
            return
        table = data.to_table()
    elif isinstance(source, pa.Table):
        table = source
    elif hasattr(source, "to_arrow"):
        table = source.to_arrow()
    else:
        table = pa.Table.from_pandas(source, preserve_index=False)
    yield table if group is None else table.sort_by(group)


class _Writer:
    """Collects rows, and writes a leaf as soon as it is known what comes after it."""

    def __init__(
        self,
        folder: pathlib.Path,
        group: str | None,
        label: str | None,
        features: Sequence[str] | None,
        leaf_rows: int,
        source: str,
    ) -> None:
        self.folder, self.key, self.leaf_rows = folder, group or label, leaf_rows
        self.source = source
        self.by_group = group is not None
        self.columns = None if features is None else list(features)
        self.rows: list[Floats] = []
        self.keys: list[Floats] = []
        self.waiting = self.read = 0
        self.names: list[Any] = []
        #: The group of the last row of the leaf before.
        self.before = -1.0
        self.leaves: list[dict[str, Any]] = []

    def add(self, table: Any) -> None:
        missing = {self.key, *(self.columns or [])} - set(table.column_names)
        if missing:
            known = ", ".join(table.column_names)
            raise ValueError(f"{self.source}: there is no column {min(missing)!r}; it has {known}")
        if self.columns is None:
            self.columns = [name for name in table.column_names if name != self.key]
        if not self.columns:
            raise ValueError(f"{self.source}: expected a column of features beside {self.key!r}")
        if table.num_rows == 0:
            return
        rows = np.column_stack([self._numbers(table, name) for name in self.columns])
        keys = self._groups(table) if self.by_group else self._numbers(table, str(self.key))
        self.rows.append(rows)
        self.keys.append(keys)
        self.read += len(rows)
        self.waiting += len(rows)
        if self.waiting > self.leaf_rows:
            self._cut(at_end=False)

    def _numbers(self, table: Any, name: str) -> Floats:
        try:
            column = table.column(name).to_numpy().astype(np.float64)
        except (TypeError, ValueError):
            given = table.schema.field(name).type
            sentence = f"{self.source}: column {name!r}: expected numbers, got {given}"
            raise ValueError(sentence) from None
        bad = ~np.isfinite(column)
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(
                f"{self.source}: row {self.read + row + 1}, column {name!r}: {column[row]}; "
                "expected finite numbers: leave out or fill in what is missing"
            )
        return column

    def _groups(self, table: Any) -> Floats:
        """The number of the group of each row."""
        keys = table.column(self.key).to_numpy()
        first = np.ones(len(keys), dtype=bool)
        first[1:] = keys[1:] != keys[:-1]
        names = keys[first].tolist()
        goes_on = bool(self.names) and self.names[-1] == names[0]
        numbers = np.cumsum(first) - 1 + len(self.names) - goes_on
        self.names.extend(names[goes_on:])
        return numbers.astype(np.float64)

    def end(self) -> None:
        if self.read == 0:
            raise ValueError(f"{self.source}: expected at least one row")
        self._cut(at_end=True)
        said = {
            "format": _FORMAT,
            "columns": self.columns,
            "rows": self.read,
            "groups": self.names if self.by_group else None,
            "leaves": self.leaves,
        }
        (self.folder / _INDEX).write_text(json.dumps(said))

    def _cut(self, *, at_end: bool) -> None:
        rows, keys = np.concatenate(self.rows), np.concatenate(self.keys)
        at = 0
        while len(rows) - at > self.leaf_rows or (at_end and at < len(rows)):
            end = min(at + self.leaf_rows, len(rows))
            after = keys[end] if end < len(rows) else -1.0
            own = keys[at:end]
            self._write(rows[at:end], self._runs(own, after) if self.by_group else own)
            self.before, at = own[-1], end
        self.rows, self.keys, self.waiting = [rows[at:]], [keys[at:]], len(rows) - at

    def _runs(self, groups: Floats, after: float) -> Floats:
        """For each group its number, its rows here, and whether it has rows elsewhere."""
        numbers, counts = np.unique(groups, return_counts=True)
        is_open = (numbers == self.before) | (numbers == after)
        return np.column_stack([numbers, counts.astype(np.float64), is_open.astype(np.float64)])

    def _write(self, rows: Floats, beside: Floats) -> None:
        rows, beside = np.ascontiguousarray(rows), np.ascontiguousarray(beside)
        for path, array in zip(_names(self.folder, len(self.leaves)), (rows, beside)):
            np.save(path, array)
        self.leaves.append({"rows": len(rows), "checksum": _checksum(rows, beside)})


def labels_of(labels: Any, folder: Folder) -> Floats:
    """A label for each group, in their order."""
    assert folder.groups is not None
    if isinstance(labels, (str, os.PathLike)):
        labels = next(iter(_batches(labels, None)))
    if hasattr(labels, "column_names") and hasattr(labels, "itercolumns"):
        names, numbers = (labels.column(k).to_pylist() for k in (0, 1))
        labels = dict(zip(names, numbers))
    elif hasattr(labels, "to_dict") and not isinstance(labels, dict):  # a series of pandas
        labels = labels.to_dict()
    missing = [name for name in folder.groups if name not in labels]
    if missing:
        raise ValueError(f"labels: there is none for group {missing[0]!r}")
    found = np.array([labels[name] for name in folder.groups], dtype=np.float64)
    bad = ~np.isfinite(found)
    if bad.any():
        name = folder.groups[int(bad.argmax())]
        raise ValueError(f"labels: group {name!r}: {found[bad][0]}; expected a finite number")
    return found


def shares(count: int, workers: int) -> Iterable[list[int]]:
    """Neighbours together, about equally many for each worker."""
    cuts = [k * count // workers for k in range(workers + 1)]
    return [list(range(a, b)) for a, b in zip(cuts, cuts[1:]) if b > a]
