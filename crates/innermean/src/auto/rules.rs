//! From facts to methods.

use super::Candidate;
use super::facts::Facts;

/// Coordinates, or averages if they are fewer, up to which the normal equations are faster than anything else.
const DIRECT: usize = 3000;
/// Samples for each outer term from which steps on single samples beat passes over all.
const LARGE_GROUPS: usize = 5000;
/// The share of the free memory that stored mean Jacobians may take.
const MEMORY_SHARE: f64 = 0.25;

/// The methods, the best first.
pub(super) fn candidates(facts: &Facts) -> Vec<Candidate> {
    let mut list = Vec::new();
    let mut add = |method: Option<&'static str>, reason: String| {
        let new = method.filter(|method| list.iter().all(|c: &Candidate| c.method != *method));
        list.extend(new.map(|method| Candidate { method, reason }));
    };
    let Facts { d, n_x, averages, .. } = *facts;
    let smaller = if averages < d { counted(averages, "average") } else { counted(d, "coordinate") };
    if averages.min(d) <= DIRECT {
        add(
            facts.suited("direct"),
            format!("a quadratic with {smaller}: its normal equations are solved at once"),
        );
    }
    if facts.affine && facts.smooth {
        let predictors = format!("{} that are averaged once", counted(averages, "linear predictor"));
        add(facts.suited("newton"), format!("a smooth loss of {predictors}"));
        add(facts.suited("lbfgs"), format!("a smooth loss of {predictors}"));
    } else if facts.smooth {
        let each = facts.samples / n_x.max(1);
        if each >= LARGE_GROUPS {
            add(single_samples(facts), format!("{each} samples for each of {}", counted(n_x, "outer term")));
        }
        add(
            facts.suited("lbfgs"),
            format!(
                "{each} samples for each of {}: passes over all of them cost little",
                counted(n_x, "outer term")
            ),
        );
        add(facts.suited("prox-linear"), "whole passes, with the averages linearised".to_owned());
    }
    let why = if facts.smooth {
        "steps on single samples ask nothing of the problem"
    } else {
        "a loss with kinks: primal-dual steps ask for no gradient of it"
    };
    add(single_samples(facts), why.to_owned());
    list
}

/// SVRPDA-I, or II where its mean Jacobians do not fit into memory.
fn single_samples(facts: &Facts) -> Option<&'static str> {
    let bytes = 8.0 * facts.numbers as f64;
    let fits = facts.memory.is_none_or(|free| bytes <= MEMORY_SHARE * free as f64);
    facts.suited(if fits { "svrpda1" } else { "svrpda2" })
}

/// 1 coordinate, 25 coordinates
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
