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
mod linear;
mod models;
mod pages;
mod policy;
mod portfolio;
mod reports;
mod sequences;
mod shell;
