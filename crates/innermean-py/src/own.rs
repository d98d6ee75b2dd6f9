//! An f or phi of the user's own: compiled to machine code, or called in batches of rows.

pub(crate) mod batched;
pub(crate) mod curve;
pub(crate) mod kernel;
