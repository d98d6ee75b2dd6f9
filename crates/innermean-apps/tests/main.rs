//! The applications as other faces use them.

mod targets;
mod validation;
