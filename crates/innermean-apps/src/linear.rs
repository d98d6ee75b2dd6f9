//! Linear models: a number or one of two classes, predicted by a linear function.
//!
//! ```
//! use innermean_apps::linear::{LinearData, LinearSettings, LinearTask, Loss, Rows, Target};
//! use innermean_apps::run::{Solver, Task, Watch};
//!
//! let mut settings = LinearSettings::default();
//! settings.loss = Loss::Huber;
//! let rows = Rows::Dense(vec![0.0, 1.0, 2.0, 3.0]);
//! let target = Target::Numbers(vec![1.0, 3.0, 5.0, 7.0]);
//! let data = LinearData::new(vec!["x".to_owned()], rows, target)?;
//! let task = LinearTask::new(data, &settings)?;
//! let answer = task.fit(&Solver::default(), Watch::by(&mut ()))?.answer;
//! assert!((answer.coefficients[0] - 2.0).abs() < 1e-3);
//! assert!((answer.intercept.unwrap_or(0.0) - 1.0).abs() < 1e-2);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

mod classes;
mod data;
mod fit;
mod inference;
mod loss;
mod task;

pub use classes::Classes;
pub use data::{LinearData, LinearError, Rows, Target};
pub use fit::{LinearFit, probability};
pub use loss::Loss;
pub use task::{LinearAnswer, LinearProblem, LinearSettings, LinearTask};

/// The name of an intercept among coordinates.
pub const INTERCEPT: &str = "(intercept)";
