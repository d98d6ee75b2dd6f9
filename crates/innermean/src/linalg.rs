//! Numbers: the vector kernels and what is made of them.

pub(crate) mod blocks;
pub mod cholesky;
pub(crate) mod eigen;
pub mod elementary;
pub(crate) mod elimination;
pub(crate) mod exponential;
pub mod gram;
pub(crate) mod interior;
pub(crate) mod long;
pub(crate) mod precise;
pub mod product;
pub(crate) mod scalar;
pub(crate) mod tridiagonal;
pub mod vector;
