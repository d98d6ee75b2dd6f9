//! A run with everything decided: how to solve, from where, what comes of it.
//!
//! An application makes its data and settings a [`Task`]; a [`Solver`] says how to solve it.
//! [`Task::fit`] does the rest and returns a [`Fit`]. A face that has more to do around the run
//! (progress, checkpoints, threads of its own) makes a [`Plan`] and runs that.

mod advice;
pub mod condensed;
pub mod inference;
pub mod penalty;
mod plan;
mod settings;
mod start;
mod task;
pub mod tuning;

pub use advice::Advice;
pub use plan::{AUTO, Chosen, Plan, RunError, Solver};
pub use settings::{MethodSettings, rule_name};
pub use start::Start;
pub use task::{Fit, Ran, Task, Watch};
