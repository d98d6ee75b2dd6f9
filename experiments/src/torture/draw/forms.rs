//! Quadratic forms of one average: `u' C^-1 u / 2` with `u = b - A theta`, of the projected Bellman
//! error and of moments.
//!
//! With `C = L L'` it is half the sum of squares of `L^-1 (b - A theta)`.

use anyhow::{Result, ensure};
use innermean::problems::moments::Weighting;
use innermean::problems::transitions::END;
use innermean::{Moments, Moves, Mspbe, Problem, StateFeatures, Traces};

use super::columns::{self, Conditioning, Dice};
use super::penalties::Wanted;
use super::policies::{Process, moves, policy_penalty};
use super::{Case, Drawn, Truth};
use crate::torture::double_double::Dd;
use crate::torture::objective::{Affine, Loss};

/// `A` with ell rows of length d, `b`, and `C`.
struct Form {
    d: usize,
    ell: usize,
    a: Vec<Dd>,
    b: Vec<Dd>,
    c: Vec<Dd>,
}

impl Form {
    fn zero(d: usize, ell: usize) -> Self {
        let zeros = |n: usize| vec![Dd::ZERO; n];
        Form { d, ell, a: zeros(ell * d), b: zeros(ell), c: zeros(ell * ell) }
    }

    /// Adds `z x'` to A and `z y` to b, so many times.
    fn add(&mut self, share: Dd, z: &[Dd], x: &[Dd], y: Dd) {
        for (l, z) in z.iter().enumerate() {
            let scaled = share * *z;
            self.b[l] += scaled * y;
            for (a, x) in self.a[l * self.d..(l + 1) * self.d].iter_mut().zip(x) {
                *a += scaled * *x;
            }
        }
    }

    /// Adds `z z'` to C, so many times.
    fn add_square(&mut self, share: Dd, z: &[Dd]) {
        for (row, own) in self.c.chunks_exact_mut(self.ell).zip(z) {
            for (c, z) in row.iter_mut().zip(z) {
                *c += share * *own * *z;
            }
        }
    }

    /// As an objective of linear predictors: `L^-1 A` and `L^-1 b` by elimination as in Cholesky's
    /// method.
    ///
    /// # Errors
    /// If C is not positive definite.
    fn truth(self, wanted: &Wanted) -> Result<Affine> {
        let Form { d, ell, mut a, mut b, mut c } = self;
        let squares: Vec<Dd> = (0..ell).map(|l| c[l * ell + l]).collect();
        let mut condition = 1.0_f64;
        for k in 0..ell {
            let pivot = c[k * ell + k];
            ensure!(pivot > Dd::ZERO, "linearly dependent features");
            condition = condition.max((squares[k] / pivot).rounded());
            let root = pivot.sqrt();
            for l in k + 1..ell {
                let factor = c[l * ell + k] / pivot;
                for m in 0..ell {
                    let above = c[k * ell + m];
                    c[l * ell + m] -= factor * above;
                }
                for m in 0..d {
                    let own = a[k * d + m];
                    a[l * d + m] -= factor * own;
                }
                let own = b[k];
                b[l] -= factor * own;
            }
            for m in 0..d {
                a[k * d + m] = a[k * d + m] / root;
            }
            b[k] = b[k] / root;
        }
        Ok(Affine {
            d,
            rows: a,
            offsets: b.into_iter().map(|b| -b).collect(),
            losses: vec![Loss::Square { c: Dd::from(ell) * Dd::from(0.5) }; ell],
            penalty: wanted.penalty(d, d),
            uncentred: vec![0.0; d],
            condition,
        })
    }
}

/// Eligibility traces of a log: lambda, where episodes begin, importance ratios.
struct Episodes {
    lambda: f64,
    starts: Vec<usize>,
    ratios: Option<Vec<f64>>,
}

impl Episodes {
    fn draw(dice: &mut Dice, moves: usize) -> Self {
        let lambda = dice.of(&[0.3, 0.9, 1.0]);
        let mut starts = vec![0];
        starts.extend((1..moves).filter(|_| dice.chance(0.15)));
        starts.push(moves);
        let off_policy = dice.chance(0.4);
        let ratio = |dice: &mut Dice| if dice.chance(0.1) { 0.0 } else { 2.0 * dice.unit() };
        let ratios = off_policy.then(|| (0..moves).map(|_| ratio(dice)).collect());
        Episodes { lambda, starts, ratios }
    }
}

/// `A`, `b` and `C` of a log, with or without traces.
fn of_log(process: &Process, moves: &Moves, episodes: Option<&Episodes>) -> Form {
    let (d, t) = (process.d, moves.from.len());
    let gamma = Dd::from(process.discount);
    let weight = |k: usize| moves.weights.as_ref().map_or(Dd::ONE, |w| Dd::from(w[k]));
    let total: Dd = (0..t).map(weight).sum();
    let mut form = Form::zero(d, d);
    let mut trace = vec![Dd::ZERO; d];
    for k in 0..t {
        let features = |state: u32| (0..d).map(|l| process.feature(state, l)).collect();
        let (phi, next): (Vec<Dd>, Vec<Dd>) = (features(moves.from[k]), features(moves.next[k]));
        let lambda = match episodes {
            Some(episodes) if !episodes.starts.contains(&k) => episodes.lambda,
            _ => 0.0,
        };
        let ratio = episodes.and_then(|e| e.ratios.as_ref()).map_or(Dd::ONE, |r| Dd::from(r[k]));
        for (trace, phi) in trace.iter_mut().zip(&phi) {
            *trace = ratio * (gamma * Dd::from(lambda) * *trace + *phi);
        }
        let difference: Vec<Dd> = phi.iter().zip(&next).map(|(a, b)| *a - gamma * *b).collect();
        let share = weight(k) / total;
        form.add(share, &trace, &difference, Dd::from(moves.rewards[k]));
        form.add_square(share, &phi);
        if moves.next[k] == END {
            trace.fill(Dd::ZERO);
        }
    }
    form
}

/// `innermean policy LOG --objective projected`, with traces or without.
///
/// # Errors
/// If the library refuses the features as linearly dependent: it needs the inverse of C, where
/// nearly equal columns count twice.
pub(super) fn projected(
    dice: &mut Dice,
    conditioning: Conditioning,
    traces: bool,
) -> Result<Drawn> {
    let process = Process::draw(dice, conditioning);
    let Process { d, states, discount, .. } = process;
    let moves = moves(dice, states);
    let t = moves.from.len();
    let wanted = policy_penalty(dice, d);
    let episodes = traces.then(|| Episodes::draw(dice, t));
    let truth = of_log(&process, &moves, episodes.as_ref()).truth(&wanted)?;
    let lambda = episodes.as_ref().map_or(0.0, |episodes| episodes.lambda);
    let words = format!(
        "{states} states, {d} features, {t} moves, discount {discount}, lambda {lambda}, {wanted:?}"
    );
    let features = StateFeatures::Rows { d, rows: process.features };
    let made = match &episodes {
        None => Mspbe::of_moves(&features, &moves, discount)?,
        Some(Episodes { lambda, starts, ratios }) => {
            let order: Vec<usize> = (0..t).collect();
            let traces =
                Traces { lambda: *lambda, order: &order, starts, ratios: ratios.as_deref() };
            Mspbe::of_episodes(&features, &moves, discount, &traces)?
        }
    };
    let Problem { inner, merit, .. } = made.problem(0.0)?;
    let case = Case::new(inner, Box::new(merit), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

/// The objective of `innermean moments`, with penalties and constraints, which the library alone
/// has.
///
/// # Errors
/// If the library refuses the instruments as linearly dependent.
pub(super) fn moments(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let (n, d) = columns::size(dice, conditioning, (40, 6));
    let rows = columns::table(dice, conditioning, n, d);
    let scores = columns::scores(dice, &rows, d);
    let more = dice.below(3);
    let ell = d + more;
    // Half of the regressors are instruments themselves, the others have one that is like them.
    let own: Vec<bool> = (0..d).map(|_| dice.chance(0.5)).collect();
    let mut instruments = Vec::with_capacity(n * ell);
    let mut outcomes = Vec::with_capacity(n);
    for (row, score) in rows.chunks_exact(d).zip(&scores) {
        let like = |(x, own): (&f64, &bool)| if *own { *x } else { x * (1.0 + dice.normal()) };
        instruments.extend(row.iter().zip(&own).map(like));
        instruments.extend((0..more).map(|_| dice.normal()));
        outcomes.push(score + dice.normal());
    }
    let wanted = policy_penalty(dice, d);
    let dd = |numbers: &[f64]| numbers.iter().map(|x| Dd::from(*x)).collect::<Vec<Dd>>();
    let mut form = Form::zero(d, ell);
    let share = Dd::ONE / Dd::from(n);
    let pairs = rows.chunks_exact(d).zip(instruments.chunks_exact(ell)).zip(&outcomes);
    for ((x, z), y) in pairs {
        let z = dd(z);
        form.add(share, &z, &dd(x), Dd::from(*y));
        form.add_square(share, &z);
    }
    let truth = form.truth(&wanted)?;
    let words = format!("{n} rows, {d} regressors, {ell} instruments, {wanted:?}");
    let inner = Moments::new(d, rows, ell, instruments, outcomes)?;
    let merit = inner.fit(&Weighting::TwoStageLeastSquares)?.form;
    let case = Case::new(inner, Box::new(merit), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}
