//! What the tests measure the library against: written from the formulas, sharing no code with it.

#![allow(dead_code, reason = "every test file uses a part of it")]

pub(crate) mod chain;
pub(crate) mod checks;
pub(crate) mod conic;
pub(crate) mod dense;
pub(crate) mod market;
pub(crate) mod process;
pub(crate) mod regression;
pub(crate) mod toy;
