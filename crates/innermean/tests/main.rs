//! The tests of the library from outside, in one program: linked once, and what they measure
//! against is compiled once.

mod allocations;
mod support;

mod applications;
mod auto;
mod batches;
mod certificates;
mod checking;
mod checkpoints;
mod comparison;
mod contract;
mod documented;
mod failures;
mod inference;
mod known_answers;
mod laws;
mod leaves;
mod methods;
mod newton;
mod row_data;
mod sequence_search;
mod stationarity;
mod theorems;
mod working_set;
