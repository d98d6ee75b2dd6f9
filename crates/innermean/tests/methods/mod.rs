//! The methods: right answers, exact counts, no allocation in a step; and what they are on.

mod allocation;
mod allocation_primal_dual;
mod automatic_steps;
mod batch_answers;
mod batch_methods;
mod beyond;
mod composition;
mod composition_bellman;
mod composition_calls;
mod composition_state;
mod constraints;
mod default_steps;
mod driver;
mod multipliers;
mod optimum;
mod oracle_calls;
mod precise;
mod prox_linear;
mod quadratic_programs;
mod safeguards;
mod sparse;
mod spdc;
mod structure;
mod sublinear;
