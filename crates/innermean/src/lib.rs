//! Minimise a loss of averages.

pub mod merit;
pub mod regularizer;
mod scalar;
pub mod setting;
pub mod vector;
