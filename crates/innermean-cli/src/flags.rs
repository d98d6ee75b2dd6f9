//! The flags that commands share, and what they accept.

pub(crate) mod columns;
pub(crate) mod inference;
pub(crate) mod input;
pub(crate) mod knobs;
pub(crate) mod number;
pub(crate) mod output;
pub(crate) mod regularizer;
pub(crate) mod solver;
pub(crate) mod spelling;
pub(crate) mod validation;
