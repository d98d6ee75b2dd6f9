//! Which method, and with which steps: rules, choices, and `auto`.

pub mod auto;
pub mod choice;
pub mod curvature;
pub(crate) mod spectrum;
pub mod steps;
