//! What files may hold beside tables of text: a file for each format.

pub(crate) mod corpus;
#[cfg(feature = "mat")]
pub(crate) mod hdf5_log;
pub(crate) mod libsvm;
#[cfg(any(feature = "mat", feature = "parquet"))]
pub(crate) mod log_arrays;
#[cfg(feature = "mat")]
pub(crate) mod mat;
pub(crate) mod matrix;
pub(crate) mod npy;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod row_file;
pub(crate) mod toml;
pub(crate) mod vector;
