//! What was claimed, beside what is true: the verdicts.

use serde::Serialize;

use super::answer::Answer;
use super::curved::Curved;
use super::descent::descend;
use super::double_double::Dd;
use super::draw::Truth;
use super::objective::Affine;
use super::penalty::Part;
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
    /// Said to have no minimum, and has one that doubles can tell.
    WrongUnbounded,
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
    pub const ALL: [Verdict; 8] = [
        Verdict::FalseClaim,
        Verdict::WrongSolved,
        Verdict::UnboundedSolved,
        Verdict::WrongUnbounded,
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
            Verdict::WrongUnbounded => "wrong 'no minimum'",
            Verdict::Panic => "panic",
            Verdict::NotSolved => "not solved",
            Verdict::WrongObjective => "other objective",
            Verdict::RoundedClaim => "claim off by rounding",
        }
    }
}

/// Below objective minus gap by so much of the scale is no rounding.
const FALSE: f64 = 1e-9;
/// Of an objective that is not convex, by which a point called stationary may be above where steps
/// from it lead.
const STATIONARY: f64 = 1e-3;
/// A first step that gains less than this found no slope.
const NO_SLOPE: f64 = 1e-6;
/// Of the objective where every column counts as 1: what is as good as 0.
const AS_GOOD_AS_ZERO: f64 = 1e-6;
/// What an objective may be off, of its scale.
const PRINTED: f64 = 1e-12;
/// And of the sizes of all that was summed up for it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// And what the judge's own numbers are rounded by, of the same: `2^-104` for each of some hundred.
const DIGITS: f64 = 1e-29;
/// An objective that is as good as infinite, whoever found it.
const ENDLESS: f64 = 1e200;
/// A problem whose minimum lies beyond this, in units in which columns and targets have size 1, is
/// as good as unbounded for doubles.
const FAR: f64 = 1e8;
/// How often what is free is doubled to see whether a minimum that is not convex lies at infinity.
const DOUBLINGS: i32 = 20;

/// A point, its objective, and how far out it lies.
struct Point {
    theta: Vec<Dd>,
    objective: Dd,
}

/// Points that the constraints allow.
struct Points<'t> {
    truth: &'t Truth,
    all: Vec<Point>,
}

impl Points<'_> {
    /// Takes a point in, if rounding alone keeps it from being allowed; comes back with its
    /// objective.
    fn add(&mut self, theta: &[Dd]) -> Option<Dd> {
        let theta = self.truth.penalty().repaired(theta)?;
        let mut objective = self.truth.objective(&theta);
        if let Truth::Affine(affine) = self.truth {
            // Certainly no more than that: far out along columns that cancel, 32 digits are few.
            objective += affine.rounding_size(&theta) * Dd::from(DIGITS);
        }
        objective.is_finite().then(|| {
            self.all.push(Point { theta, objective });
            objective
        })
    }

    /// Takes all in; comes back with the least objective of them.
    fn add_all(&mut self, thetas: &[Vec<Dd>]) -> Dd {
        thetas.iter().filter_map(|theta| self.add(theta)).fold(Dd::from(f64::INFINITY), Dd::min)
    }

    /// The best of all, and its objective.
    fn lowest(&self) -> (Vec<Dd>, Dd) {
        let best = self.all.iter().reduce(|a, b| if b.objective < a.objective { b } else { a });
        best.map_or((Vec::new(), Dd::ZERO), |best| (best.theta.clone(), best.objective))
    }
}

/// What is known of a problem beside what the runs say.
pub struct Facts {
    points: Vec<Point>,
    /// Whether the objective falls for ever.
    pub unbounded: bool,
    /// Whether its minimum, or what comes near enough, lies where doubles can tell.
    pub near: bool,
    /// By how much of the scale the rival, from its own start, ended above the best point of the
    /// runs: how good an instrument it is.
    pub behind: f64,
    /// The least objective of all points.
    pub best: Dd,
    /// `|F| + |g|` at the origin.
    origin: Dd,
    /// And at the point of the least objective.
    lowest: Dd,
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
    /// The answer.
    pub theta: Vec<f64>,
    /// All that is wrong, and by how much of the scale.
    pub verdicts: Vec<(Verdict, f64)>,
}

fn dd(theta: &[f64]) -> Vec<Dd> {
    theta.iter().map(|x| Dd::from(*x)).collect()
}

impl Facts {
    /// Gathers all points that the runs and the rival have found.
    pub fn gather(truth: &Truth, runs: &[Run]) -> Self {
        let origin = truth.penalty().origin();
        let mut points = Points { truth, all: Vec::new() };
        points.add(&origin);
        for answer in runs.iter().filter_map(|run| run.outcome.as_ref().ok()?.as_ref()) {
            points.add(&dd(&answer.theta));
        }
        let (mut unbounded, mut behind) = (false, 0.0);
        let origin_size = truth.magnitude(&origin);
        if let Truth::Affine(affine) = truth {
            let start = truth.penalty().inside();
            let path = rival::minimise(affine, &start);
            let found = points.add_all(&path.points);
            let (mut best, lowest) = points.lowest();
            let scale = (origin_size + lowest.abs() + truth.magnitude(&start)).rounded();
            // Zero is met exactly by those who begin there, and by nobody who keeps a distance from
            // kinks.
            if path.recession.is_none() && lowest != Dd::ZERO {
                behind = (found - lowest).rounded() / scale.max(f64::MIN_POSITIVE);
            }
            if affine.is_free() {
                points.add_all(&rival::minimise(affine, &best).points);
                best = points.lowest().0;
            }
            let direction: Vec<Dd> = best.iter().zip(&origin).map(|(x, o)| *x - *o).collect();
            unbounded = affine.rises_by_logarithms()
                || path.recession.is_some()
                || affine.falls_for_ever(&origin, &direction);
        }
        let (point, best) = points.lowest();
        let lowest = truth.magnitude(&point);
        let mut facts = Facts {
            points: points.all,
            unbounded,
            near: true,
            behind,
            best,
            origin: origin_size,
            lowest,
        };
        facts.near = match truth {
            Truth::Affine(affine) => facts.is_near(affine),
            Truth::Curved(curved) => !runs_away(curved, &point),
        };
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

    /// The least objective of points up to this many times as large as the answer, in units in
    /// which columns have size 1.
    fn best_within(&self, truth: &Truth, times: Option<f64>, answer: &[Dd]) -> Dd {
        let (Some(times), Truth::Affine(affine)) = (times, truth) else { return self.best };
        // By root mean squares, as the claim says, and by the largest numbers, as columns may have
        // been centred: a point at the border is no counterexample.
        let most = affine.column_sizes();
        let uncentred = most.iter().zip(&affine.uncentred).map(|(a, b)| a.max(*b)).collect();
        let ways: [Vec<f64>; 3] = [affine.mean_squares(), most, uncentred];
        let reach = |sizes: &[f64], theta: &[Dd]| {
            let sizes = theta.iter().zip(sizes).map(|(x, size)| x.abs().rounded() * size);
            sizes.fold(0.0, f64::max)
        };
        let mosts = ways.each_ref().map(|sizes| times * reach(sizes, answer));
        if mosts.contains(&0.0) {
            // Of zero, no multiple says anything.
            return self.best;
        }
        let within = |point: &&Point| {
            ways.iter().zip(&mosts).all(|(sizes, most)| reach(sizes, &point.theta) <= *most)
        };
        self.points
            .iter()
            .filter(within)
            .map(|point| point.objective)
            .fold(Dd::from(f64::INFINITY), Dd::min)
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
            theta: Vec::new(),
            verdicts: Vec::new(),
        };
        match &run.outcome {
            // A problem that can be drawn has an answer. The command refuses by rules of its own,
            // such as that on columns that never change.
            Ok(None) if run.method == "auto" && !self.unbounded && self.near => {
                "refused".clone_into(&mut judged.status);
                judged.verdicts.push((Verdict::NotSolved, f64::INFINITY));
            }
            Ok(None) => return None,
            Err(panic) => {
                judged.status.clone_from(panic);
                judged.verdicts.push((Verdict::Panic, f64::INFINITY));
            }
            Ok(Some(answer)) => self.judge_answer(truth, run, answer, &mut judged),
        }
        Some(judged)
    }

    fn judge_answer(&self, truth: &Truth, run: &Run, answer: &Answer, judged: &mut Judged) {
        let theta = dd(&answer.theta);
        let objective = truth.objective(&theta);
        // Of theta's objective, not of the printed one: nobody widens what is allowed by printing
        // more.
        let mut scale = self.origin.max(truth.magnitude(&theta)).rounded();
        if let (true, Truth::Affine(affine)) = (self.origin == Dd::ZERO, truth) {
            // What is as good as 0 beside the objective where every column counts as 1.
            let unit = |size: &f64| Dd::from(if *size > 0.0 { 1.0 / size } else { 0.0 });
            let there: Vec<Dd> = affine.column_sizes().iter().map(unit).collect();
            let (f, g) = truth.parts(&there);
            let as_zero = AS_GOOD_AS_ZERO * (f.abs() + g.abs()).rounded().min(f64::MAX);
            // But for a minimum that is plainly below 0: columns and penalties may all be small.
            // What is less than the last digit of F there, and of what g would bring without F, is
            // not.
            let last_digit = f64::EPSILON * f.abs().rounded().min(affine.penalty.depth());
            let below = -self.best;
            let is_plain = below > self.lowest * Dd::from(FALSE) && below.rounded() > last_digit;
            scale = scale.max(if is_plain { as_zero.min(self.lowest.rounded()) } else { as_zero });
        }
        let scale = scale.max(f64::MIN_POSITIVE);
        judged.theta.clone_from(&answer.theta);
        judged.status.clone_from(&answer.status);
        judged.measure.clone_from(&answer.measure);
        (judged.objective, judged.true_objective) = (answer.objective, objective.rounded());
        judged.scale = scale;
        let relative = |x: Dd| x.rounded() / scale;
        let mut found = Vec::new();
        if let Some(gap) = answer.gap {
            judged.gap = Some(gap);
            let best = self.best_within(truth, answer.within, &theta);
            judged.best = best.rounded();
            let mut above = relative(Dd::from(answer.objective) - Dd::from(gap) - best);
            if self.unbounded && answer.within.is_none() || above.is_nan() {
                above = f64::INFINITY;
            }
            if above > FALSE {
                found.push((Verdict::FalseClaim, above));
            } else if above > 0.0 {
                found.push((Verdict::RoundedClaim, above));
            }
        }
        let solved = answer.solved;
        if answer.endless && !self.unbounded && self.near {
            found.push((Verdict::WrongUnbounded, relative(objective - self.best)));
        }
        if solved && self.unbounded {
            found.push((Verdict::UnboundedSolved, f64::INFINITY));
        } else if solved {
            let (above, allowed) = match truth {
                // A theta that is no number or lies outside the constraints solves nothing.
                _ if truth.penalty().repaired(&theta).is_none() => (f64::INFINITY, run.tolerance),
                // Beyond what numbers of the judge can hold, as where classes are separable.
                Truth::Affine(_) if objective.rounded().is_nan() => (0.0, run.tolerance),
                Truth::Affine(_) if !objective.is_finite() => (f64::INFINITY, run.tolerance),
                // Among what the claim is about: further out, rounding of the data is all there is
                // to gain.
                Truth::Affine(_) => {
                    let best = self.best_within(truth, answer.within, &theta);
                    (relative(objective - best), run.tolerance.max(FALSE))
                }
                Truth::Curved(_) if !objective.is_finite() => (f64::INFINITY, STATIONARY),
                Truth::Curved(curved) => (slope_left(curved, &answer.theta, scale), STATIONARY),
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
            Truth::Curved(curved) => {
                (curved.score_size(&answer.theta) * scale.max(1.0) + curved.term_size()) * ROUNDING
            }
        };
        let off = (Dd::from(answer.objective) - objective).abs().rounded();
        // Not `off > ...`: a NaN is wrong, too.
        let endless = answer.objective.min(objective.rounded()) > ENDLESS;
        let unsaid = !answer.begun || !objective.is_finite() || endless;
        let right = unsaid || off == 0.0 || off <= PRINTED * scale + rounding;
        if !right {
            found.push((Verdict::WrongObjective, off / scale));
        }
        judged.verdicts = found;
    }
}

/// Whether a point that no penalty holds lies on the way to infinity: predictions of 0 and 1 fit
/// best there, and each doubling of what is free brings P closer to a value that none attains.
fn runs_away(curved: &Curved, theta: &[Dd]) -> bool {
    let is_free = |part: &Part| {
        part.l1 == 0.0 && part.l2 == 0.0 && part.lo.is_infinite() && part.hi.is_infinite()
    };
    let parts = &curved.penalty.parts;
    let at = |times: f64| {
        let stretched = theta.iter().zip(parts);
        let stretched =
            stretched.map(|(x, part)| if is_free(part) { *x * Dd::from(times) } else { *x });
        let (f, g) = curved.parts(&stretched.collect::<Vec<Dd>>());
        f + g
    };
    let values: Vec<Dd> = (0..=DOUBLINGS).map(|k| at(2.0_f64.powi(k))).collect();
    values[1] < values[0] && values.windows(2).all(|pair| pair[1] <= pair[0])
}

/// How much of the scale steps from a point called stationary gain, if there is a slope at all.
fn slope_left(curved: &Curved, theta: &[f64], scale: f64) -> f64 {
    let objective = |theta: &[f64]| {
        let (f, g) = curved.parts(&dd(theta));
        f + g
    };
    let here = objective(theta);
    let descent = descend(curved, theta);
    let first = (here - objective(&descent.first)).rounded() / scale;
    if first > NO_SLOPE { (here - objective(&descent.last)).rounded() / scale } else { 0.0 }
}
