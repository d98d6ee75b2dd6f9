//! The tests of the readers and writers from outside, in one program.

mod archive;

mod generating;
#[cfg(feature = "mat")]
mod hdf5_logs;
mod mat;
mod parquet;
mod reading;
mod writers;
