//! A problem in the form that a method works on.

use std::time::{Duration, Instant};

use crate::methods::Form;
use crate::model::collapse::Collapsed;
use crate::model::inner::{Recording, Sample, is_single};
use crate::model::merit::Merit;
use crate::model::problem::Objective;
use crate::model::regularizer::Regularizer;
use crate::model::shared::{Picked, shared_form};
use crate::oracle::{Calls, Oracle};

/// A problem whose failed passes are recorded, and the form of it that a method works on; the
/// problem itself is what is evaluated. [`AnyMethod::prepare`](crate::AnyMethod::prepare) makes the
/// form that a method asks for.
pub struct Prepared<'p> {
    inner: Recording<'p>,
    merit: &'p dyn Merit,
    regularizer: &'p dyn Regularizer,
    made: Made<'p>,
    spent: Spent,
}

/// What has been made of a problem.
enum Made<'p> {
    Nothing,
    /// Holds the same data.
    Shared(Recording<'p>, Picked<'p>),
    Collapsed(Box<Collapsed>),
}

/// What a run has used up before it begins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) calls: Calls,
    pub(crate) rows: u64,
    pub(crate) time: Duration,
}

impl<'p> Prepared<'p> {
    /// The problem as it is.
    pub fn new(problem: impl Into<Objective<'p>>) -> Self {
        let Objective { inner, merit, regularizer } = problem.into();
        let inner = Recording::of(inner);
        Prepared { inner, merit, regularizer, made: Made::Nothing, spent: Spent::default() }
    }

    /// In this form; `theta` is the start. A form that the problem has already is not made again.
    pub(crate) fn in_form(problem: Objective<'p>, form: Form, theta: &[f64]) -> Self {
        let mut prepared = Self::new(problem);
        let f = problem.inner;
        let facts = f.facts();
        match form {
            Form::Shared if facts.sample != Sample::Shared => {
                let form = shared_form(f).expect("the method has been chosen for this problem");
                let merit = Picked::new(form, problem.merit, f.ell());
                let recording = prepared.inner.beside(merit.form());
                prepared.made = Made::Shared(recording, merit);
            }
            // Collapsing costs what a snapshot does.
            Form::Collapsed if facts.affine && !is_single(f) => {
                let begun = Instant::now();
                let mut oracle = Oracle::new(prepared.problem());
                let collapsed = oracle.pass().collapsed(theta);
                let spent = Spent { calls: oracle.calls, rows: oracle.rows, time: begun.elapsed() };
                (prepared.made, prepared.spent) = (Made::Collapsed(Box::new(collapsed)), spent);
            }
            _ => {}
        }
        prepared
    }

    /// What is evaluated.
    pub(crate) fn problem(&self) -> Objective<'_> {
        let Prepared { inner, merit, regularizer, .. } = self;
        Objective { inner, merit: *merit, regularizer: *regularizer }
    }

    /// What the method works on.
    pub(crate) fn form(&self) -> Objective<'_> {
        let problem = self.problem();
        match &self.made {
            Made::Nothing => problem,
            Made::Shared(inner, merit) => Objective { inner, merit, ..problem },
            Made::Collapsed(inner) => Objective { inner: &**inner, ..problem },
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }
}
