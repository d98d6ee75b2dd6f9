//! `check_problem` finds mistakes, and the documented problem of one's own has none.

#[path = "../support/mod.rs"]
mod support;

mod check_hints;
mod check_problem;
mod own_problem;
