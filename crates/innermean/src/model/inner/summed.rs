//! An f that is F itself: one term, made of sums over data that are elsewhere.

use super::Lost;

/// What an f says of itself whose only term is the whole of `F(theta) = (1/n) sum_i
/// phi_i(fbar_i(theta))`, while its own phi is `u -> u`: all that methods and proofs otherwise find
/// in the terms. See [`Folded`](crate::leaves::Folded).
pub trait Summed: Send + Sync {
    /// Whether [`Self::hessian`] can be had.
    fn has_hessian(&self) -> bool;

    /// `F''` at theta, d rows of length d; Gauss-Newton's matrix where averages bend.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn hessian(&self, theta: &[f64]) -> Result<Vec<f64>, Lost>;

    /// An estimate of the Lipschitz constant of `F'` near theta.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn smoothness(&self, theta: &[f64]) -> Result<f64, Lost>;

    /// `((1/n) sum_i w_i^2)^(1/2)` with `w_i = phi_i'(fbar_i(theta))`.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn slopes(&self, theta: &[f64]) -> Result<f64, Lost>;

    /// The sizes of what is added up, if they are known: rounding is bounded by them.
    fn columns(&self) -> Option<Columns<'_>>;
}

/// Sizes of the columns of averages that are affine, in root mean square over the terms, and the
/// roundings that sums of them pass through.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// Of every column.
    pub sizes: &'a [f64],
    /// Of the offsets.
    pub offset: f64,
    /// Units of rounding of a sum over all terms.
    pub roundings: f64,
    /// Those of an average.
    pub of_average: f64,
}
