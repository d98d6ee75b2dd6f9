//! Data without a file, by a seed.

pub(crate) mod factor_model;
pub(crate) mod groups;
pub(crate) mod linear_model;
pub(crate) mod markov_language;
pub(crate) mod process;
pub(crate) mod random_mdp;
pub(crate) mod textbook;
