//! The columns of a working set, and Newton's method on them.

use super::{Point, descent};
use crate::linalg::gram;
use crate::linalg::vector::{axpy, update, update_with_both};
use crate::methods::backtracking::SLACK;
use crate::methods::program;
use crate::model::collapse::Collapsed;
use crate::model::inner::{Fused, Inner};
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Oracle;

/// The least that a term bends in the model, as a part of the most that it may: where terms that
/// look straight bend further on, as those of a hinge, a step would be too long. First, after steps
/// that did not help and after those that did; at the most of all, no step is too long.
const FIRST_FLOOR: f64 = 0.01;
const RAISE: f64 = 8.0;
const LOWER: f64 = 16.0;
const LEAST_FLOOR: f64 = 1e-6;
/// Newton steps, at most, and the part of what the first would gain that is not worth another.
const MOST_STEPS: usize = 50;
const SMALL_GAIN: f64 = 1e-4;
/// Columns for which there is a matrix: at most this many, and numbers of the matrix for each
/// number of the columns.
const MOST_IN_MATRIX: usize = 1500;
const NUMBERS_PER_NUMBER: usize = 16;
/// Of the diagonal: the ridge that keeps a matrix positive definite.
const RIDGE: f64 = 1e-12;
/// The part of the slope by which P must fall, and the shortest step that is tried.
const SIGMA: f64 = 1e-4;
const SHORTEST: f64 = 1e-6;

/// The columns of W, by rows where the data are dense and one by one where they are sparse, and
/// what was made of them.
#[derive(Debug, Clone)]
pub(super) struct Part {
    rows: Option<Collapsed>,
    columns: Option<Collapsed>,
    /// `F''` on W, where it is the same everywhere; once needed
    matrix: Option<Vec<f64>>,
}

/// The quadratic model of P at x: `<slopes, . - x> + sum_r bends_r <a_r, . - x>^2 / 2 + g`.
struct Model<'m> {
    slopes: &'m [f64],
    /// `phi'' / n_X`
    bends: &'m [f64],
    parts: &'m [Coordinate],
    /// Whether it is P itself
    exact: bool,
    /// Of what the first sweep gains: too little for another
    enough: f64,
}

impl Part {
    pub(super) fn by_rows(rows: Collapsed) -> Self {
        Part { rows: Some(rows), columns: None, matrix: None }
    }

    pub(super) fn by_columns(columns: Collapsed) -> Self {
        Part { rows: None, columns: Some(columns), matrix: None }
    }

    /// `out_r = <a_r, direction>`
    fn products(&self, direction: &[f64], out: &mut [f64]) {
        match (&self.rows, &self.columns) {
            (Some(rows), _) => rows.f().means(direction, out),
            (None, Some(columns)) => {
                out.fill(0.0);
                columns.add_weighted(0..direction.len(), direction, out);
            }
            (None, None) => unreachable!("one of the two is there"),
        }
    }

    /// `out = (1/n_X) sum_r w_r a_r`
    fn slopes(&self, w: &[f64], share: f64, out: &mut [f64]) {
        match (&self.rows, &self.columns) {
            (Some(rows), _) => {
                out.fill(0.0);
                rows.f().add_weighted_jac_t(&[], w, out);
                let own = rows.n_x() as f64 * share;
                if own != 1.0 {
                    update(out, |slope| slope * own);
                }
            }
            (None, Some(columns)) => {
                columns.f().means(w, out);
                update(out, |slope| slope * share);
            }
            (None, None) => unreachable!("one of the two is there"),
        }
    }

    /// Where P is smaller than at this point, at which `w_i = phi_i'`: its minimiser on W, up to a
    /// part of what was left.
    pub(super) fn minimise(
        &mut self,
        oracle: &mut Oracle<'_>,
        parts: &[Coordinate],
        mut at: Point,
        w: &[f64],
        enough: f64,
    ) -> Vec<f64> {
        let exact = oracle.problem().quadratic();
        let value = |x: &[f64]| parts.iter().zip(x).map(|(part, x)| part.value(*x)).sum::<f64>();
        let (size, share) = (at.f_bar.len(), oracle.one_over_n_x());
        let scaled = |mut bends: Vec<f64>| {
            update(&mut bends, |bend| bend * share);
            bends
        };
        let mut bends = scaled(oracle.pass().merit_diagonals(&at.f_bar));
        let gamma = oracle.problem().merit.gamma();
        let largest = bends.iter().copied().fold(0.0, f64::max);
        let most = if gamma > 0.0 { share / gamma } else { largest };
        let (mut w, mut curvatures) = (w.to_vec(), vec![0.0; size]);
        let (mut first, mut floor) = (0.0_f64, 0.0_f64);
        for _ in 0..MOST_STEPS {
            if oracle.patience.ends() {
                break;
            }
            let mut target = at.x.clone();
            let raised: Vec<f64> = bends.iter().map(|bend| bend.max(floor)).collect();
            let model = Model { slopes: &at.slopes, bends: &raised, parts, exact, enough };
            self.minimise_model(oracle, &model, &mut target);
            if exact {
                return target;
            }
            let mut direction = vec![0.0; target.len()];
            update_with_both(&mut direction, &target, &at.x, |_, target, x| target - x);
            let g = value(&at.x);
            let slope = promised(parts, &at, &direction, &target);
            if slope >= 0.0 {
                break;
            }
            let mut along = vec![0.0; size];
            self.products(&direction, &mut along);
            let (mut tau, mut f_bar) = (1.0, vec![0.0; size]);
            let found = loop {
                update_with_both(&mut f_bar, &at.f_bar, &along, |_, u, v| u + tau * v);
                let loss = oracle.pass().merits(&f_bar, &mut w, &mut curvatures);
                // Close to the minimum the fall is lost in rounding.
                let rounding = SLACK * (at.loss.abs() + g.abs());
                let slack = if -slope <= 10.0 * rounding { rounding } else { 0.0 };
                if loss + value(&target) - at.loss - g <= SIGMA * tau * slope + slack {
                    break Some(loss);
                }
                // Also where the model led to what is no number.
                if floor < most || tau < SHORTEST {
                    break None;
                }
                tau *= 0.5;
                target = between(&at.x, &direction, tau);
            };
            let Some(loss) = found else {
                if tau < SHORTEST {
                    break;
                }
                floor = if floor > 0.0 { RAISE * floor } else { FIRST_FLOOR * most }.min(most);
                continue;
            };
            (at.x, at.loss, at.f_bar) = (target, loss, f_bar);
            floor = if floor > LEAST_FLOOR * most { floor / LOWER } else { 0.0 };
            first = first.max(-slope);
            if -slope <= SMALL_GAIN * first {
                break;
            }
            bends = scaled(curvatures.clone());
            self.slopes(&w, share, &mut at.slopes);
        }
        at.x
    }

    /// Moves x, where the model was made, to its minimiser.
    fn minimise_model(&mut self, oracle: &Oracle<'_>, model: &Model<'_>, x: &mut [f64]) {
        let Model { slopes, bends, parts, exact, enough } = *model;
        let m = x.len();
        let numbers = self.rows.as_ref().or(self.columns.as_ref()).map_or(0, Collapsed::numbers);
        if m <= MOST_IN_MATRIX && m * m <= NUMBERS_PER_NUMBER * numbers {
            let made = self.matrix.take().filter(|_| exact).unwrap_or_else(|| {
                let columns = self.columns.as_ref();
                let turned = || columns.expect("one of the two is there").transposed();
                let rows = self.rows.get_or_insert_with(turned);
                let weight = |r: usize| bends[r];
                let gram = |weight: &gram::Weight<'_>| gram::weighted(rows, weight);
                let mut matrix = oracle.patience.within(m, &weight, gram);
                gram::add_ridge(RIDGE, 1.0, m, &mut matrix);
                matrix
            });
            program::solve(&made, slopes, &Parts::separate(parts.to_vec()), |_, _, _| {}, x);
            self.matrix = Some(made);
            return;
        }
        let rows = self.rows.as_ref();
        let turned = || rows.expect("one of the two is there").transposed();
        let columns = self.columns.get_or_insert_with(turned);
        let first = bends.first().copied().unwrap_or(0.0);
        if bends.iter().all(|bend| *bend == first) {
            let quadratic = descent::Quadratic { columns, scale: first, slopes };
            descent::minimise(quadratic, parts, enough, &oracle.patience, x);
        } else {
            let roots: Vec<f64> = bends.iter().map(|bend| bend.max(0.0).sqrt()).collect();
            let scaled = columns.clone().with_columns_times(&roots);
            let quadratic = descent::Quadratic { columns: &scaled, scale: 1.0, slopes };
            descent::minimise(quadratic, parts, enough, &oracle.patience, x);
        }
    }
}

/// `<F', direction> + g(target) - g(x)` coordinate by coordinate, as slopes times steps where a
/// coordinate stays on its side of the kink: close to the minimum this is of second order in what
/// slopes lack, and a difference of values would be rounding.
fn promised(parts: &[Coordinate], at: &Point, direction: &[f64], target: &[f64]) -> f64 {
    let one = |l: usize| {
        let (part, from, to, step) = (&parts[l], at.x[l], target[l], direction[l]);
        if from * to <= 0.0 && from != to {
            return at.slopes[l] * step + part.value(to) - part.value(from);
        }
        let kink = if part.l1 > 0.0 { part.l1 * from.signum() } else { 0.0 };
        step * (at.slopes[l] + part.tilt + kink + part.l2 * (from + 0.5 * step))
    };
    (0..direction.len()).map(one).sum()
}

/// `x + tau direction`
fn between(x: &[f64], direction: &[f64], tau: f64) -> Vec<f64> {
    let mut next = x.to_vec();
    axpy(tau, direction, &mut next);
    next
}
