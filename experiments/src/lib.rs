//! Measurements on which choices of the library rest, each a program in `src/bin`, and what they
//! share.

#![allow(clippy::missing_panics_doc, reason = "a measurement that cannot be made ends there")]

pub mod bench;
pub mod beyond;
pub mod cases;
pub mod drawn;
pub mod families;
pub mod groups;
pub mod simulations;
pub mod timing;
pub mod torture;

/// The example of the repository's README is a test; each crate tests its own.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
