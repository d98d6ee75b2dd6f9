//! Generated data: the same seed gives the same bits, and the numbers are what the recipe says.

mod factor_model;
mod markov_language;
mod process;
mod random_mdp;
