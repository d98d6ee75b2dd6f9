//! What lies beyond SVRPDA-I and II: methods whose calls do not grow with the condition number,
//! measured on generated groups whose features have any condition number, in no axis' direction.

pub mod cases;
pub mod contest;
pub mod network;
pub mod picture;
pub mod prototypes;
pub mod returns;
pub mod steps;
pub mod versus;
