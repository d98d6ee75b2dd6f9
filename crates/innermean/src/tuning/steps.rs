//! Step rules: from what is known of a problem to `alpha_theta`, `alpha_w` and M.

use serde::{Deserialize, Serialize};

use crate::methods::reference::Reference;
use crate::methods::svrpda::Settings;
use crate::model::inner::{Inner, jacobian_spread, mean_jacobian_norm, typical_mean_jacobian};
use crate::model::problem::{Constants, Objective};
use crate::model::setting::{InvalidSetting, at_least_one};
use crate::oracle::snapshot_calls;
use crate::tuning::choice::{Choice, ChoiceError, Mirror};

/// Where the step sizes come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRule {
    /// Found anew at each snapshot, M too, where phi has no kinks; otherwise, and where a step or M
    /// is given, scaled. `docs/automatic-steps.md` says how.
    #[default]
    Automatic,
    /// From the scale of the problem, once; needs neither strong convexity nor smoothness. See
    /// [`scaled`].
    Scaled,
    /// Theorem 1 (Option I): a proven factor of 3/4 for each outer iteration.
    Theorem1,
    /// Theorem 2 (Option II): a proven factor of 5/8 for each outer iteration.
    Theorem2,
    /// Theorem 3 (`n_Y = 1`, affine f, single loop): a factor of `1 - 1/(1 + 8 kappa + 2 n_X)` for
    /// each step. The paper prints 2 for the 8, which its steps cannot reach.
    Theorem3,
}

/// Two step sizes and the length of an outer iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The primal step.
    pub alpha_theta: f64,
    /// The dual step.
    pub alpha_w: f64,
    /// M
    pub inner_iterations: usize,
}

/// A theorem was asked for whose assumptions the problem does not meet.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{theorem} gives no steps for this problem: {missing}")]
pub struct Unmet {
    theorem: &'static str,
    missing: String,
}

impl Settings {
    /// Settings of SVRPDA-I and II for `problem`: the rule's values where the choice has none,
    /// checked. `theta` is the start.
    ///
    /// # Errors
    /// If the rule is a theorem whose assumptions the problem does not meet, or a value is not
    /// above zero.
    pub fn choose<'p>(
        choice: &Choice,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Settings, ChoiceError> {
        let problem = problem.into();
        let f = problem.inner;
        let n_x = f.n_x();
        let fixed = choice.alpha_theta.is_some()
            || choice.alpha_w.is_some()
            || choice.inner_iterations.is_some()
            || problem.merit.has_kinks();
        let rule = match choice.rule.unwrap_or_default() {
            StepRule::Automatic if fixed => StepRule::Scaled,
            rule => rule,
        };
        let (anderson, mirror) = (choice.anderson.unwrap_or(0), choice.mirror.unwrap_or_default());
        let conjugate = mirror == Mirror::Conjugate;
        if problem.merit.has_kinks() && anderson > 0 {
            let expected = "0: phi has a kink, and iterates circle around the saddle point";
            return Err(InvalidSetting::new("anderson", anderson.to_string(), expected).into());
        }
        if conjugate && problem.merit.has_kinks() {
            let expected = "euclidean: phi has a kink, and the conjugate mirror needs its gradient";
            return Err(InvalidSetting::new("mirror", "conjugate", expected).into());
        }
        if conjugate && !matches!(rule, StepRule::Automatic | StepRule::Scaled) {
            let expected = "euclidean: the theorems' steps are for it";
            return Err(InvalidSetting::new("mirror", "conjugate", expected).into());
        }
        let constants = problem.constants();
        let outer_batch = choice.outer_batch(1)?;
        let batch = match choice.batch {
            Some(batch) => at_least_one("batch", batch)?,
            // The theorems are about single samples; where f is affine, averages are stored and
            // scatter is small.
            None if matches!(rule, StepRule::Automatic | StepRule::Scaled)
                && !f.facts().affine
                && anderson == 0 =>
            {
                f.facts().block
            }
            None => 1,
        };
        let steps = match (rule, choice.alpha_theta, choice.alpha_w, choice.inner_iterations) {
            (StepRule::Scaled, Some(alpha_theta), Some(alpha_w), Some(inner_iterations)) => {
                Steps { alpha_theta, alpha_w, inner_iterations }
            }
            (StepRule::Automatic, ..) if choice.warmup_epochs.unwrap_or(0) == 0 => not_used(f),
            (StepRule::Automatic | StepRule::Scaled, ..) => {
                scaled_for_batches(problem, theta, batch, outer_batch)
            }
            (StepRule::Theorem1, ..) => theorem1(&constants, n_x)?,
            (StepRule::Theorem2, ..) => theorem2(&constants, n_x)?,
            (StepRule::Theorem3, ..) => theorem3(&constants, f)?,
        };
        let settings = Settings {
            alpha_theta: choice.alpha_theta.unwrap_or(steps.alpha_theta),
            // In the unit of phi* itself, with its own distance.
            alpha_w: choice.alpha_w.unwrap_or(if conjugate {
                steps.alpha_w * problem.gamma_at(&problem.allowed(theta))
            } else {
                steps.alpha_w
            }),
            inner_iterations: choice.inner_iterations.unwrap_or(steps.inner_iterations),
            reference: choice.reference.unwrap_or(match rule {
                StepRule::Theorem2 => Reference::Random,
                StepRule::Scaled if problem.merit.has_kinks() => Reference::Average,
                _ => Reference::Last,
            }),
            warmup_epochs: choice.warmup_epochs.unwrap_or(0),
            single_loop: rule == StepRule::Theorem3,
            batch,
            outer_batch,
            automatic: rule == StepRule::Automatic,
            guarded: choice.leaves_steps() && choice.rule.unwrap_or_default() != rule,
            leak: choice.leak.unwrap_or_default(),
            anderson,
            mirror,
            seed: choice.seed,
        };
        settings.check()?;
        Ok(settings)
    }
}

/// What is in the settings where steps are found at each snapshot and the first outer iteration
/// begins with one. Data of such a size that there can be no steps are found here all the same:
/// `alpha_theta` is then zero.
fn not_used(f: &dyn Inner) -> Steps {
    let r = f.bounds().mean_jacobian.unwrap_or(1.0);
    Steps { alpha_theta: 1.0 / (r * r).max(f64::MIN_POSITIVE), alpha_w: 1.0, inner_iterations: 1 }
}

/// Steps in the natural units of the problem.
///
/// With `R = max_i |fbar_i'|` the saddle function couples theta and `w_i` by at most R, and
/// single-coordinate primal-dual methods are stable while `alpha_theta alpha_w R^2` is about 1.
/// What remains is their ratio: `alpha_w` is the size of a dual over the size of an average. For a
/// smooth phi that is `1/gamma`, its curvature. For a Lipschitz phi with kinks it is some `B_w`
/// over the typical average at the start or, if all are zero there, at equal weights 1/d; its duals
/// are bounded, so that larger steps are stable. Where single samples f' scatter around their mean,
/// their spread is added to `R^2`.
pub fn scaled<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> Steps {
    let problem = problem.into();
    scaled_for_batches(problem, theta, 1, 1)
}

/// [`scaled`] for steps in batches. The average of `batch` samples scatters this many times less
/// than one of them does. A step that changes `outer_batch` duals renews all of them in this many
/// times fewer steps.
pub(crate) fn scaled_for_batches(
    problem: Objective<'_>,
    theta: &[f64],
    batch: usize,
    outer_batch: usize,
) -> Steps {
    let f = problem.inner;
    let scatter = SPREAD / batch as f64;
    let mut steps =
        scaled_for_averages(problem, theta, scatter * jacobian_spread(f, &problem.allowed(theta)));
    steps.inner_iterations = steps.inner_iterations.div_ceil(outer_batch);
    // Where a pass over the data costs more than that, as many steps as cost the same.
    let snapshot = snapshot_calls(f).total() as usize / (CALLS_PER_STEP * batch * outer_batch);
    let alpha_theta = if f.facts().affine {
        steps.alpha_theta
    } else {
        tamed(problem, theta, scatter, steps.alpha_theta)
    };
    Steps { alpha_theta, inner_iterations: steps.inner_iterations.max(snapshot), ..steps }
}

/// `alpha_theta`, or less where f' of an f that is not affine would outgrow it. While the duals are
/// renewed once, in `n_X` steps, theta moves by about `n_X alpha_theta F'`: there, the Jacobians
/// may not be much larger than at the start, and the step is made for the larger ones. Bounded
/// links pass as they are; an exponential runs away otherwise before its duals notice.
fn tamed(problem: Objective<'_>, theta: &[f64], scatter: f64, alpha_theta: f64) -> f64 {
    let f = problem.inner;
    let start = problem.allowed(theta);
    let size =
        |theta: &[f64]| mean_jacobian_norm(f, theta).powi(2) + scatter * jacobian_spread(f, theta);
    let first = size(&start);
    let mut gradient = vec![0.0; start.len()];
    problem.gradient(&start, &mut gradient);
    let mut alpha = alpha_theta;
    for _ in 0..MOST_HALVINGS {
        let mut moved = start.clone();
        problem.regularizer.step(alpha * f.n_x() as f64, &gradient, &mut moved);
        let there = size(&moved);
        if there <= GROWTH * first {
            // Where they grow on the first way already, they go on to.
            return alpha
                * if there > BEYOND_CHANCE * first {
                    PART_IF_GROWING * first / there
                } else {
                    1.0
                };
        }
        alpha *= 0.5;
    }
    alpha
}

/// By how much `|f'|^2` may grow while the duals are renewed.
const GROWTH: f64 = 4.0;
/// Growth that is more than rounding and chance.
const BEYOND_CHANCE: f64 = 1.05;
/// The factor on a step where Jacobians grow. Of three draws of Poisson counts SVRPDA-I diverged
/// on one with 1; of nine, on none with 1/2.
const PART_IF_GROWING: f64 = 0.5;
/// By a millionth, no step that fits begins.
const MOST_HALVINGS: usize = 20;

/// [`scaled`] where the averages themselves are at hand: nothing scatters, up to what is given, and
/// no snapshot is taken.
pub(crate) fn scaled_for_averages(problem: Objective<'_>, theta: &[f64], scatter: f64) -> Steps {
    let f = problem.inner;
    let n_x = f.n_x();
    let start = problem.allowed(theta);
    let r = mean_jacobian_norm(f, &start).max(f64::MIN_POSITIVE);
    let (gamma, b_w) = (problem.gamma_at(&start), problem.merit.lipschitz(f.ell()));
    let (alpha_w, coupling, epoch) = if gamma > 0.0 {
        (DUAL / gamma, COUPLING, EPOCH)
    } else if b_w.is_finite() {
        let typical = |theta: &[f64]| {
            let mut f_bar = vec![0.0; n_x * f.ell()];
            f.means(theta, &mut f_bar);
            (f_bar.iter().map(|v| v * v).sum::<f64>() / f_bar.len() as f64).sqrt()
        };
        let d = f.d();
        let sizes = [typical(&start), typical(&problem.allowed(&vec![1.0 / d as f64; d])), r];
        let size = sizes.into_iter().find(|&size| size > 0.0).unwrap_or(r);
        (KINK_DUAL * b_w / size, KINK_COUPLING, KINK_EPOCH)
    } else {
        (1.0, COUPLING, EPOCH)
    };
    let size_squared = r * r + scatter;
    Steps {
        alpha_theta: coupling / (alpha_w * size_squared),
        alpha_w,
        inner_iterations: epoch * n_x,
    }
}

/// The weight of [`jacobian_spread`] beside `R^2`. SVRPDA-II, whose U follows single samples,
/// diverges for 8 and not for 16 where samples scatter by twice their mean or more; on the paper's
/// portfolios 16 costs a quarter more calls than 0.
const SPREAD: f64 = 16.0;
/// `alpha_w gamma` of the scaled rule. On the paper's 18 portfolios, values from 1 to 4 are within
/// a third of the best.
const DUAL: f64 = 2.0;
/// `alpha_theta alpha_w R^2` of the scaled rule; from 1 to 3 likewise.
const COUPLING: f64 = 2.0;
/// `M / n_X` of the scaled rule: an epoch much shorter leaves most duals stale.
const EPOCH: usize = 4;
/// Of SVRPDA-I with affine f.
const CALLS_PER_STEP: usize = 2;
/// `alpha_w` over (`B_w` / typical average) for a phi with kinks. Of 1, 3 and 10 the best on
/// absolute deviation over eight generated markets, long-only and in a box.
const KINK_DUAL: f64 = 3.0;
/// `alpha_theta alpha_w R^2` for a phi with kinks. Twice as much is faster long-only and fails
/// where the optimum is zero.
const KINK_COUPLING: f64 = 8.0;
/// `M / n_X` for a phi with kinks, where each outer iteration ends in averages.
const KINK_EPOCH: usize = 8;

/// SPDC: `tau = (1/R) sqrt(gamma / (n mu))`, `sigma = (1/R) sqrt(n mu / gamma)` and `q = 1 - 1/(n +
/// R sqrt(n / (mu gamma)))`, where m is the batch and n is `n_X / m`.
///
/// Differs: the paper's steps are half of these, and its R is the length of the longest row. Here
/// `R^2` is the longest times the typical length (the root mean square). With equal rows `tau sigma
/// |a|^2 = 1` is the best, and 4 diverges; with the heavy tails of daily returns, where the longest
/// row is ten times the typical one, 8 to 16 times that for the longest row is the best: the
/// geometric mean is near both. Differs: the mu of g alone says nothing where P is strongly convex
/// through phi, as without a ridge. So that a pass renews the duals, `sigma` is at least `1/gamma`:
/// mu is taken as at least `R^2 / (n gamma)`. Of 0.1, 0.3, 1, 3 and 10 over gamma, 1 was the best
/// or next to it on the paper's 18 portfolios and on 16 random ridge and logistic regressions with
/// a small mu.
pub fn accelerated<'p>(
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    batch: usize,
) -> (Steps, f64) {
    let problem = problem.into();
    let f = problem.inner;
    let n = f.n_x() as f64 / batch as f64;
    let start = problem.allowed(theta);
    let gamma = problem.gamma_at(&start);
    let r_squared = mean_jacobian_norm(f, &start) * typical_mean_jacobian(f, &start);
    let r_squared = r_squared.max(f64::MIN_POSITIVE);
    let mu = problem.regularizer.mu().max(r_squared / (n * gamma));
    let steps = Steps {
        alpha_theta: (gamma / (n * mu * r_squared)).sqrt(),
        alpha_w: (n * mu / (gamma * r_squared)).sqrt(),
        inner_iterations: f.n_x().div_ceil(batch),
    };
    (steps, 1.0 - 1.0 / (n + (n * r_squared / (mu * gamma)).sqrt()))
}

/// `kappa = B_f^2 / (gamma mu) + B_w^2 B_theta^2 / mu^2` and what it is made of.
struct Condition {
    b_f: f64,
    /// `B_theta B_w`, zero for affine f even where phi is not Lipschitz
    curvature: f64,
    gamma: f64,
    mu: f64,
    kappa: f64,
}

impl Condition {
    fn of(constants: &Constants, theorem: &'static str) -> Result<Self, Unmet> {
        let unmet = |missing: &str| Unmet { theorem, missing: missing.to_owned() };
        let Constants { b_f, b_theta, b_w, gamma, mu } = *constants;
        if mu <= 0.0 {
            return Err(unmet(
                "g is not strongly convex (mu = 0); add a ridge term (l2 > 0) on all coordinates \
                 or give the steps",
            ));
        }
        if gamma <= 0.0 {
            return Err(unmet(
                "phi is not smooth (gamma = 0); take a smooth phi or give the steps",
            ));
        }
        let b_f = b_f
            .ok_or_else(|| unmet("f does not know a bound B_f on its Jacobian; give the steps"))?;
        let b_theta = b_theta
            .ok_or_else(|| unmet("f does not know its smoothness B_theta; give the steps"))?;
        let curvature = if b_theta == 0.0 { 0.0 } else { b_theta * b_w };
        if !curvature.is_finite() {
            return Err(unmet(
                "phi is not Lipschitz and f is not affine; take a Lipschitz phi or give the steps",
            ));
        }
        let kappa = b_f * b_f / (gamma * mu) + curvature * curvature / (mu * mu);
        Ok(Condition { b_f, curvature, gamma, mu, kappa })
    }
}

/// Theorem 1, for Option I: `alpha_theta = 1 / (n_X mu (64 kappa + 1))`, `alpha_w = n_X mu
/// alpha_theta / gamma`, `M = ceil(78.8 n_X kappa + 1.3 n_X + 1.3)`.
///
/// # Errors
/// If mu, gamma or a bound is missing.
pub fn theorem1(constants: &Constants, n_x: usize) -> Result<Steps, Unmet> {
    let Condition { gamma, mu, kappa, .. } = Condition::of(constants, "Theorem 1")?;
    let n = n_x as f64;
    let alpha_theta = 1.0 / (n * mu * (64.0 * kappa + 1.0));
    Ok(Steps {
        alpha_theta,
        alpha_w: n * mu / gamma * alpha_theta,
        inner_iterations: (78.8 * n * kappa + 1.3 * n + 1.3).ceil() as usize,
    })
}

/// Theorem 2, for Option II: `alpha_theta = 1 / (25 B_f^2/gamma + 10 B_theta B_w + 80 B_w^2
/// B_theta^2/mu)`, `alpha_w = mu / (40 B_f^2)`, `M = max(10/(alpha_theta mu), 2 n_X/(alpha_w
/// gamma), 4 n_X)`.
///
/// # Errors
/// If mu, gamma or a bound is missing.
pub fn theorem2(constants: &Constants, n_x: usize) -> Result<Steps, Unmet> {
    let Condition { b_f, curvature, gamma, mu, .. } = Condition::of(constants, "Theorem 2")?;
    let n = n_x as f64;
    let alpha_theta =
        1.0 / (25.0 * b_f * b_f / gamma + 10.0 * curvature + 80.0 * curvature * curvature / mu);
    let alpha_w = mu / (40.0 * b_f * b_f);
    let steps = (10.0 / (alpha_theta * mu)).max(2.0 * n / (alpha_w * gamma)).max(4.0 * n);
    Ok(Steps { alpha_theta, alpha_w, inner_iterations: steps.ceil() as usize })
}

/// Theorem 3, for `n_Y = 1` and affine f: `alpha_theta = gamma / (16 B_f^2 + 4 n_X mu gamma)`,
/// `alpha_w = (3 n_X + kappa + 1) / (2 gamma (n_X + kappa + 1))`; a single loop, looked at every
/// `n_X` steps.
///
/// # Errors
/// If f is not affine, some `n_Y` is not 1, or mu, gamma or a bound is missing.
pub fn theorem3(constants: &Constants, f: &dyn Inner) -> Result<Steps, Unmet> {
    let unmet = |missing: String| Unmet { theorem: "Theorem 3", missing };
    if !f.facts().affine {
        return Err(unmet("f is not affine; take Theorem 1 or 2 or give the steps".to_owned()));
    }
    if let Some(i) = (0..f.n_x()).find(|&i| f.n_y(i) != 1) {
        return Err(unmet(format!(
            "it needs n_Y = 1, but outer term {i} averages {} samples; take Theorem 1 or 2 or give \
             the steps",
            f.n_y(i)
        )));
    }
    let Condition { b_f, gamma, mu, kappa, .. } = Condition::of(constants, "Theorem 3")?;
    let n = f.n_x() as f64;
    Ok(Steps {
        alpha_theta: gamma / (16.0 * b_f * b_f + 4.0 * n * mu * gamma),
        alpha_w: (3.0 * n + kappa + 1.0) / (2.0 * gamma * (n + kappa + 1.0)),
        inner_iterations: f.n_x(),
    })
}
