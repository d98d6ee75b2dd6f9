//! What is printed and written: for people, for programs, and while they wait.

pub(crate) mod estimates;
pub(crate) mod grid;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod model;
pub(crate) mod named_numbers;
pub(crate) mod predictions;
pub(crate) mod progress;
pub(crate) mod sparkline;
pub(crate) mod stdout;
pub(crate) mod trace;
pub(crate) mod validation;
