//! `check_problem` finds mistakes, and the documented problem of one's own has none.

mod check_hints;
mod check_problem;
mod own_problem;
