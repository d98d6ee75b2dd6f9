//! The answer that linear algebra gives, to hold the method's against.

use innermean::optimum::direct;
use serde::Serialize;

use super::PolicyTask;
use crate::penalty::Constraint;
use crate::run::Task;

/// How far the answer lies from the closed form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClosedForm {
    /// Which one, or why there is none, with parameters in backquotes; see
    /// [`spell`](crate::wording::spell).
    pub source: String,
    /// `|theta - theta*| / |theta*|`
    pub theta_distance: Option<f64>,
    /// `|V - V*| / |V*|`, over all states
    pub values_distance: Option<f64>,
}

/// Beyond this many features a closed form takes longer than the run.
const MOST_COORDINATES: usize = 1000;

impl ClosedForm {
    /// Solves, if that is possible and not too long.
    pub(super) fn new(task: &PolicyTask, theta: &[f64]) -> Self {
        let none =
            |why: String| ClosedForm { source: why, theta_distance: None, values_distance: None };
        let penalty = task.settings().penalty;
        if penalty.l1 > 0.0 || task.settings().constraint != Constraint::None {
            return none("none with `l1` or `constraint`".to_owned());
        }
        let problem = task.problem();
        let d = problem.inner.d();
        if d > MOST_COORDINATES {
            return none(format!(
                "not computed for {d} coordinates, but for at most {MOST_COORDINATES}"
            ));
        }
        let (name, exact) = match task.projected() {
            Some((f, form)) => ("LSTD", f.minimiser(form, penalty.l2)),
            None => ("normal equations", direct(problem)),
        };
        let Some(exact) = exact else {
            return none(format!(
                "none: the equations ({name}) are singular, and other theta are as good; expected \
                 fewer features, or `l2`"
            ));
        };
        ClosedForm {
            source: if penalty.l2 > 0.0 {
                format!("{name} with the ridge")
            } else {
                name.to_owned()
            },
            theta_distance: Some(distance(theta, &exact)),
            values_distance: Some(distance(&values(task, theta), &values(task, &exact))),
        }
    }
}

/// Of all states, or of transitions that stand for all.
fn values(task: &PolicyTask, theta: &[f64]) -> Vec<f64> {
    match task.projected() {
        Some((f, _)) if task.is_of_moments() => f.values(theta),
        _ => task.values(theta),
    }
}

/// `|a - b| / |b|`, or `|a - b|` if b is zero.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let size: f64 = b.iter().map(|b| b * b).sum();
    if size > 0.0 { (square / size).sqrt() } else { square.sqrt() }
}
