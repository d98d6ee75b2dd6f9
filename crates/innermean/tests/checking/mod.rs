//! `check_problem` finds mistakes, and the examples have none.

mod check_hints;
mod check_problem;
mod examples;
mod slips;
