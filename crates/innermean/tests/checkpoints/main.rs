//! Runs that are stopped, written down and gone on with: they end with the bits of those that were
//! not.

#[path = "../support/mod.rs"]
mod support;

mod driver;
mod methods;
mod refused;
mod witness;
