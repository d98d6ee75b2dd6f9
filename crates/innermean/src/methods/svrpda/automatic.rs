//! Steps that need not be chosen: at each snapshot, where the gradient and the objective come
//! with the averages, the steps of the coming outer iteration are those that a forecast finds best
//! (`forecast.rs`), and the forecast learns from what came of the last.
//!
//! Differs: duals are renewed at each snapshot, `w_i = phi_i'(fbar_i(theta_ref))`: the queries of
//! phi that this takes are needed anyway to see where the run is.
//!
//! The safeguard: after a reference point that is worse than the worst of the last three, or not
//! finite, the run goes back to the best one with smaller steps. So steps fall until they are
//! stable, whatever the forecast says.

use serde::{Deserialize, Serialize};

use super::forecast::{Experience, Forecast, View};
use super::settings::drifting_epoch;
use super::{Pace, PrimalDual, Settings};
use crate::linalg::vector::{axpy, dot, norm_squared, sparse_axpy, sparse_dot};
use crate::methods::Noise;
use crate::methods::safeguard::{Safeguard, Seen, Verdict};
use crate::oracle::Oracle;
use crate::tuning::choice::{Leak, Mirror};
use crate::tuning::spectrum::{Mode, Spectrum};
use crate::tuning::steps::Steps;

/// What automatic steps remember from one outer iteration to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Automatic {
    /// The best reference point and its objective.
    best: (f64, Vec<f64>),
    /// The objectives of the last reference points.
    last: [f64; 3],
    /// The gap at the last reference point, as estimated there.
    gap: f64,
    /// What was expected of the outer iteration that has ended, if it went on from the last
    /// reference point.
    forecast: Option<Forecast>,
    experience: Experience,
    /// The steps of a run that forecasts have not brought to its end, and what watches over them.
    plain: Option<(Steps, Safeguard)>,
    /// Mean Jacobians of some terms, where the state does not hold those of all: `n_X d ell`
    /// numbers are too many, or f tells its supports. They are made again where a run goes on:
    /// those of an affine f are the same everywhere, and others are made anew at each reference
    /// point.
    #[serde(skip)]
    jacobians: Vec<f64>,
}

/// This many outer iterations are given to forecasts. All problems of `experiments/src/bin/grid.rs`
/// are solved in fewer.
const FORECAST_ITERATIONS: usize = 50;
/// The factor on steps after a failure.
pub(super) const STEP_REDUCTION: f64 = 0.25;
/// `alpha_theta` times the curvature that random terms have on average along a direction, at most.
const STABLE: f64 = 0.5;
/// `n_X p` of a leak.
const LEAK: f64 = 0.2;
/// An objective moves by so much of its parts from rounding alone.
pub(super) const ROUNDING: f64 = 1e-12;
/// Eigenvalues are looked for in this many steps, fewer where d is large.
const MODES: usize = 20;
const FEWER_MODES: usize = 10;
const LARGE: usize = 512;
/// Of more terms than this, and than four times d, a sample represents all.
const TERMS: usize = 512;
/// Directions of large terms along which the curvature is measured.
const DIRECTIONS: usize = 8;
/// Blocks of samples are taken where they cost at most this many times the calls of single ones:
/// they cost less time.
const MOST_CALLS_OF_BLOCK: f64 = 1.5;

impl Automatic {
    /// Whether all that it remembers is of a run in d coordinates with this many calls.
    pub(super) fn is_of(&self, d: usize, calls: u64) -> bool {
        [0, d].contains(&self.best.1.len())
            && self.plain.as_ref().is_none_or(|(_, guard)| guard.is_of(d, calls))
    }

    pub(super) fn new() -> Self {
        Automatic {
            best: (f64::INFINITY, Vec::new()),
            last: [f64::INFINITY; 3],
            gap: f64::INFINITY,
            forecast: None,
            experience: Experience { floor: 1.0, rate: 1.0, safe: 1.0 },
            plain: None,
            jacobians: Vec::new(),
        }
    }

    /// Takes note of a reference point. False if the run must go back to [`Self::best`].
    fn accepts(&mut self, objective: f64, magnitude: f64, theta: &[f64]) -> bool {
        let worst = self.last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rounding = ROUNDING * magnitude;
        let first = self.best.1.is_empty();
        if !first && (!objective.is_finite() || objective > worst + rounding) {
            self.forecast = None;
            self.experience.safe *= STEP_REDUCTION;
            self.experience.floor /= STEP_REDUCTION;
            return false;
        }
        self.last.rotate_left(1);
        self.last[2] = objective;
        if first || objective < self.best.0 {
            self.best = (objective, theta.to_vec());
        }
        true
    }
}

impl PrimalDual {
    /// Takes a snapshot at theta or, if that has failed, at the best reference point, and finds the
    /// steps that follow.
    pub(super) fn begin_automatic(&mut self, oracle: &mut Oracle<'_>, settings: &Settings) {
        let mut automatic = self.automatic.take().expect("the settings say so");
        if self.outer > settings.warmup_epochs + FORECAST_ITERATIONS && automatic.plain.is_none() {
            // Forecasts have gone wrong, as they may where phi is flat in parts.
            self.theta.copy_from_slice(&automatic.best.1);
            let mut steps =
                oracle.problem().scaled_steps(&self.theta, settings.batch, settings.outer_batch);
            if settings.mirror == Mirror::Conjugate {
                steps.alpha_w *= oracle.problem().gamma_at(&self.theta);
            }
            if self.drifts {
                steps.inner_iterations = drifting_epoch(steps.inner_iterations, oracle.n_x());
            }
            automatic.plain = Some((steps, Safeguard::new(Noise::Vanishes)));
        }
        if let Some((steps, guard)) = &mut automatic.plain {
            self.begin_plain(oracle, *steps, guard, settings.batch);
            self.automatic = Some(automatic);
            return;
        }
        loop {
            let mut here = (f64::INFINITY, 0.0);
            if self.theta.iter().all(|t| t.is_finite()) {
                self.theta_ref.copy_from_slice(&self.theta);
                self.snapshot(oracle, true);
                here = oracle.problem().objective_at(&self.theta_ref, &self.f_bar);
            }
            if automatic.accepts(here.0, here.1, &self.theta) {
                break;
            }
            self.theta.copy_from_slice(&automatic.best.1);
            automatic.last = [f64::INFINITY; 3];
        }
        let (steps, leak, batch) = self.automatic_steps(oracle, settings, &mut automatic);
        let Steps { alpha_theta, alpha_w, inner_iterations } = steps;
        self.pace = Pace { alpha_theta, alpha_w, inner_iterations, batch, leak, ..self.pace };
        self.automatic = Some(automatic);
    }

    /// Takes a snapshot at theta and goes on with the scaled steps at the tempo of their safeguard,
    /// which are made for duals that go on; at the best reference point where these have failed.
    fn begin_plain(
        &mut self,
        oracle: &mut Oracle<'_>,
        steps: Steps,
        guard: &mut Safeguard,
        batch: usize,
    ) {
        let mut seen = Seen::NOT_FINITE;
        if self.theta.iter().all(|t| t.is_finite()) {
            let first = guard.best().is_empty();
            self.theta_ref.copy_from_slice(&self.theta);
            self.snapshot(oracle, first);
            if !first {
                oracle.calls.merit += oracle.n_x() as u64;
            }
            let (objective, magnitude) =
                oracle.problem().objective_at(&self.theta_ref, &self.f_bar);
            seen = Seen { objective, magnitude };
        }
        if guard.judge(seen, &self.theta, oracle.calls.total()) == Verdict::GoBack {
            self.theta.copy_from_slice(guard.best());
            self.theta_ref.copy_from_slice(guard.best());
            self.snapshot(oracle, true);
        }
        let tempo = guard.tempo();
        self.pace = Pace {
            alpha_theta: tempo.steps * steps.alpha_theta,
            alpha_w: steps.alpha_w,
            inner_iterations: tempo.inner_iterations(steps.inner_iterations),
            batch,
            ..self.pace
        };
    }

    /// The steps of the coming outer iteration, the leak of a dual step, and the samples that a step
    /// takes at once.
    fn automatic_steps(
        &self,
        oracle: &Oracle<'_>,
        settings: &Settings,
        automatic: &mut Automatic,
    ) -> (Steps, f64, usize) {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        let mut c = vec![0.0; n_x * ell];
        oracle.problem().curvatures(&self.f_bar, &mut c);
        c.iter_mut().filter(|c| !c.is_finite()).for_each(|c| *c = 1.0);
        let terms = Terms::new(self, oracle, &mut automatic.jacobians);
        let sizes: Vec<f64> = terms.sizes(&c);
        let trace = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let curvature = terms.along_the_largest(&c, &sizes);
        let mut gradient = self.u.to_vec();
        let lambda = oracle.problem().add_slope(
            &self.theta_ref,
            1.0 / curvature.max(f64::MIN_POSITIVE),
            &mut gradient,
        );
        let largest = STABLE / (curvature + lambda).max(f64::MIN_POSITIVE);
        let dual = c.iter().copied().fold(0.0, f64::max);
        let free = settings.mirror == Mirror::Conjugate || dual == 0.0;
        let dual = if free { 1.0 } else { dual };
        let fallback = Steps {
            alpha_theta: 0.01 * automatic.experience.safe * largest,
            alpha_w: dual,
            inner_iterations: 4 * n_x,
        };
        let size = norm_squared(&gradient).sqrt();
        if !(size > 0.0 && size.is_finite() && trace > 0.0) {
            // At the optimum, or where nothing can be said.
            automatic.forecast = None;
            return (fallback, self.pace.leak, settings.batch);
        }
        let steps = if d > LARGE { FEWER_MODES } else { MODES };
        let spectrum = Spectrum::new(&gradient, steps, |v, out| {
            terms.add_product(&c, v, out);
            axpy(lambda, v, out);
        });
        let part = |mode: &Mode| mode.weight / (2.0 * mode.eigenvalue);
        let gap: f64 = spectrum.modes.iter().map(part).sum();
        let modes = spectrum
            .modes
            .iter()
            .map(|mode| Mode { weight: part(mode) / gap, ..*mode })
            .collect::<Vec<_>>();
        if let Some(forecast) = automatic.forecast.take() {
            forecast.compare(gap / automatic.gap, &mut automatic.experience);
        }
        automatic.gap = gap;
        if automatic.last[1] == f64::INFINITY {
            // The first outer iterations may do harm, but not without bound.
            let allowed = automatic.last[2] + gap;
            automatic.last[..2].fill(allowed);
        }
        let nu = oracle.problem().scatter_along(&self.theta_ref, &spectrum.solution, &c);
        // Of a step, which changes some duals.
        let leaks = match settings.leak {
            _ if !self.leaks.are_allowed() => vec![0.0],
            Leak::Part(p) => vec![p * settings.outer_batch as f64],
            _ => vec![0.0, LEAK * settings.outer_batch as f64 / n_x as f64],
        };
        let view = |batch: usize| View {
            steps_to_renew: n_x as f64 / settings.outer_batch as f64,
            snapshot: (oracle.snapshot.total() + oracle.n_x() as u64) as f64,
            step: self.calls_per_sample(oracle) as f64 * batch as f64 * settings.outer_batch as f64,
            modes: modes.clone(),
            noise: trace * nu / (2.0 * gap * batch as f64),
            scatter: nu / (2.0 * gap * batch as f64),
            drift: if self.drifts { d as f64 * nu / (2.0 * gap * batch as f64) } else { 0.0 },
            leaks: leaks.clone(),
            leaves: d as f64 * (1.0 + nu / (2.0 * gap * batch as f64)),
            largest,
            dual,
        };
        let best = |batch: usize| Forecast::best(&view(batch), &automatic.experience);
        let (single, blocks) =
            (best(1), (settings.batch > 1).then(|| best(settings.batch)).flatten());
        let dearer = |blocks: &Forecast| {
            single.as_ref().is_some_and(|s| blocks.price > MOST_CALLS_OF_BLOCK * s.price)
        };
        let chosen = match blocks {
            Some(blocks) if !dearer(&blocks) => Some((blocks, settings.batch)),
            _ => single.map(|single| (single, 1)),
        };
        let Some((forecast, batch)) = chosen else {
            return (fallback, self.pace.leak, settings.batch);
        };
        let (steps, leak) = (forecast.steps, forecast.leak / settings.outer_batch as f64);
        automatic.forecast = Some(forecast);
        (steps, leak, batch)
    }

    /// Oracle calls of an inner step with one sample.
    fn calls_per_sample(&self, oracle: &Oracle<'_>) -> usize {
        2 + if oracle.facts().affine { 0 } else { 2 } + usize::from(self.drifts)
    }
}

/// The mean Jacobians of terms that stand for all.
pub(super) struct Terms<'s> {
    d: usize,
    ell: usize,
    /// Every `stride`-th term is there.
    stride: usize,
    n_x: usize,
    rows: &'s [f64],
    /// Whether `rows` holds those of all terms.
    all: bool,
    support: Box<dyn Fn(usize) -> Option<&'s [u32]> + 's>,
}

impl<'s> Terms<'s> {
    pub(super) fn new(
        state: &'s PrimalDual,
        oracle: &'s Oracle<'_>,
        jacobians: &'s mut Vec<f64>,
    ) -> Self {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        let sparse = oracle.support(0).is_some();
        // With fewer terms than coordinates H would have eigenvalues of zero that are not there.
        let stride = if sparse { 1 } else { (n_x / TERMS.max(4 * d)).max(1) };
        let all = !state.jac_bar.is_empty();
        if !all && (jacobians.is_empty() || !oracle.facts().affine) {
            *jacobians = oracle.problem().jacobians_of(&state.theta_ref, (0..n_x).step_by(stride));
        }
        let rows = if all { &state.jac_bar } else { &*jacobians };
        Terms { d, ell, stride, n_x, rows, all, support: Box::new(|i| oracle.support(i)) }
    }

    /// Calls `visit(k, r, support, row)` for each row: k counts terms, `r = i ell + c`.
    fn each(&self, mut visit: impl FnMut(usize, usize, Option<&[u32]>, &[f64])) {
        let mut next = 0;
        for (k, i) in (0..self.n_x).step_by(self.stride).enumerate() {
            let support = (self.support)(i).filter(|_| !self.all);
            let width = support.map_or(self.d, <[u32]>::len);
            if self.all {
                next = i * self.ell * self.d;
            }
            for c in 0..self.ell {
                visit(k, i * self.ell + c, support, &self.rows[next..next + width]);
                next += width;
            }
        }
    }

    fn count(&self) -> usize {
        self.n_x.div_ceil(self.stride)
    }

    /// `L_i = sum_c c_i,c |fbar_i,c'|^2`
    pub(super) fn sizes(&self, c: &[f64]) -> Vec<f64> {
        let mut sizes = vec![0.0; self.count()];
        self.each(|k, r, _, row| sizes[k] += c[r] * norm_squared(row));
        sizes
    }

    /// `out += (1/n) sum_i c_i fbar_i' fbar_i'^T v`
    fn add_product(&self, c: &[f64], v: &[f64], out: &mut [f64]) {
        let share = 1.0 / self.count() as f64;
        self.each(|_, r, support, row| match support {
            Some(support) => {
                sparse_axpy(share * c[r] * sparse_dot(support, row, v), support, row, out);
            }
            None => axpy(share * c[r] * dot(row, v), row, out),
        });
    }

    /// What steps along single terms must heed: the largest over directions v of large terms of
    /// `sum_i L_i q_i / sum_i q_i` with `q_i = c_i |fbar_i'^T v|^2`; see
    /// [`crate::tuning::curvature::of_draws`].
    fn along_the_largest(&self, c: &[f64], sizes: &[f64]) -> f64 {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
        order.truncate(DIRECTIONS);
        let mut directions = vec![vec![0.0; self.d]; order.len()];
        let mut longest = vec![0.0; order.len()];
        self.each(|k, r, support, row| {
            let Some(rank) = order.iter().position(|o| *o == k) else { return };
            let size = c[r] * norm_squared(row);
            if size > longest[rank] {
                longest[rank] = size;
                directions[rank].fill(0.0);
                match support {
                    Some(support) => sparse_axpy(1.0, support, row, &mut directions[rank]),
                    None => directions[rank].copy_from_slice(row),
                }
            }
        });
        let mut sums = vec![(0.0, 0.0); order.len()];
        self.each(|k, r, support, row| {
            for (v, (all, weighted)) in directions.iter().zip(&mut sums) {
                let along =
                    support.map_or_else(|| dot(row, v), |support| sparse_dot(support, row, v));
                *all += c[r] * along * along;
                *weighted += sizes[k] * c[r] * along * along;
            }
        });
        sums.iter()
            .filter(|(all, _)| *all > 0.0)
            .map(|(all, weighted)| weighted / all)
            .fold(0.0, f64::max)
    }
}
