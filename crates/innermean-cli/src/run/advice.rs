//! What to make of a status: the library's sentence, and the flags that follow from it.

use innermean::Status;

use crate::output::human::significant;
use crate::run::plan::Plan;

/// The advice of `status`: the library's sentence speaks of settings, the second one of flags.
pub(crate) fn advice(status: Status, plan: &Plan) -> String {
    let resume = match (&plan.keeping.checkpoint, status) {
        (
            Some(checkpoint),
            Status::MaxOuter | Status::MaxCalls | Status::MaxSeconds | Status::Interrupted,
        ) => format!("--resume {}, ", checkpoint.file.given().display()),
        _ => String::new(),
    };
    format!("{} Flags: {resume}{}.", status.advice(), flags(status, plan))
}

/// Flags and settings of the steps that methods may have.
const STEPS: [(&str, &str); 2] = [("--alpha-theta", "alpha_theta"), ("--alpha-w", "alpha_w")];

fn flags(status: Status, plan: &Plan) -> String {
    let tenth = |step: f64| significant(step / 10.0, 2);
    match status {
        Status::Solved => "--tolerance".to_owned(),
        Status::TargetReached => "--target-objective".to_owned(),
        Status::MaxOuter => {
            let steps = STEPS.iter().filter(|(_, name)| plan.settings.number(name).is_some());
            let flags = ["--max-outer"].into_iter().chain(steps.map(|(flag, _)| *flag));
            // L-BFGS finds its own steps and is hardly ever the one that crawls.
            let another = (plan.info.name != "lbfgs").then_some("--method lbfgs");
            flags.chain(another).collect::<Vec<_>>().join(", ")
        }
        Status::MaxCalls => "--max-calls, --tolerance".to_owned(),
        Status::MaxSeconds => "--max-seconds, --tolerance".to_owned(),
        Status::Diverged => {
            let smaller = STEPS.iter().filter_map(|(flag, name)| {
                Some(format!("{flag} {}", tenth(plan.settings.number(name)?)))
            });
            let smaller = smaller.collect::<Vec<_>>().join(" ");
            if smaller.is_empty() {
                plan.holds.to_owned()
            } else {
                format!("{smaller}; {}", plan.holds)
            }
        }
        Status::Unbounded => plan.holds.to_owned(),
        Status::Stalled => "--tolerance, --method".to_owned(),
        Status::StartNotFinite | Status::Failed => "--start".to_owned(),
        Status::Interrupted => "--start FILE, a file that holds what --json prints".to_owned(),
    }
}
