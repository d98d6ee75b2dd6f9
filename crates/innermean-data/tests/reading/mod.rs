//! Files as people have them: what is read is what was written, and what is wrong is named.

mod arrays;
mod errors;
mod formats;
mod frame;
mod libsvm;
mod packed;
mod panel;
#[cfg(unix)]
mod pipes;
mod real_files;
mod round_trip;
mod vector;
