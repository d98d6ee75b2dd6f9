//! The tests of the readers and writers from outside, in one program.

mod archive;

mod generating;
mod mat;
mod parquet;
mod reading;
mod writers;
