//! Standard errors and confidence intervals.
//!
//! An estimate theta-hat solves `F'(theta) + g'(theta) = 0`, where F' is a sum of scores, one for
//! each independent unit: a term, a cluster of terms such as those of one episode, or a sample of a
//! single mean. With the Hessian `H = F'' + g''` and the scores `s_c`, the sandwich formula (Huber,
//! 1967; White, 1980)
//!
//! ```text
//! Cov(theta-hat) = H^-1 (sum_c s_c s_c') H^-1
//! ```
//!
//! is consistent whether or not the loss is a log-likelihood.
//!
//! | estimate | units | function |
//! |---|---|---|
//! | regression, classification, labels of groups | terms, or clusters of them | [`Sandwich::of_terms`] |
//! | projected Bellman error, LSTD | transitions, episodes, or one trajectory | [`Sandwich::of_samples`] |
//! | mean squared Bellman error from a log | transitions or episodes | [`policy::bellman`] |
//! | instrumental variables | rows or clusters | [`Moments::covariance`](crate::Moments::covariance) |
//! | any of them | units drawn with replacement | [`bootstrap()`] |
//!
//! # Conventions
//!
//! - **Weighted terms** ([`Weighted`](crate::Weighted)): the weight multiplies the loss of a term and
//!   so its score, as in statsmodels' `WLS` and the `var_weights` of its `GLM`; n is the number of
//!   terms, not the sum of the weights. A weight that counts repetitions is better given as
//!   repeated terms.
//! - **Ridge penalties** belong to the estimator: H contains `g''`, and scores are centred, so that
//!   the covariance is that of the penalised estimate about its own expectation. The bias towards
//!   zero is not part of it. An intercept outside of the penalty needs nothing special.
//! - **Scaled columns**: a covariance in other units is that of a linear map of theta,
//!   [`Covariance::transformed`]; the value of a state or a prediction is a linear combination,
//!   [`Covariance::of_combinations`].
//! - Intervals use Student's t with `n - d` degrees of freedom, with one less than the number of
//!   clusters where there are clusters.
//!
//! What has no asymptotically normal distribution is refused with the reason, see
//! [`InferenceError`].

use crate::setting::InvalidSetting;

pub use bootstrap::{Replicates, Resampling, bootstrap, bootstrap_while, refit_terms};
pub use covariance::Covariance;
pub use dependence::{Clusters, Correction, Dependence};
pub use sandwich::Sandwich;

mod bootstrap;
mod bread;
mod covariance;
mod dependence;
pub mod distributions;
pub mod policy;
mod sandwich;

pub(crate) use bread::Bread;

/// Why there is no standard error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferenceError {
    /// g has an l1 norm.
    #[error(
        "the penalty has a kink at zero (l1), where estimates are not normally distributed: use an \
         l2 penalty or none"
    )]
    PenaltyKink,
    /// A bound on a coordinate holds with equality.
    #[error(
        "the constraint on coefficient {0} is active: its estimate is not normally distributed"
    )]
    ActiveConstraint(usize),
    /// The coordinates sum to 1.
    #[error("the coefficients are constrained to sum to 1: standard errors need free ones")]
    Budget,
    /// g is not a sum over coordinates.
    #[error("the second derivatives of this penalty are not known")]
    UnknownPenalty,
    /// phi has a kink.
    #[error("the loss has kinks, so that it has no Hessian: use the bootstrap or a smooth loss")]
    LossKink,
    /// H is not positive definite.
    #[error(
        "the data do not identify all coefficients, the Hessian is singular: look for collinear \
         columns or separable classes, or add an l2 penalty"
    )]
    Unidentified,
    /// The objective falls without end.
    #[error(
        "the objective still falls along a direction in which it flattens out, as with separable \
         classes: there may be no minimum; add an l2 penalty"
    )]
    Separable,
    /// theta is not where the gradient vanishes.
    #[error(
        "theta is not a minimum: a Newton step from it moves a coefficient by {0:.1e} standard \
         errors; solve to a smaller tolerance"
    )]
    NotSolved(f64),
    /// Whoever asked for it has no more time.
    #[error("the time was up before they could be computed")]
    OutOfTime,
    /// Too few observations.
    #[error("{units} independent units are too few for {d} coefficients")]
    TooFewUnits {
        /// Terms, samples or clusters.
        units: usize,
        /// Identified coefficients.
        d: usize,
    },
    /// A state from which one transition was seen.
    #[error(
        "{states} of {of} states were left only once, which says nothing about the variance of \
         what follows: use the projected Bellman error"
    )]
    SingleTransitions {
        /// How many.
        states: usize,
        /// Of all states that were left.
        of: usize,
    },
    /// The formula does not apply to this problem.
    #[error("{0}")]
    WrongForm(&'static str),
    /// Something that was given is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidSetting),
}
