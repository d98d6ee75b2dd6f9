//! What was claimed, beside what is true: the verdicts.

use innermean::{Certificate, Solution, Status};
use serde::Serialize;

use super::curved::Curved;
use super::descent::descend;
use super::double_double::Dd;
use super::draw::Truth;
use super::objective::Affine;
use super::rival;
use super::runs::Run;

/// What is wrong with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A feasible point lies below the objective minus the gap, by more than rounding.
    FalseClaim,
    /// Called solved, and a better point is further below than the tolerance.
    WrongSolved,
    /// Called solved, and there is no minimum.
    UnboundedSolved,
    /// It panicked.
    Panic,
    /// `auto` as it comes did not solve a problem that has a minimum.
    NotSolved,
    /// The objective is not that of theta.
    WrongObjective,
    /// A feasible point lies below the objective minus the gap, by rounding.
    RoundedClaim,
}

impl Verdict {
    /// All of them, the worst first.
    pub const ALL: [Verdict; 7] = [
        Verdict::FalseClaim,
        Verdict::WrongSolved,
        Verdict::UnboundedSolved,
        Verdict::Panic,
        Verdict::NotSolved,
        Verdict::WrongObjective,
        Verdict::RoundedClaim,
    ];

    /// In a few words.
    pub fn title(self) -> &'static str {
        match self {
            Verdict::FalseClaim => "false claim",
            Verdict::WrongSolved => "wrong 'solved'",
            Verdict::UnboundedSolved => "unbounded 'solved'",
            Verdict::Panic => "panic",
            Verdict::NotSolved => "not solved",
            Verdict::WrongObjective => "other objective",
            Verdict::RoundedClaim => "claim off by rounding",
        }
    }
}

/// Below objective minus gap by so much of the scale is no rounding.
const FALSE: f64 = 1e-9;
/// Of an objective that is not convex, by which a point called stationary may be above where steps from it lead.
const STATIONARY: f64 = 1e-3;
/// A first step that gains less than this found no slope.
const NO_SLOPE: f64 = 1e-6;
/// What an objective may be off, of its scale.
const PRINTED: f64 = 1e-12;
/// And of the sizes of all that was summed up for it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// A problem whose minimum lies beyond this, in units in which columns and targets have size 1, is as good as unbounded for doubles.
const FAR: f64 = 1e8;

/// A point, its objective, and how far out it lies.
struct Point {
    theta: Vec<Dd>,
    objective: Dd,
}

/// What is known of a problem beside what the runs say.
pub struct Facts {
    points: Vec<Point>,
    /// Whether the objective falls for ever.
    pub unbounded: bool,
    /// Whether its minimum, or what comes near enough, lies where doubles can tell.
    pub near: bool,
    /// The least objective of all points.
    pub best: Dd,
    /// `|F| + |g|` at the origin.
    origin: Dd,
}

/// A run with what is wrong with it.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// The method's name, or `auto`.
    pub method: String,
    /// The tolerance asked for.
    pub tolerance: f64,
    /// Why it ended.
    pub status: String,
    /// What it says about optimality.
    pub measure: String,
    /// As printed.
    pub objective: f64,
    /// That of theta.
    pub true_objective: f64,
    /// As claimed.
    pub gap: Option<f64>,
    /// The least objective known, within what the claim speaks of.
    pub best: f64,
    /// What differences are relative to.
    pub scale: f64,
    /// All that is wrong, and by how much of the scale.
    pub verdicts: Vec<(Verdict, f64)>,
}

/// If a claim speaks of points up to some size alone: the size.
pub fn hypothesis(certificate: &Certificate) -> Option<f64> {
    let Certificate { .. } = certificate;
    None
}

fn dd(theta: &[f64]) -> Vec<Dd> {
    theta.iter().map(|x| Dd::from(*x)).collect()
}

impl Facts {
    /// Gathers all points that the runs and the rival have found.
    pub fn gather(truth: &Truth, runs: &[Run]) -> Self {
        let penalty = truth.penalty();
        let origin = penalty.origin();
        let mut points = Vec::new();
        let mut add = |theta: &[Dd]| {
            if let Some(theta) = penalty.repaired(theta) {
                let objective = truth.objective(&theta);
                if objective.is_finite() {
                    points.push(Point { theta, objective });
                }
            }
        };
        add(&origin);
        for solution in runs.iter().filter_map(|run| run.outcome.as_ref().ok()?.as_ref()) {
            add(&dd(&solution.theta));
        }
        let mut unbounded = false;
        if let Truth::Affine(affine) = truth {
            let path = rival::minimise(affine, &penalty.inside());
            path.points.iter().for_each(|theta| add(theta));
            let lowest = |points: &[Point]| {
                let best = points.iter().reduce(|a, b| if b.objective < a.objective { b } else { a });
                best.map(|best| best.theta.clone()).unwrap_or_default()
            };
            let mut best = lowest(&points);
            if affine.is_free() {
                let path = rival::minimise(affine, &best);
                for theta in &path.points {
                    if let Some(theta) = penalty.repaired(theta) {
                        points.push(Point { objective: affine.objective(&theta), theta });
                    }
                }
                best = lowest(&points);
            }
            let direction: Vec<Dd> = best.iter().zip(&origin).map(|(x, o)| *x - *o).collect();
            unbounded = path.recession.is_some() || affine.falls_for_ever(&origin, &direction);
        }
        points.retain(|point| point.objective.is_finite());
        let best = points.iter().map(|point| point.objective).reduce(Dd::min).unwrap_or(Dd::ZERO);
        let origin = truth.magnitude(&origin);
        let mut facts = Facts { points, unbounded, near: true, best, origin };
        if let Truth::Affine(affine) = truth {
            facts.near = facts.is_near(affine);
        }
        facts
    }

    /// Whether a point that is good enough lies where doubles can tell.
    fn is_near(&self, affine: &Affine) -> bool {
        let sizes = affine.column_sizes();
        let targets = affine.offsets.iter().map(|b| b.abs().rounded()).fold(1.0, f64::max);
        self.points.iter().any(|point| {
            let scale = (self.origin + point.objective.abs()).rounded();
            let good = (point.objective - self.best).rounded() <= 5e-7 * scale;
            let reach = point.theta.iter().zip(&sizes).map(|(x, size)| x.abs().rounded() * size);
            good && reach.fold(0.0, f64::max) <= FAR * targets
        })
    }

    /// The least objective of points within `reach` in all coordinates.
    fn best_within(&self, reach: Option<f64>) -> Dd {
        let Some(reach) = reach else { return self.best };
        let within = |point: &&Point| point.theta.iter().all(|x| x.abs().rounded() <= reach);
        self.points.iter().filter(within).map(|point| point.objective).fold(Dd::from(f64::INFINITY), Dd::min)
    }

    /// What is wrong with a run; none if the method was refused.
    pub fn judge(&self, truth: &Truth, run: &Run) -> Option<Judged> {
        let mut judged = Judged {
            method: run.method.clone(),
            tolerance: run.tolerance,
            status: String::new(),
            measure: String::new(),
            objective: f64::NAN,
            true_objective: f64::NAN,
            gap: None,
            best: self.best.rounded(),
            scale: 0.0,
            verdicts: Vec::new(),
        };
        match &run.outcome {
            Ok(None) => return None,
            Err(panic) => {
                judged.status.clone_from(panic);
                judged.verdicts.push((Verdict::Panic, f64::INFINITY));
            }
            Ok(Some(solution)) => self.judge_solution(truth, run, solution, &mut judged),
        }
        Some(judged)
    }

    fn judge_solution(&self, truth: &Truth, run: &Run, solution: &Solution, judged: &mut Judged) {
        let theta = dd(&solution.theta);
        let certificate = &solution.certificate;
        let objective = truth.objective(&theta);
        let scale = self.origin.max(truth.magnitude(&theta)).rounded();
        let scale = scale.max(solution.objective.abs().min(f64::MAX)).max(f64::MIN_POSITIVE);
        judged.status = solution.status.to_string();
        certificate.measure.title().clone_into(&mut judged.measure);
        (judged.objective, judged.true_objective) = (solution.objective, objective.rounded());
        judged.scale = scale;
        let relative = |x: Dd| x.rounded() / scale;
        let mut found = Vec::new();
        if let Some(gap) = certificate.gap.filter(|_| certificate.measure.is_gap()) {
            judged.gap = Some(gap);
            let best = self.best_within(hypothesis(certificate));
            judged.best = best.rounded();
            let above = relative(Dd::from(solution.objective) - Dd::from(gap) - best);
            if above > FALSE {
                found.push((Verdict::FalseClaim, above));
            } else if above > 0.0 {
                found.push((Verdict::RoundedClaim, above));
            }
        }
        let solved = solution.status == Status::Solved;
        if solved && self.unbounded {
            found.push((Verdict::UnboundedSolved, f64::INFINITY));
        } else if solved {
            let (above, allowed) = match truth {
                Truth::Affine(_) if !objective.is_finite() => (f64::INFINITY, run.tolerance),
                Truth::Affine(_) => (relative(objective - self.best), run.tolerance.max(FALSE)),
                Truth::Curved(curved) => (slope_left(curved, solution, scale), STATIONARY),
            };
            if above > allowed * 1.001 {
                found.push((Verdict::WrongSolved, above));
            }
        } else if run.is_default && !self.unbounded && self.near {
            found.push((Verdict::NotSolved, relative(objective - self.best)));
        }
        let rounding = match truth {
            Truth::Affine(affine) => affine.rounding_size(&theta).rounded() * ROUNDING,
            // A score moves the loss by no more than itself, or by as much as the loss is large.
            Truth::Curved(curved) => curved.score_size(&solution.theta) * scale.max(1.0) * ROUNDING,
        };
        let off = (Dd::from(solution.objective) - objective).abs().rounded();
        // Not `off > ...`: a NaN is wrong, too.
        let unsaid = solution.status == Status::StartNotFinite || !objective.is_finite();
        let right = unsaid || off <= PRINTED * scale + rounding;
        if !right {
            found.push((Verdict::WrongObjective, off / scale));
        }
        judged.verdicts = found;
    }
}

/// How much of the scale steps from a point called stationary gain, if there is a slope at all.
fn slope_left(curved: &Curved, solution: &Solution, scale: f64) -> f64 {
    let objective = |theta: &[f64]| {
        let (f, g) = curved.parts(&dd(theta));
        f + g
    };
    let here = objective(&solution.theta);
    let descent = descend(curved, &solution.theta);
    let first = (here - objective(&descent.first)).rounded() / scale;
    if first > NO_SLOPE { (here - objective(&descent.last)).rounded() / scale } else { 0.0 }
}
