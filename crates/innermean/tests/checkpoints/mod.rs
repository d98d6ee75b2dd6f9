//! Runs that are stopped, written down and gone on with: they end with the bits of those that were
//! not.

mod driver;
mod methods;
mod pieces;
mod refused;
mod witness;
