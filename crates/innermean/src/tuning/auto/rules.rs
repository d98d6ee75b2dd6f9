//! From facts to methods. The figures come from `experiments/src/bin/thresholds.rs`.

use super::Candidate;
use super::facts::Facts;

/// Coordinates, or averages if they are fewer, up to which the normal equations are solved at once:
/// up to 500 nothing is faster, at 2000 Newton's steps take half as long on well-conditioned data.
/// The equations do not mind how the data are conditioned.
const DIRECT: usize = 3000;
/// The same where rows are sparse and a pass costs little: at 500 Newton's steps take 0.6 times as
/// long, at 2000 a sixtieth.
const DIRECT_SPARSE: usize = 1000;
/// Coordinates up to which a quadratic program is solved at once: a lasso of 1000 is so solved
/// faster than in any other way, one of 2000 thirty times more slowly.
const PROGRAM: usize = 1000;
/// Coordinates up to which Newton steps on smoothed kinks beat steps on single terms; up to 1000
/// they do, by a factor of 3 or more.
const MULTIPLIERS: usize = 1000;
/// The same where g has kinks along them, at which most of them rest.
const MULTIPLIERS_WITH_KINKS: usize = 10_000;
/// Linear predictors for each coordinate, where g has kinks, below which L-BFGS comes before
/// Newton's method; without kinks it does below one, from [`MANY_OF_FEW`] coordinates on: with 2000
/// it takes a tenth of the time up to the same, with 400 and fewer three to four times as long.
const FEW_PREDICTORS: usize = 2;
const MANY_OF_FEW: usize = 1000;
/// Coordinates with kinks from which most may be left alone: of fewer, one Gram matrix of all serves
/// the steps and the proof.
const MANY_KINKS: usize = 100;
/// Samples for each outer term from which steps on single samples are tried before passes over all,
/// where there are too many coordinates for Newton's matrix: in the table they beat L-BFGS on large
/// groups with uneven features, and never Newton's method.
const LARGE_GROUPS: usize = 5000;

/// Why normal equations or a program of this size are solved at once, if they are.
fn solved_at_once(facts: &Facts<'_>) -> Option<String> {
    let (d, averages) = (facts.d(), facts.averages());
    let few = if facts.sparse() { DIRECT_SPARSE } else { DIRECT };
    if facts.quadratic_regularizer() && averages.min(d) <= few {
        let smaller =
            if averages < d { counted(averages, "average") } else { counted(d, "coordinate") };
        return Some(format!(
            "a quadratic with {smaller}: its normal equations are solved at once"
        ));
    }
    let what = if facts.logarithms() { "and logarithms" } else { "program" };
    let size = counted(d, "coordinate");
    (d <= PROGRAM).then(|| format!("a quadratic {what} of {size}, solved at once"))
}

/// Whether averages are so few beside the coordinates that passes over them beat Newton's matrix.
fn few_predictors(facts: &Facts<'_>) -> bool {
    let (d, averages) = (facts.d(), facts.averages());
    if facts.quadratic_regularizer() {
        averages < d && d >= MANY_OF_FEW
    } else {
        averages < FEW_PREDICTORS * d
    }
}

/// Coordinates up to which the method of multipliers factors its matrices.
fn most_for_multipliers(facts: &Facts<'_>) -> usize {
    if facts.mostly_kinks() { MULTIPLIERS_WITH_KINKS } else { MULTIPLIERS }
}

/// The methods, the best first.
pub(super) fn candidates(facts: &Facts<'_>) -> Vec<Candidate> {
    if facts.is_summed() { of_leaves(facts) } else { of_terms(facts) }
}

/// Of data in leaves, where whoever makes steps on single terms has none.
fn of_leaves(facts: &Facts<'_>) -> Vec<Candidate> {
    let reasons = [
        ("newton", "few passes over data in leaves, by F''"),
        ("lbfgs", "passes over data in leaves, by F'"),
        ("apg", "passes over data in leaves, by F'"),
    ];
    let candidate = |(name, reason): (&str, &str)| {
        facts.suited(name).map(|method| Candidate { method, reason: reason.to_owned() })
    };
    reasons.into_iter().filter_map(candidate).collect()
}

/// Of data at hand.
fn of_terms(facts: &Facts<'_>) -> Vec<Candidate> {
    let costly = facts.costly_newton();
    // What is on trial before Newton's method has another turn after it.
    let on_trial = usize::from(costly.is_some());
    let mut list = Vec::new();
    let mut add = |method: Option<&'static str>, reason: &dyn Fn() -> String| {
        let is_new =
            |method: &&str| list.iter().skip(on_trial).all(|c: &Candidate| c.method != *method);
        let new = method.filter(is_new);
        list.extend(new.map(|method| Candidate { method, reason: reason() }));
    };
    if let Some(why) = few_that_matter(facts) {
        add(facts.suited("working-set"), &|| why.clone());
    }
    let (d, averages) = (facts.d(), facts.averages());
    if let Some(why) = solved_at_once(facts) {
        add(facts.suited("direct"), &|| why.clone());
    }
    let alike =
        || "the columns may be nearly the same: Newton steps in twice the precision".to_owned();
    if facts.suited("direct").is_some() {
        add(facts.suited("precise"), &alike);
    }
    if let Some(classes) = facts.classes() {
        let why = || format!("{} with scores of {classes} classes", counted(facts.n_x(), "row"));
        if let Some(price) = &costly {
            let step = 1.0 + price.hessian;
            let costs = || format!("a Newton step costs as much as {step:.0} passes");
            add(facts.suited("lbfgs"), &|| format!("{}: {}", why(), costs()));
        }
        if facts.moderate() {
            add(facts.suited("newton"), &why);
        }
        add(facts.suited("lbfgs"), &why);
    } else if facts.affine() && facts.smooth() {
        let why = || {
            format!(
                "a smooth loss of {} that are averaged once",
                counted(averages, "linear predictor")
            )
        };
        if few_predictors(facts)
            && !facts.sparse()
            && !facts.proof_is_cheap()
            && !facts.constrained()
        {
            // Newton's matrix is mostly the ridge then, and its quadratic programs have many
            // coordinates at kinks.
            let few = || format!("{}, fewer than their {}", why(), counted(d, "coordinate"));
            add(facts.suited("lbfgs"), &few);
        }
        add(facts.suited("newton"), &why);
        add(facts.suited("precise"), &alike);
        add(facts.suited("lbfgs"), &why);
    } else if facts.smooth() {
        let each = facts.samples();
        let why = || format!("{each} samples for each of {}", counted(facts.n_x(), "outer term"));
        if facts.calls_are_dear() {
            // Newton's method solves a part first, in many small calls.
            add(facts.suited("lbfgs"), &|| why() + ": few calls, over all of them");
        }
        add(linearised(facts), &|| why() + ": linearised, and the rest is solved to its end");
        if let Some(price) = &costly {
            let step = 1.0 + price.hessian;
            let costs = || format!("a Newton step costs as much as {step:.0} passes");
            add(facts.suited("lbfgs"), &|| format!("{}: {}", why(), costs()));
        }
        if facts.moderate() {
            add(facts.suited("newton"), &|| why() + ": a part of them is solved first");
        }
        if each >= LARGE_GROUPS && !facts.calls_are_dear() && costly.is_none() {
            add(single_samples(facts), &why);
        }
        add(facts.suited("lbfgs"), &|| why() + ": passes over all of them cost little");
        add(facts.suited("prox-linear"), &|| {
            "whole passes, with the averages linearised".to_owned()
        });
    }
    if facts.affine() && !facts.smooth() && d <= most_for_multipliers(facts) {
        let why = || {
            format!(
                "a loss with kinks of {} that are averaged once",
                counted(averages, "linear predictor")
            )
        };
        add(facts.suited("multipliers"), &why);
        add(facts.suited("precise"), &alike);
    }
    if !facts.smooth() {
        add(linearised(facts), &|| "a loss with kinks of curved averages: linearised".to_owned());
    }
    let single = single_samples(facts);
    add(single, &|| if facts.smooth() { ASKS_NOTHING } else { KINKS }.to_owned());
    if facts.calls_are_dear() && list.len() > 1 {
        list.retain(|candidate| Some(candidate.method) != single);
    }
    list
}

/// Why most coordinates are likely to rest at 0, if they are: g has a kink there along nearly all.
fn few_that_matter(facts: &Facts<'_>) -> Option<String> {
    let kinks = facts.kinks();
    let many = kinks >= MANY_KINKS && facts.mostly_kinks() && facts.affine() && facts.smooth();
    many.then(|| format!("{} that rest at 0 unless they matter", counted(kinks, "coordinate")))
}

/// Coordinates from which on the prox-linear method comes before Newton's, and of these or the
/// averages the fewer, up to which its systems are solved at once; samples of a term on which one
/// look at phi costs next to nothing. See `experiments/results/beyond.md`. Where terms have several
/// averages, as those of classes, L-BFGS was up to 20 times faster (`auto.md`).
const MANY_COORDINATES: usize = 257;
const SOLVED: usize = 2000;
const SAMPLES: usize = 32;

/// The prox-linear method where it comes first, if its Jacobians fit into memory: for kinks of
/// curved averages, where nothing else was fast, and for curved averages of many samples in many
/// coordinates, which no other term shares.
fn linearised(facts: &Facts<'_>) -> Option<&'static str> {
    if facts.affine() || facts.calls_are_dear() || !facts.jacobians_fit() {
        return None;
    }
    let many = facts.d() >= MANY_COORDINATES && facts.samples() >= SAMPLES && facts.has_own_rows();
    let many = many && facts.averages() == facts.n_x();
    let is_first = !facts.smooth() || many && facts.d().min(facts.averages()) <= SOLVED;
    facts.suited("prox-linear").filter(|_| is_first)
}

/// Why these come at last, or first.
const ASKS_NOTHING: &str = "steps on single samples ask nothing of the problem";
const KINKS: &str = "a loss with kinks: primal-dual steps ask for no gradient of it";

/// SVRPDA-I, or II where its mean Jacobians do not fit into memory.
fn single_samples(facts: &Facts<'_>) -> Option<&'static str> {
    facts.suited(if facts.jacobians_fit() { "svrpda1" } else { "svrpda2" })
}

/// 1 coordinate, 25 coordinates
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
