//! The commands: a file or a folder each.

#[cfg(any(test, not(feature = "full")))]
pub(crate) mod absent;
pub(crate) mod bags;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod linear;
pub(crate) mod methods;
pub(crate) mod moments;
pub(crate) mod policy;
pub(crate) mod portfolio;
pub(crate) mod predict;
pub(crate) mod report;
#[cfg(feature = "reproduce")]
pub(crate) mod reproduce;
pub(crate) mod sequences;
#[cfg(feature = "shell")]
pub(crate) mod shell;
