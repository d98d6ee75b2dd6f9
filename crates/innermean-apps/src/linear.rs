//! Linear models: a number, one of two classes or one of several, predicted by linear functions.
//!
//! ```
//! use innermean_apps::linear::{LinearData, LinearSettings, LinearTask, Loss, Rows, Target};
//! use innermean_apps::run::{Solver, Task, Watch};
//!
//! let mut settings = LinearSettings::default();
//! settings.loss = Loss::Huber;
//! let rows = Rows::dense(vec![0.0, 1.0, 2.0, 3.0]);
//! let target = Target::Numbers(vec![1.0, 3.0, 5.0, 7.0]);
//! let data = LinearData::new(vec!["x".to_owned()], rows, target)?;
//! let task = LinearTask::new(data, &settings)?;
//! let answer = task.fit(&Solver::default(), Watch::by(&mut ()))?.answer;
//! assert!((answer.coefficients[0] - 2.0).abs() < 1e-3);
//! assert!((answer.intercept.unwrap_or(0.0) - 1.0).abs() < 1e-2);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

mod class_weights;
mod classes;
mod condensed;
mod data;
mod error;
mod fit;
mod inference;
mod loss;
mod probabilities;
mod rows;
mod target;
mod task;

pub use class_weights::ClassWeights;
pub use classes::Classes;
pub use data::LinearData;
pub use error::LinearError;
pub use fit::{LinearFit, predicted_columns, probability};
pub use loss::Loss;
pub(crate) use probabilities::Probabilities;
pub use rows::Rows;
pub use target::Target;
pub use task::{HeldOut, LinearAnswer, LinearSettings, LinearTask};

/// The name of an intercept among coordinates.
pub const INTERCEPT: &str = "(intercept)";
