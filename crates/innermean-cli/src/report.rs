//! Pages and pictures of runs: one HTML file that needs nothing else, and figures by
//! [`crate::plot`].
//!
//! A [`Report`] is what a page says, in its order: the answer, its certificate, convergence, the
//! comparison, data, settings, and how to do it again. `run` makes one from a run, `compare` from a
//! comparison, the command `report` from stored traces.

use crate::output::grid::Grid;
use crate::run::page::Part;

pub(crate) use self::chart::{Chart, Series, Shape};
pub(crate) use self::convergence::{
    CALLS, Convergence, Course, EPOCHS, Panel, Quantity, SECONDS, counts,
};
pub(crate) use self::files::{OutputFiles, PictureFlags};
pub(crate) use self::html::{capital, escape};

mod bars;
mod chart;
mod convergence;
mod files;
mod html;
mod invocation;
pub(crate) mod page;
pub(crate) mod run;

/// What a page says.
#[derive(Default)]
pub(crate) struct Report<'a> {
    /// What was solved.
    pub(crate) title: String,
    /// Where the data come from.
    pub(crate) source: String,
    /// How it ended, and what is proven.
    pub(crate) verdict: Option<Verdict>,
    /// Numbers with names, and tables.
    pub(crate) answer: Vec<Part<'a>>,
    /// Labels and texts; a text without a label goes on with the one above.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) convergence: Convergence,
    /// Tables of a comparison.
    pub(crate) tables: Vec<Grid>,
    /// Files and sizes.
    pub(crate) data: Vec<(String, String)>,
    /// What was decided without being asked, in whole sentences.
    pub(crate) notes: Vec<String>,
    pub(crate) settings: Vec<(String, String)>,
}

/// How a run ended.
pub(crate) struct Verdict {
    pub(crate) kind: Kind,
    /// In a word or two.
    pub(crate) status: String,
    /// Whole sentences.
    pub(crate) text: String,
}

/// How good that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Good,
    Limited,
    Bad,
}
