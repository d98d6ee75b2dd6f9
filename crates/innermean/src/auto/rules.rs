//! From facts to methods. The figures come from `experiments/src/bin/thresholds.rs`.

use super::Candidate;
use super::facts::Facts;

/// Coordinates, or averages if they are fewer, up to which the normal equations are faster than anything else.
const DIRECT: usize = 3000;
/// The same where rows are sparse and a pass costs little.
const DIRECT_SPARSE: usize = 1000;
/// Coordinates up to which a quadratic program is solved faster at once than by steps on its data.
const PROGRAM: usize = 1000;
/// Samples for each outer term from which steps on single samples beat passes over all, where there are too many coordinates for Newton's
/// matrix.
const LARGE_GROUPS: usize = 5000;

/// The methods, the best first.
pub(super) fn candidates(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut list = Vec::new();
    let mut add = |method: Option<&'static str>, reason: &dyn Fn() -> String| {
        let new = method.filter(|method| list.iter().all(|c: &Candidate| c.method != *method));
        list.extend(new.map(|method| Candidate { method, reason: reason() }));
    };
    let (d, averages) = (facts.d(), facts.averages());
    let few = if facts.sparse() { DIRECT_SPARSE } else { DIRECT };
    if facts.quadratic_regularizer() && averages.min(d) <= few {
        let smaller = || if averages < d { counted(averages, "average") } else { counted(d, "coordinate") };
        let why = || format!("a quadratic with {}: its normal equations are solved at once", smaller());
        add(facts.suited("direct"), &why);
    } else if d <= PROGRAM {
        let why = || format!("a quadratic program of {}, solved at once", counted(d, "coordinate"));
        add(facts.suited("direct"), &why);
    }
    if facts.affine() && facts.smooth() {
        let why =
            || format!("a smooth loss of {} that are averaged once", counted(averages, "linear predictor"));
        add(facts.suited("newton"), &why);
        add(facts.suited("lbfgs"), &why);
    } else if facts.smooth() {
        let each = facts.samples();
        let why = || format!("{each} samples for each of {}", counted(facts.n_x(), "outer term"));
        if facts.moderate() {
            add(facts.suited("newton"), &|| why() + ": a part of them is solved first");
        }
        if each >= LARGE_GROUPS {
            add(single_samples(facts), &why);
        }
        add(facts.suited("lbfgs"), &|| why() + ": passes over all of them cost little");
        add(facts.suited("prox-linear"), &|| "whole passes, with the averages linearised".to_owned());
    }
    let why = if facts.smooth() {
        "steps on single samples ask nothing of the problem"
    } else {
        "a loss with kinks: primal-dual steps ask for no gradient of it"
    };
    add(single_samples(facts), &|| why.to_owned());
    list
}

/// SVRPDA-I, or II where its mean Jacobians do not fit into memory.
fn single_samples(facts: &Facts<'_>) -> Option<&'static str> {
    facts.suited(if facts.jacobians_fit() { "svrpda1" } else { "svrpda2" })
}

/// 1 coordinate, 25 coordinates
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
