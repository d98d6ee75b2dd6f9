//! What to make of a status: the library's sentence, and the parameters that follow from it.

use innermean::Status;

use super::Plan;
use crate::wording::numbers::significant;

/// What to do about the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The library's sentence.
    pub sentence: &'static str,
    /// The parameters to look at, in backquotes and with commas between them; see
    /// [`spell`](crate::wording::spell).
    pub parameters: String,
}

/// The steps that methods may have.
const STEPS: [&str; 2] = ["alpha_theta", "alpha_w"];

impl Advice {
    pub(super) fn of(status: Status, plan: &Plan, bounds: &str) -> Self {
        Advice { sentence: status.advice(), parameters: parameters(status, plan, bounds) }
    }
}

fn parameters(status: Status, plan: &Plan, bounds: &str) -> String {
    let tenth = |step: f64| significant(step / 10.0, 2);
    match status {
        Status::Solved => "`tolerance`".to_owned(),
        Status::TargetReached => "`target_objective`".to_owned(),
        Status::MaxOuter => {
            let steps = STEPS.iter().filter(|name| plan.settings.number(name).is_some());
            let names = ["max_outer"].into_iter().chain(steps.copied());
            // L-BFGS finds its own steps and is hardly ever the one that crawls.
            let another = (plan.info.name != "lbfgs").then_some("method=lbfgs");
            names.chain(another).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        Status::MaxCalls => "`max_calls`, `tolerance`".to_owned(),
        Status::MaxSeconds => "`max_seconds`, `tolerance`".to_owned(),
        Status::Diverged => {
            let smaller = STEPS.iter().filter_map(|name| {
                Some(format!("`{name}={}`", tenth(plan.settings.number(name)?)))
            });
            let smaller = smaller.collect::<Vec<_>>().join(" ");
            if smaller.is_empty() { bounds.to_owned() } else { format!("{smaller}; {bounds}") }
        }
        Status::Unbounded => bounds.to_owned(),
        Status::Stalled => "`tolerance`, `method`".to_owned(),
        // Not begun, failed, or ended from outside.
        _ => "`start`".to_owned(),
    }
}
