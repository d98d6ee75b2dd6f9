//! The laws of phi and g, and of what makes them up.

mod drawn;
mod label_merits;
mod margin_merits;
mod merit_examples;
mod merit_laws;
mod multinomial;
mod negative_log;
mod numerical;
mod quadratic_form;
mod regularizer_examples;
mod regularizer_laws;
mod repeated_steps;
mod simplex;
mod tail_merits;
