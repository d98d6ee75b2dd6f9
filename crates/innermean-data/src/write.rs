//! Files that are written.

pub(crate) mod file;
pub(crate) mod table;
