//! The tests that drive the program as a user would, in one program.

mod desk;

mod bags;
mod book;
mod checkpoints;
mod compare;
mod damaged;
mod hard_cases;
mod help;
mod inference;
mod kills;
mod known_digits;
mod larger_than_memory;
mod linear;
mod models;
mod pages;
mod policy;
mod portfolio;
mod precincts;
mod reports;
mod row_files;
mod sequences;
mod shell;
mod time_limits;
