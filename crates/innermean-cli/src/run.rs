//! A run from its flags to its end: what every command does once its problem is built.

pub(crate) mod application;
pub(crate) mod checkpoint;
pub(crate) mod deadline;
pub(crate) mod digits;
pub(crate) mod interrupt;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod request;
pub(crate) mod start;
pub(crate) mod validation;
