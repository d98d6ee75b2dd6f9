//! The laws of phi and g, and of what makes them up.

#[path = "../support/mod.rs"]
mod support;

mod label_merits;
mod merit_laws;
mod negative_log;
mod quadratic_form;
mod regularizer_laws;
mod repeated_steps;
