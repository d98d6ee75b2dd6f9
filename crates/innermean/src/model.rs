//! What is minimised: f, phi and g, the problem that they make, and tests of those that people
//! write themselves.

pub mod check;
pub(crate) mod class_scores;
pub mod collapse;
pub(crate) mod curve;
pub mod inner;
pub mod merit;
pub(crate) mod numbers;
pub mod problem;
pub mod regularizer;
pub(crate) mod row_data;
pub(crate) mod row_moments;
pub(crate) mod sample;
pub mod setting;
pub mod shared;
