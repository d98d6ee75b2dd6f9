//! The applications of `innermean-apps`: arrays and settings in, a fit out.
//!
//! Settings come as JSON, as the applications' own types read them, so that their names and
//! defaults stand in one place; an answer goes as JSON, beside arrays for what is long.

#![expect(clippy::needless_pass_by_value, reason = "an argument of Python is extracted by value")]

mod bags;
mod fitted;
mod linear;
mod moments;
mod policy;
mod portfolio;
mod sequences;

pub(crate) use bags::fit_bags;
pub(crate) use linear::fit_linear;
pub(crate) use moments::fit_moments;
pub(crate) use policy::fit_policy;
pub(crate) use portfolio::fit_portfolio;
pub(crate) use sequences::fit_sequences;
