//! P as a quadratic, `P'' = sum_r weight_r a_r a_r' + diag(l2)`: whether it is one, and its second
//! derivatives.

use serde::{Deserialize, Serialize};

use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram::{self, Weight};
use crate::linalg::vector::axpy;
use crate::model::collapse::{Collapsed, Row};
use crate::model::inner::{CommonGram, Fused, Inner};
use crate::model::merit::QuadraticForm;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::{Oracle, Patience};

/// A matrix of more rows does not fit into the memory of an ordinary machine together with its
/// factor.
pub(crate) const MOST_ROWS: usize = 10_000;
/// A quadratic program of more variables takes too many factors.
pub(crate) const MOST_VARIABLES: usize = 2000;

/// What of the problem is not so.
pub(crate) fn missing(problem: Objective<'_>) -> Option<&'static str> {
    let f = problem.inner;
    let form =
        problem.merit.quadratic_form().is_some_and(|form| f.n_x() == 1 && form.ell() == f.ell());
    if !f.facts().affine {
        Some("f is not affine")
    } else if !form && (f.n_x() == 0 || problem.merit.square_weight_of(0).is_none()) {
        Some("phi is no square")
    } else if has_logarithms(problem) {
        (f.d() > MOST_VARIABLES).then_some("g has logarithms and there are more columns")
    } else {
        let parts = Parts::with_constraints(problem.regularizer, f.d());
        match parts.filter(|g| g.outside == 0) {
            None => Some("g is no sum over coordinates"),
            Some(parts) if parts.are_smooth() => {
                let least = if form { f.d() } else { f.d().min(f.n_x() * f.ell()) };
                (least > MOST_ROWS).then_some("there are more of both")
            }
            Some(_) => (f.d() > MOST_VARIABLES)
                .then_some("g has kinks, bounds or a budget and there are more columns"),
        }
    }
}

/// Whether g is a sum of logarithms.
pub(crate) fn has_logarithms(problem: Objective<'_>) -> bool {
    let d = problem.inner.d();
    d > 0 && (0..d).all(|l| problem.regularizer.barrier(l).is_some())
}

/// `P''` in a form that can be solved with, or something above it where it is singular: its steps
/// still lead to a minimiser, if there is one, and change nothing along directions in which P is
/// flat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Factor {
    /// `P'' + diag(ridge) = L L'`, d x d.
    OfColumns {
        /// L
        cholesky: Cholesky,
        /// None if `P''` is positive definite.
        ridge: Vec<f64>,
    },
    /// With fewer rows than columns, `P''^-1 = D - D A' (W^-1 + A D A')^-1 A D` with `D =
    /// diag(1/l2)` and `W = diag(weights)`.
    OfRows {
        /// The factor of `W^-1 + A D A'`.
        cholesky: Cholesky,
        /// D, where l2 is zero that of a small ridge.
        inverse: Vec<f64>,
        /// Whether l2 is nowhere zero.
        ridged: bool,
    },
    /// For a g with kinks, bounds or a budget.
    Program {
        /// `F''`, with a ridge where `P''` is singular.
        matrix: Vec<f64>,
        /// Whether `P''` is positive definite.
        definite: bool,
    },
}

/// A first ridge, relative to the diagonal, for a matrix that is not positive definite in double
/// precision, and its growth until it is.
const SHIFT: f64 = 1e-13;
const GROWTH: f64 = 100.0;
/// The ridge of a program, relative to the diagonal, where `P''` is singular: each of its steps is
/// one of the proximal point method.
const PROGRAM_RIDGE: f64 = 1e-9;
/// The ridge of a coordinate without one, relative to the mean of the diagonal, where there are
/// fewer rows than columns.
const SMALL_RIDGE: f64 = 1e-7;

/// Whether the smaller matrix is that of the rows. Nearly square ones are solved by columns, which
/// takes fewer roundings.
fn by_rows(rows: usize, d: usize) -> bool {
    4 * rows <= 3 * d
}

impl Factor {
    /// Also returns `F''`, if it was made, and the averages, if f has none at hand and they had to
    /// be made. `theta` is any point.
    pub(super) fn new(
        oracle: &mut Oracle<'_>,
        g: &Parts,
        theta: &[f64],
    ) -> (Self, Option<Vec<f64>>, Option<Collapsed>) {
        let patience = oracle.patience.clone();
        let made = Self::within(&patience, oracle, g, theta);
        oracle.patience.join(&patience);
        made
    }

    /// The same, good for nothing where patience ends on the way.
    fn within(
        patience: &Patience<'_>,
        oracle: &mut Oracle<'_>,
        g: &Parts,
        theta: &[f64],
    ) -> (Self, Option<Vec<f64>>, Option<Collapsed>) {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        let l2: Vec<f64> = g.l2().collect();
        let smooth = g.are_smooth();
        let common = oracle.problem().inner.common_gram();
        // What is definite stays so with squares of g.
        let is_definite = common.is_some_and(CommonGram::is_definite);
        let of_matrix = |matrix: Vec<f64>| {
            let gram = matrix.clone();
            let factor = if smooth {
                Self::of_columns(matrix, &l2, patience)
            } else {
                Self::program(matrix, &l2, is_definite, patience)
            };
            (factor, Some(gram))
        };
        let weighted = |rows: &Collapsed, weight: &Weight<'_>| {
            patience.within(rows.d(), weight, |weight| gram::weighted(rows, weight))
        };
        if let Some(form) = oracle.phi().quadratic_form() {
            let model = oracle.pass().collapsed(theta);
            let whitened = whitened(&model, form);
            let (factor, gram) = of_matrix(weighted(&whitened, &|_| 1.0));
            return (factor, gram, Some(model));
        }
        let share = 2.0 * oracle.one_over_n_x();
        // One for all, or one for each term.
        let weights: Vec<f64> = match oracle.phi().square_weight() {
            Some(weight) => vec![share * weight],
            None => (0..n_x)
                .map(|i| share * oracle.phi().square_weight_of(i).expect("all phi are squares"))
                .collect(),
        };
        let weight = |r: usize| if weights.len() == 1 { weights[0] } else { weights[r / ell] };
        if smooth && by_rows(n_x * ell, d) {
            let model =
                oracle.problem().inner.averages().is_none().then(|| oracle.pass().collapsed(theta));
            let rows = oracle.problem().inner.averages().or(model.as_ref()).expect("one of them");
            return (Self::of_rows(rows, &l2, weight, patience), None, model);
        }
        if let Some(gram) = oracle.pass().gram(&weight) {
            let (factor, gram) = of_matrix(gram);
            return (factor, gram, None);
        }
        let model = oracle.pass().collapsed(theta);
        let (factor, gram) = of_matrix(weighted(&model, &weight));
        (factor, gram, Some(model))
    }

    fn program(
        mut matrix: Vec<f64>,
        l2: &[f64],
        is_definite: bool,
        patience: &Patience<'_>,
    ) -> Self {
        let d = l2.len();
        let definite = is_definite || {
            let mut whole = matrix.clone();
            whole.iter_mut().step_by(d + 1).zip(l2).for_each(|(entry, l2)| *entry += l2);
            patience.factor(&whole, d).is_ok()
        };
        if !definite {
            gram::add_ridge(PROGRAM_RIDGE, 1.0, d, &mut matrix);
        }
        Factor::Program { matrix, definite }
    }

    fn of_columns(mut matrix: Vec<f64>, l2: &[f64], patience: &Patience<'_>) -> Self {
        let d = l2.len();
        let diagonal =
            |matrix: &[f64]| -> Vec<f64> { matrix.iter().step_by(d + 1).copied().collect() };
        let add = |matrix: &mut [f64], terms: &[f64]| {
            matrix.iter_mut().step_by(d + 1).zip(terms).for_each(|(entry, term)| *entry += term);
        };
        add(&mut matrix, l2);
        let mut ridge = Vec::new();
        let mut shift = SHIFT * d as f64;
        loop {
            if let Ok(cholesky) = patience.factor(&matrix, d) {
                return Factor::OfColumns { cholesky, ridge };
            }
            if patience.is_over() {
                let cholesky = Cholesky::multiple_of_identity(1.0, d);
                return Factor::OfColumns { cholesky, ridge };
            }
            if ridge.is_empty() {
                ridge = vec![0.0; d];
            }
            let more: Vec<f64> = if shift <= 1.0 && matrix.iter().all(|entry| entry.is_finite()) {
                // A coordinate that nothing looks at stays where it is.
                diagonal(&matrix)
                    .iter()
                    .map(|entry| if *entry > 0.0 { shift * entry } else { 1.0 })
                    .collect()
            } else {
                // Numbers beyond all bounds: steps of length zero, and another method's turn.
                matrix.fill(0.0);
                vec![f64::MAX; d]
            };
            add(&mut matrix, &more);
            ridge.iter_mut().zip(&more).for_each(|(ridge, more)| *ridge += more);
            shift *= GROWTH;
        }
    }

    fn of_rows(
        rows: &Collapsed,
        l2: &[f64],
        weight: impl Fn(usize) -> f64,
        patience: &Patience<'_>,
    ) -> Self {
        let turned = rows.transposed();
        let n = turned.d();
        let diagonal: f64 =
            (0..l2.len()).map(|l| norm_squared(turned.row(l, 0))).sum::<f64>() * weight(0);
        let ridge = SMALL_RIDGE * (diagonal / l2.len() as f64).max(f64::MIN_POSITIVE);
        let inverse: Vec<f64> =
            l2.iter().map(|l2| 1.0 / if *l2 > 0.0 { *l2 } else { ridge }).collect();
        let of_column = |l: usize| inverse[l];
        let mut matrix = patience.within(n, &of_column, |weight| gram::weighted(&turned, weight));
        matrix
            .iter_mut()
            .step_by(n + 1)
            .enumerate()
            .for_each(|(r, entry)| *entry += 1.0 / weight(r));
        match Self::of_columns(matrix, &vec![0.0; n], patience) {
            Factor::OfColumns { cholesky, .. } | Factor::OfRows { cholesky, .. } => {
                Factor::OfRows { cholesky, inverse, ridged: l2.iter().all(|l2| *l2 > 0.0) }
            }
            program @ Factor::Program { .. } => program,
        }
    }

    /// Whether `P''` is positive definite.
    pub(super) fn is_unique(&self) -> bool {
        match self {
            Factor::OfColumns { ridge, .. } => ridge.is_empty(),
            Factor::OfRows { ridged, .. } => *ridged,
            Factor::Program { definite, .. } => *definite,
        }
    }

    /// `x <- P''^-1 x` where g is smooth; `rows` are the averages, needed where there are few.
    pub(super) fn solve(&self, rows: Option<&Collapsed>, x: &mut [f64]) {
        match (self, rows) {
            (Factor::OfRows { cholesky, inverse, .. }, Some(rows)) => {
                x.iter_mut().zip(inverse).for_each(|(x, inverse)| *x *= inverse);
                let mut along = vec![0.0; cholesky.d()];
                rows.f().means(x, &mut along);
                axpy(-1.0, rows.offsets(), &mut along);
                cholesky.solve(&mut along);
                let mut sum = vec![0.0; x.len()];
                rows.f().add_weighted_jac_t(x, &along, &mut sum);
                let n_x = rows.n_x() as f64;
                for ((x, sum), inverse) in x.iter_mut().zip(&sum).zip(inverse) {
                    *x -= n_x * inverse * sum;
                }
            }
            (Factor::OfColumns { cholesky, ridge }, _) if !ridge.is_empty() => {
                // With M = P'' + R, M^-1 - M^-1 R M^-1: nearly P''^-1, and zero where P'' is, in
                // which the first term alone would be rounding over R.
                cholesky.solve(x);
                let mut flat: Vec<f64> = x.iter().zip(ridge).map(|(x, ridge)| ridge * x).collect();
                cholesky.solve(&mut flat);
                axpy(-1.0, &flat, x);
            }
            (Factor::OfColumns { cholesky, .. } | Factor::OfRows { cholesky, .. }, _) => {
                cholesky.solve(x);
            }
            (Factor::Program { .. }, _) => unreachable!("it is for the other kind of g"),
        }
    }
}

fn norm_squared(row: Row<'_>) -> f64 {
    match row {
        Row::Dense(values) | Row::Sparse(_, values) => crate::linalg::vector::norm_squared(values),
    }
}

/// `L^-1 A` with `C = L L'`: `u' C^-1 u = |L^-1 u|^2`.
pub(crate) fn whitened(model: &Collapsed, form: &QuadraticForm) -> Collapsed {
    let (d, ell) = (model.d(), model.ell());
    let mut rows = vec![0.0; ell * d];
    model.f().mean_jacobians(&[], &mut rows);
    for (r, l) in form.factor().factor().chunks_exact(ell).enumerate() {
        let (above, rest) = rows.split_at_mut(r * d);
        let row = &mut rest[..d];
        for (above, l) in above.chunks_exact(d).zip(l) {
            axpy(-l, above, row);
        }
        for x in row {
            *x /= l[r];
        }
    }
    Collapsed::from_rows(d, rows, vec![0.0; ell])
}
