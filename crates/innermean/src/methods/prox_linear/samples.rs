//! Which samples a model is made of: a part of them at first, and fresh ones to correct it.

use super::snapshot::Snapshot;
use crate::draws::Stream;
use crate::linalg::vector::axpy;
use crate::model::collapse::Collapsed;
use crate::model::inner::Sample;
use crate::oracle::Oracle;

/// Outer iterations of a stage.
const STEPS: u64 = 2;
/// By which the samples of a stage grow.
const GROWTH: usize = 4;
/// Fewer samples of a term say too little.
const LEAST_SAMPLES: usize = 16;
/// A correction takes this part of the samples of a term.
const PART: usize = 8;
/// Of the draws, far from those that methods number from 0.
const STREAM: u64 = 3100;

/// The mean number of samples of a term, where each has its own.
fn own_samples(oracle: &Oracle<'_>) -> Option<usize> {
    let is_own = !oracle.facts().affine && oracle.facts().sample == Sample::Own;
    is_own.then(|| oracle.samples() / oracle.n_x().max(1))
}

/// The samples of a term that outer iteration `outer` looks at, of this many growing stages of two
/// outer iterations each: of the last a quarter of them, of the one before a sixteenth. None: all.
pub(super) fn looked_at(oracle: &Oracle<'_>, stages: usize, outer: u64) -> Option<usize> {
    let samples = own_samples(oracle)?;
    // Beyond, a stage has next to nothing of any number.
    let stages = stages.min(20);
    let of = |stage: usize| samples / GROWTH.saturating_pow((stages - stage) as u32);
    let mut left = outer / STEPS;
    for stage in (0..stages).filter(|stage| of(*stage) >= LEAST_SAMPLES) {
        if left == 0 {
            return Some(of(stage));
        }
        left -= 1;
    }
    None
}

/// Whether there are enough samples for a correction, and rows that are dense.
pub(super) fn can_correct(oracle: &Oracle<'_>, here: &Snapshot) -> bool {
    own_samples(oracle).is_some_and(|samples| samples >= PART) && here.rows.dense().is_some()
}

/// The model at `theta`, near a snapshot, from an eighth of the samples S of each term, a stretch
/// that begins anywhere, with the linear model as control variate:
///
/// ```text
/// v_i = fbar_i + fbar_i'^T (theta - theta_ref) + mean over S of [f_theta - f_theta_ref - f'_theta_ref^T (theta - theta_ref)]
/// V_i = fbar_i' + mean over S of [f'_theta - f'_theta_ref]
/// ```
///
/// (Zhang and Xiao, "Stochastic Variance-Reduced Prox-Linear Algorithms for Nonconvex Composite
/// Optimization", Math. Programming 2022). b f and b f' at both points for each term, and `n_X`
/// phi.
pub(super) fn corrected(
    oracle: &mut Oracle<'_>,
    here: &Snapshot,
    theta: &[f64],
    draws: (u64, u64),
) -> Snapshot {
    let (n_x, ell, d) = (oracle.n_x(), oracle.ell(), oracle.d());
    let mut stream = Stream::new(draws.0, STREAM + draws.1);
    let stretches: Vec<(usize, usize)> =
        (0..n_x).map(|i| (stream.index(oracle.n_y(i)), oracle.n_y(i).div_ceil(PART))).collect();
    let mut f_bar = here.along(theta);
    axpy(1.0, &here.f_bar, &mut f_bar);
    let step: Vec<f64> = theta.iter().zip(&here.theta).map(|(x, from)| x - from).collect();
    let [there, before] =
        [theta, &here.theta].map(|point| oracle.pass().stretches(point, &stretches));
    let mut rows = here.rows.dense().expect("the caller has looked").to_vec();
    let size = ell * (1 + d);
    for i in 0..n_x {
        let own = i * size..(i + 1) * size;
        let (there, before) = (&there[own.clone()], &before[own]);
        for c in 0..ell {
            let row = ell + c * d..ell + (c + 1) * d;
            let (new, old) = (&there[row.clone()], &before[row]);
            let along: f64 = old.iter().zip(&step).map(|(a, p)| a * p).sum();
            f_bar[i * ell + c] += there[c] - before[c] - along;
            let out = &mut rows[(i * ell + c) * d..(i * ell + c + 1) * d];
            axpy(1.0, new, out);
            axpy(-1.0, old, out);
        }
    }
    let rows = Collapsed::from_terms(d, ell, rows);
    Snapshot::of(oracle, theta, rows, f_bar)
}
