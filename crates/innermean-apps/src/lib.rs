//! Applications of [`innermean`]: what a command or an estimator knows beyond the mathematical
//! problem. Scaling of columns, losses and risks by name, classes and labels, intercepts, states by
//! name, sequences, fits, comparison of methods.
//!
//! It takes arrays and tables that have been read, and returns structs; it reads no files, prints
//! nothing and parses no arguments. The command line and other faces are built on it.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`portfolio`] | returns | weights, return and risk |
//! | [`linear`] | rows with a target | coefficients in the units of the data, scores, fit |
//! | [`bags`] | rows in groups, a label for each group | a model of single rows |
//! | [`moments`] | rows with instruments | coefficients with standard errors, the J test |
//! | [`policy`] | transitions, features of states | the value of every state |
//! | [`sequences`] | steps, a language model | a classifier without labels |
//! | [`model`] | a fit | a file, and predictions for other rows |
//! | [`validation`] | penalties to choose from | scores of rows held out, and the best penalty |
//! | [`compare`] | any problem | who needs how many calls for how small a gap |
//!
//! All have one shape. Settings are plain data with defaults ([`linear::LinearSettings`]); data and
//! settings make a task ([`linear::LinearTask`]), where whatever is wrong with them is found;
//! [`run::Task::fit`] solves it as a [`run::Solver`] says, and a [`run::Fit`] holds what every face
//! shows: the answer in the units of the data, certificate and status, the method and why it was
//! chosen, notes, advice.
//!
//! ```
//! use innermean_apps::linear::{Classes, LinearData, LinearSettings, LinearTask, Loss, Rows, Target};
//! use innermean_apps::run::{Solver, Task, Watch};
//!
//! let mut settings = LinearSettings::default();
//! settings.loss = Loss::Logistic;
//! settings.penalty.l2 = 0.1;
//! let (classes, labels) = Classes::of_numbers(&[0.0, 0.0, 1.0, 1.0])?;
//! let rows = Rows::dense(vec![-2.0, -1.0, 1.0, 2.0]);
//! let data = LinearData::new(vec!["x".to_owned()], rows, Target::Classes(classes, labels))?;
//! let fit = LinearTask::new(data, &settings)?.fit(&Solver::default(), Watch::by(&mut ()))?;
//! assert!(fit.solution.status.is_solved());
//! assert!(fit.answer.coefficients[0] > 0.0);
//! assert!(fit.solution.certificate.gap.is_some_and(|gap| gap < 1e-6));
//! for note in &fit.notes {
//!     println!("{note}");
//! }
//! # Ok::<(), innermean_apps::Error>(())
//! ```
//!
//! # Words
//!
//! An [`Error`] or a [`wording::Note`] is a value with a sentence. The sentence names parameters in
//! backquotes, as in `` `l2` `` or `` `risk=huber` ``, and [`wording::spell`] writes them as a face
//! does. [`Error::place`] says which row, group or transition is meant, for a face that knows where
//! that comes from.

pub mod bags;
pub mod compare;
pub mod file_rows;
pub mod linear;
pub mod model;
pub mod moments;
pub mod policy;
pub mod portfolio;
pub mod run;
pub mod sequences;
pub mod validation;
pub mod wording;

pub use run::{condensed, penalty};
use wording::error;
pub use wording::{Error, Place};
