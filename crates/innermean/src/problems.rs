//! Problems people arrive with: each file holds the data's view as an f, and what is known about
//! it.

pub mod bags;
pub mod bellman;
pub mod dependence;
pub mod leaves;
pub mod linear;
pub mod moments;
pub mod mspbe;
pub mod portfolio;
pub mod scaling;
pub mod sequences;
pub mod transitions;
