"""Makes the files beside it, as other programs write them: python make.py (numpy, pyarrow, h5py, scipy)."""

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.io import savemat

np.savez_compressed("numpy.npz", X=np.arange(6.0).reshape(3, 2), y=np.array([7, 8, 7]))
np.save("fortran.npy", np.asfortranarray(np.arange(12.0).reshape(4, 3)))

mixed = pa.table({
    "user": pa.array(["ann", "bob", None, "ann"]).dictionary_encode(),
    "id": pa.array([2**63 - 1, 1, 2, 3]),
    "stars": pa.array([5, 3, 4, 1], pa.int32()),
    "flag": pa.array([True, False, True, True]),
    "x1": pa.array([0.5, None, 1.5, 2.5]),
    "x2": pa.array([1, 2, 3, 4], pa.float32()),
    "price": pa.array([1, 2, 3, 4], pa.decimal128(7, 2)),
    "when": pa.array([0, 1, 2, 3], pa.timestamp("ns")),
    "many": pa.array([[1], [2, 3], [], [4]]),
    "__index_level_0__": pa.array([3, 1, 2, 0]),
})
for packing in ["snappy", "zstd", "gzip"]:
    pq.write_table(mixed, f"{packing}.parquet", compression=packing, row_group_size=3, store_schema=False,
                   store_decimal_as_integer=True)


def matlab(path, variables):
    """A user block, dimensions the other way round, and the class as an attribute."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, (values, kind) in variables.items():
            dataset = file.create_dataset(name, data=np.asarray(values).T)
            dataset.attrs["MATLAB_class"] = np.bytes_(kind)
    with open(path, "r+b") as file:
        head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5 schema 1.00 ."
        file.write(head.ljust(116) + b"\0" * 8 + b"\x00\x02IM")


matrix = np.arange(6.0).reshape(3, 2)
matlab("one.mat", {"R": (matrix, "double"), "title": (np.array([[104, 105]], dtype="uint16"), "char")})
matlab("two.mat", {"X": (matrix.astype("float32"), "single"), "y": (np.array([[1], [0], [1]], dtype="uint8"), "logical")})
savemat("old.mat", {"a": np.eye(2)})
