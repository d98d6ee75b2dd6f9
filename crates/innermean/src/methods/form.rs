//! The problem in the form that a method asks for.

use std::time::Instant;

use super::Method;
use crate::model::inner::{Recording, Sample};
use crate::model::problem::Objective;
use crate::model::shared::{Picked, shared_form};
use crate::oracle::Oracle;
use crate::run::checkpoint::CheckpointError;
use crate::run::{Begin, Driver, Observer, Solution, Spent};

/// Runs on the problem itself if its sample is shared, and otherwise on its shared form, whose
/// making costs nothing: it holds the same data.
pub(super) fn run_shared<M: Method>(
    driver: &Driver<'_>,
    problem: Objective<'_>,
    method: &M,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<Solution, CheckpointError> {
    let f = problem.inner;
    if f.facts().sample == Sample::Shared {
        return driver.run_from(problem, method, begin, observer);
    }
    let form = shared_form(f).expect("the method has been chosen for this problem");
    let merit = Picked::new(&*form, problem.merit, f.ell());
    let recording = Recording::beside(problem, &form);
    let shared = Objective { inner: &recording, merit: &merit, ..problem };
    driver.run_on(problem, shared, Spent::default(), method, begin, observer)
}

/// Runs on the collapsed problem if f is affine and its averages are not there yet. Collapsing
/// costs what a snapshot does.
pub(super) fn run_collapsed<M: Method>(
    driver: &Driver<'_>,
    problem: Objective<'_>,
    method: &M,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<Solution, CheckpointError> {
    let f = problem.inner;
    if !f.facts().affine || (0..f.n_x()).all(|i| f.n_y(i) == 1) {
        return driver.run_from(problem, method, begin, observer);
    }
    let begun = Instant::now();
    let mut oracle = Oracle::new(problem);
    let inner = oracle.collapsed(begin.start());
    let spent = Spent { calls: oracle.calls, rows: oracle.rows, time: begun.elapsed() };
    let collapsed = Objective { inner: &inner, ..problem };
    driver.run_on(problem, collapsed, spent, method, begin, observer)
}
