//! Words that every face shares: errors and notes, numbers in prose, names of choices, parameters
//! by name.
//!
//! Errors and notes name parameters in backquotes, such as `` `l2` `` or `` `risk=huber` ``.
//! [`spell`] writes them as a face does: `--l2` on a command line, `l2` in Python.

pub(crate) mod error;
mod face;
mod named;
mod note;
pub mod numbers;

pub use error::{Error, Place};
pub use face::{Face, PARAMETERS, spell};
pub use named::Named;
pub(crate) use named::named;
pub use note::Note;
