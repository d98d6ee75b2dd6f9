//! The problem in the form that a method asks for.

use std::time::Instant;

use super::Method;
use crate::checkpoint::CheckpointError;
use crate::collapse::Collapsed;
use crate::inner::{Inner, Sample};
use crate::merit::{Borrowed, Merit};
use crate::oracle::Oracle;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::run::{Begin, Driver, Observer, Solution, Spent};
use crate::shared::{Picked, SharedForm, shared_form};

/// A problem with a shared inner sample, made from another.
type SharedProblem<'p, P, G> = Problem<&'p dyn SharedForm, Picked<'p, P>, &'p G>;
/// A problem of linear predictors, made from another.
type CollapsedProblem<'p, P, G> = Problem<Collapsed, Borrowed<'p, P>, &'p G>;

/// Runs on the problem itself if its sample is shared, and otherwise on its shared form, whose making costs nothing: it holds
/// the same data.
pub(super) fn run_shared<F, P, G, M>(
    driver: &Driver<'_>,
    problem: &Problem<F, P, G>,
    method: &M,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<Solution, CheckpointError>
where
    F: Inner,
    P: Merit,
    G: Regularizer,
    M: Method<F, P, G> + for<'p> Method<&'p dyn SharedForm, Picked<'p, P>, &'p G>,
{
    if problem.inner.structure().sample == Sample::Shared {
        return driver.run_from(problem, method, begin, observer);
    }
    let form = shared_form(&problem.inner).expect("the method has been chosen for this problem");
    let shared: SharedProblem<'_, P, G> = Problem {
        inner: &*form,
        merit: Picked::new(&*form, &problem.merit, problem.inner.ell()),
        regularizer: &problem.regularizer,
    };
    driver.run_on(problem, &shared, Spent::default(), method, begin, observer)
}

/// Runs on the collapsed problem if f is affine and its averages are not there yet. Collapsing costs what a snapshot does.
pub(super) fn run_collapsed<F, P, G, M>(
    driver: &Driver<'_>,
    problem: &Problem<F, P, G>,
    method: &M,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<Solution, CheckpointError>
where
    F: Inner,
    P: Merit,
    G: Regularizer,
    M: Method<F, P, G> + for<'p> Method<Collapsed, Borrowed<'p, P>, &'p G>,
{
    let f = &problem.inner;
    if !f.structure().affine || (0..f.n_x()).all(|i| f.n_y(i) == 1) {
        return driver.run_from(problem, method, begin, observer);
    }
    let begun = Instant::now();
    let mut oracle = Oracle::new(problem);
    let inner = oracle.collapsed(begin.start());
    let spent = Spent { calls: oracle.calls, rows: oracle.rows, time: begun.elapsed() };
    let collapsed: CollapsedProblem<'_, P, G> =
        Problem { inner, merit: Borrowed(&problem.merit), regularizer: &problem.regularizer };
    driver.run_on(problem, &collapsed, spent, method, begin, observer)
}
