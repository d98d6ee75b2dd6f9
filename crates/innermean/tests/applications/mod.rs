//! The problems that people arrive with: their functions are what they say, and their answers are
//! right.

mod bags;
mod bellman;
mod class_scores;
mod linear;
mod linear_answers;
mod policy_evaluation;
mod sequences;
mod traces;
mod transitions;
