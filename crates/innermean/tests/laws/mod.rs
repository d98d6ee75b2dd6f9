//! The laws of phi and g, and of what makes them up.

mod label_merits;
mod merit_laws;
mod multinomial;
mod negative_log;
mod numerical;
mod quadratic_form;
mod regularizer_laws;
mod repeated_steps;
mod tail_merits;
