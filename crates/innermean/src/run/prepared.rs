//! A problem in the form that a method works on.

use std::time::{Duration, Instant};

use crate::methods::Form;
use crate::model::collapse::Collapsed;
use crate::model::inner::Sample;
use crate::model::problem::Objective;
use crate::model::shared::{Picked, shared_form};
use crate::oracle::{Calls, Oracle};

/// A problem, and the form of it that a method works on; the problem itself is what is evaluated.
/// Made by [`AnyMethod::prepare`](crate::AnyMethod::prepare).
pub struct Prepared<'p> {
    problem: Objective<'p>,
    made: Made<'p>,
    spent: Spent,
}

/// What has been made of a problem.
enum Made<'p> {
    Nothing,
    /// Holds the same data.
    Shared(Picked<'p>),
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
    pub(crate) fn given(problem: Objective<'p>) -> Self {
        Prepared { problem, made: Made::Nothing, spent: Spent::default() }
    }

    /// In this form; `theta` is the start. A form that the problem has already is not made again.
    pub(crate) fn new(problem: Objective<'p>, form: Form, theta: &[f64]) -> Self {
        let f = problem.inner;
        match form {
            Form::Shared if f.structure().sample != Sample::Shared => {
                let form = shared_form(f).expect("the method has been chosen for this problem");
                let made = Made::Shared(Picked::new(form, problem.merit, f.ell()));
                Prepared { made, ..Self::given(problem) }
            }
            // Collapsing costs what a snapshot does.
            Form::Collapsed if f.structure().affine && !(0..f.n_x()).all(|i| f.n_y(i) == 1) => {
                let begun = Instant::now();
                let mut oracle = Oracle::new(problem);
                let made = Made::Collapsed(Box::new(oracle.collapsed(theta)));
                let spent = Spent { calls: oracle.calls, rows: oracle.rows, time: begun.elapsed() };
                Prepared { problem, made, spent }
            }
            _ => Self::given(problem),
        }
    }

    /// What is evaluated.
    pub(crate) fn problem(&self) -> Objective<'p> {
        self.problem
    }

    /// What the method works on.
    pub(crate) fn form(&self) -> Objective<'_> {
        match &self.made {
            Made::Nothing => self.problem,
            Made::Shared(merit) => Objective { inner: merit.form(), merit, ..self.problem },
            Made::Collapsed(inner) => Objective { inner: &**inner, ..self.problem },
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }
}
