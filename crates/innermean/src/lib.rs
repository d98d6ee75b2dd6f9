//! Minimise a loss of averages.

pub mod merit;
pub mod regularizer;
pub mod vector;
