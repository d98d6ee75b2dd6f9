"""An f of your own: compiled by numba, in batches of numpy, by JAX or by torch."""
