//! The comparison with other software (`experiments/bench/run`): the same data, the same gap, in
//! turns in one run.
//!
//! | room | what is there |
//! |---|---|
//! | `cases` | the problems: their data, how ours solves them, their objective by the plain formula |
//! | `draws` | random numbers for the data |
//! | `peer` | the process that runs the peers |
//! | `parts` | the lines of the comparison and their sizes |
//! | `command` | a whole command against reading and solving alone |
//! | `contest` | who reaches the gap with which setting, and how fast |
//! | `growth` | time and memory against the sizes of a problem |
//! | `quoted` | what other programs have measured |
//! | `machine` | on what it ran |
//! | `results` | what has been measured, part by part, as JSON and as a page |
//! | `chart` | the same as bars |
//! | `dots` | the same as dots, at all sizes |
//! | `table` | ratios, targets, verdicts |

pub mod cases;
pub mod chart;
pub mod command;
pub mod contest;
pub mod dots;
pub mod draws;
pub mod growth;
pub mod machine;
pub mod parts;
pub mod peer;
pub mod quoted;
pub mod results;
pub mod table;
