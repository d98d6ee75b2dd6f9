"""Makes d4rl.hdf5, d4rl_bare.hdf5, minari.hdf5 and the .parquet of the same beside it: python make_logs.py (numpy,
h5py, pyarrow).

Three episodes of 3, 2 and 3 steps; the second is cut off, the others end. In step t of episode e one
observes [t + 1, e^2 + t^2 / 2], the action is t / 4 and the reward e - t.
"""

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LENGTHS = [3, 2, 3]
CUT = [1]


def observed(e, t):
    return [t + 1.0, e * e + 0.5 * t * t]


steps = [(e, t) for e, length in enumerate(LENGTHS) for t in range(length)]
last = [t + 1 == LENGTHS[e] for e, t in steps]
terminal = np.array([end and e not in CUT for (e, _), end in zip(steps, last)])
cut = np.array([end and e in CUT for (e, _), end in zip(steps, last)])
arrays = {
    "observations": np.array([observed(e, t) for e, t in steps], dtype="float32"),
    "next_observations": np.array([observed(e, t + 1) for e, t in steps], dtype="float32"),
    "actions": np.array([[t / 4] for _, t in steps], dtype="float32"),
    "rewards": np.array([e - t for e, t in steps], dtype="float32"),
    "terminals": terminal,
    "timeouts": cut,
}


def d4rl(path, names):
    with h5py.File(path, "w") as file:
        for name in names:
            file.create_dataset(name, data=arrays[name], compression="gzip")
        file.create_dataset("infos/qpos", data=np.zeros((len(steps), 2)))
        file.create_dataset("metadata/algorithm", data=np.bytes_("none"))


d4rl("d4rl.hdf5", list(arrays))
d4rl("d4rl_bare.hdf5", [name for name in arrays if name != "next_observations"])

with h5py.File("minari.hdf5", "w") as file:
    # Not in the order of their numbers.
    for e, length in reversed(list(enumerate(LENGTHS))):
        group = file.create_group(f"episode_{e}")
        group.attrs["total_steps"] = length
        group["observations"] = np.array([observed(e, t) for t in range(length + 1)])
        group["actions"] = np.array([[t / 4] for t in range(length)])
        group["rewards"] = np.array([float(e - t) for t in range(length)])
        group["terminations"] = np.array([t + 1 == length and e not in CUT for t in range(length)])
        group["truncations"] = np.array([t + 1 == length and e in CUT for t in range(length)])
        group["infos/step"] = np.arange(length + 1)

# As data frames write arrays: a list in each cell, in groups of three rows.
lists = {name: pa.array(list(array) if array.ndim > 1 else array) for name, array in arrays.items()}
fixed = [list(row) for row in arrays["next_observations"]]
lists["next_observations"] = pa.array(fixed, pa.list_(pa.float32(), 2))
lists["uneven"] = pa.array([[1.0] * (1 + t % 2) for t in range(len(steps))])
lists["gaps"] = pa.array([[None if t == 1 else 1.0, 2.0] for t in range(len(steps))])
pq.write_table(pa.table(lists), "d4rl.parquet", row_group_size=4)

# As Minari's tables: a row for each episode, with one observation more than steps.
def each(item, more=0):
    return [[item(e, t) for t in range(length + more)] for e, length in enumerate(LENGTHS)]


lists = pa.list_(pa.list_(pa.float32()))
episodes = {
    "id": pa.array(range(len(LENGTHS))),
    "seed": pa.array([None, 3, 4]),
    "observations": pa.array(each(observed, 1), lists),
    "actions": pa.array(each(lambda e, t: [t / 4]), pa.list_(pa.list_(pa.float32(), 1))),
    "rewards": pa.array(each(lambda e, t: float(e - t))),
    "terminations": pa.array(each(lambda e, t: t + 1 == LENGTHS[e] and e not in CUT)),
    "truncations": pa.array(each(lambda e, t: t + 1 == LENGTHS[e] and e in CUT)),
    "infos": pa.array(each(lambda e, t: t, 1)),
}
pq.write_table(pa.table(episodes), "minari.parquet", row_group_size=2)
del episodes["rewards"], episodes["infos"]
short = {"rewards": pa.array([[0.0, -1.0, -2.0], [1.0], [2.0, 1.0, 0.0]])}
pq.write_table(pa.table(episodes | short), "short.parquet")
ragged = {"observations": pa.array([[[1.0, 0.0]], [[1.0, 0.0], [2.0]], []], lists)}
ragged["rewards"] = pa.array([[], [1.0], []], pa.list_(pa.float64()))
pq.write_table(pa.table(ragged), "ragged.parquet")

with h5py.File("other.hdf5", "w") as file:
    file["x"] = np.arange(3.0)
