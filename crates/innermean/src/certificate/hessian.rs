//! Second derivatives of `F(theta) = (1/n_X) sum_i phi_i(fbar_i(theta))`, as far as they come from
//! those of phi: `F'' = (1/n_X) sum_i fbar_i' phi_i''(fbar_i) fbar_i'^T`, which is all of it where
//! f is affine, and Gauss-Newton's matrix, positive semidefinite, where it is not.

use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::gram;
use crate::linalg::vector::dot;
use crate::model::class_scores::{ClassScores, DiagonalLessRankOne};
use crate::model::collapse::Collapsed;
use crate::model::inner::{Inner, Sample, Summed, mean_jacobian};
use crate::model::merit::QuadraticForm;
use crate::model::problem::Objective;
use crate::model::sample::{PartOf, TermsOf, spread};
use crate::oracle::Patience;

/// `F''` at theta, whose averages are `f_bar`, d rows of length d, as the mean over this many
/// terms: all of them, or some that are drawn by a seed. Where patience ends on the way it is good
/// for nothing.
pub(crate) fn dense(
    problem: Objective<'_>,
    theta: &[f64],
    f_bar: &[f64],
    (terms, seed): (usize, u64),
    patience: &Patience<'_>,
) -> Vec<f64> {
    let f = problem.inner;
    let n_x = f.n_x();
    if let Some(summed) = f.summed() {
        return of_all(summed, theta);
    }
    if let Some(form) = problem.merit.quadratic_form() {
        return of_form(f, theta, form);
    }
    if let Some(scores) = of_classes(problem) {
        let share = 1.0 / terms.min(n_x) as f64;
        if terms >= n_x {
            return scores.hessian(&of_scores(problem, f_bar), share, patience);
        }
        let picked = spread(n_x, terms, seed);
        let part = scores.part(&picked);
        let merit = &TermsOf { whole: problem.merit, terms: &picked };
        let f_bar = part_of(f_bar, f.ell(), &picked);
        let curvatures = of_scores(Objective { inner: &part, merit, ..problem }, &f_bar);
        return part.hessian(&curvatures, share, patience);
    }
    if terms >= n_x {
        let curvatures = merit_diagonals(problem, f_bar);
        let weight = |r: usize| curvatures[r] / n_x as f64;
        return patience.within(f.d(), &weight, |weight| {
            f.gram(weight).unwrap_or_else(|| of_jacobians(f, theta, weight))
        });
    }
    let picked = spread(n_x, terms, seed);
    let part = PartOf::new(f, &picked, usize::MAX);
    let curvatures = merit_diagonals_of(problem, f_bar, &picked);
    let weight = |r: usize| curvatures[r] / terms as f64;
    patience.within(f.d(), &weight, |weight| of_jacobians(&part, theta, weight))
}

/// Of an f that is all of F.
fn of_all(summed: &dyn Summed, theta: &[f64]) -> Vec<f64> {
    summed.hessian(theta).unwrap_or_else(|_| vec![f64::NAN; theta.len() * theta.len()])
}

/// f as scores of classes, if phi ties them together.
fn of_classes(problem: Objective<'_>) -> Option<&ClassScores> {
    problem.inner.class_scores().filter(|_| ties_classes(problem))
}

/// Whether f is one of scores of classes, and phi no sum over them whose second derivatives are
/// known.
pub(crate) fn ties_classes(problem: Objective<'_>) -> bool {
    problem.inner.class_scores().is_some()
        && problem.merit.diagonal_less_rank_one(0..0, &[], &mut [], &mut [])
}

/// `phi_i''` for all i.
fn of_scores(problem: Objective<'_>, f_bar: &[f64]) -> DiagonalLessRankOne {
    let (mut diagonal, mut across) = (vec![0.0; f_bar.len()], vec![0.0; f_bar.len()]);
    let all = 0..problem.inner.n_x();
    problem.merit.diagonal_less_rank_one(all, f_bar, &mut diagonal, &mut across);
    DiagonalLessRankOne { diagonal, across }
}

/// What belongs to some terms of a vector over all i.
fn part_of(all: &[f64], ell: usize, picked: &[usize]) -> Vec<f64> {
    picked.iter().flat_map(|i| &all[i * ell..(i + 1) * ell]).copied().collect()
}

/// Numbers in the Jacobians of all samples up to which all are looked at for an estimate; beyond,
/// about this many.
const MANY_NUMBERS: usize = 1 << 20;
/// Samples of a term that are looked at then, and terms for each coordinate, at least.
const SOME_SAMPLES: usize = 32;
const SOME_TERMS: usize = 20;

/// The terms and how many samples of each an estimate is made of, if not of all.
pub(crate) fn looked_at(f: &dyn Inner) -> Option<(Vec<usize>, usize)> {
    let (n_x, width) = (f.n_x(), (f.ell() * f.d()).max(1));
    let samples = f.pairs();
    if samples.saturating_mul(width) <= MANY_NUMBERS || f.facts().affine {
        return None;
    }
    let each = (MANY_NUMBERS / (n_x * width)).max(SOME_SAMPLES);
    let terms = (MANY_NUMBERS / (each.min(samples.div_ceil(n_x)) * width)).max(SOME_TERMS * f.d());
    Some((spread(n_x, terms.min(n_x), 0), each))
}

/// [`dense`] of all terms or, of very many, as an estimate.
pub(crate) fn estimate(problem: Objective<'_>, theta: &[f64], f_bar: &[f64]) -> Vec<f64> {
    let Some((picked, each)) = looked_at(problem.inner) else {
        let all = (problem.inner.n_x(), 0);
        return dense(problem, theta, f_bar, all, &Patience::default());
    };
    let curvatures = merit_diagonals_of(problem, f_bar, &picked);
    let part = PartOf::new(problem.inner, &picked, each);
    of_jacobians(&part, theta, &|r| curvatures[r] / picked.len() as f64)
}

/// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians at theta.
fn of_jacobians(f: &dyn Inner, theta: &[f64], weight: &gram::Weight<'_>) -> Vec<f64> {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    if f.facts().affine || n_x > 0 && f.support(0).is_some() {
        return gram::weighted(&Collapsed::without_offsets(f, theta), weight);
    }
    // Of a shared sample all are the same.
    let shared = f.facts().sample == Sample::Shared;
    let mut rows = vec![0.0; if shared { ell * d } else { n_x * ell * d }];
    f.mean_jacobians(theta, &mut rows);
    if shared {
        return gram::of_rows(d, &rows, &|c| (0..n_x).map(|i| weight(i * ell + c)).sum());
    }
    gram::of_rows(d, &rows, weight)
}

/// The diagonal of `F''`, from all terms.
pub(crate) fn diagonal(problem: Objective<'_>, theta: &[f64], f_bar: &[f64]) -> Vec<f64> {
    let f = problem.inner;
    let d = f.d();
    if let Some(summed) = f.summed() {
        return of_all(summed, theta).into_iter().step_by(d + 1).collect();
    }
    if let Some(form) = problem.merit.quadratic_form() {
        return of_form(f, theta, form).into_iter().step_by(d + 1).collect();
    }
    if let Some(scores) = of_classes(problem) {
        return scores.hessian_diagonal(&of_scores(problem, f_bar), 1.0 / f.n_x() as f64);
    }
    let curvatures = merit_diagonals(problem, f_bar);
    let weight = |r: usize| curvatures[r] / f.n_x() as f64;
    match f.averages() {
        Some(averages) => gram::weighted_diagonal(averages, &weight),
        None => gram::weighted_diagonal(&Collapsed::without_offsets(f, theta), &weight),
    }
}

/// [`diagonal`], and for every coordinate the sizes of what its slope is the sum of, `(1/n_X) sum_r
/// |a_rl w_r|`; of very many terms, as an estimate.
pub(crate) fn diagonal_and_sizes(
    problem: Objective<'_>,
    theta: &[f64],
    f_bar: &[f64],
    w: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (f, ell) = (problem.inner, problem.inner.ell());
    let of = |rows: &Collapsed, curvatures: &[f64], w: &[f64]| {
        let share = 1.0 / rows.n_x() as f64;
        (gram::weighted_diagonal(rows, &|r| share * curvatures[r]), gram::sizes_of_sum(rows, w))
    };
    if problem.merit.quadratic_form().is_some() {
        return (diagonal(problem, theta, f_bar), vec![0.0; f.d()]);
    }
    if let Some(summed) = f.summed() {
        let diagonal = diagonal(problem, theta, f_bar);
        // By Cauchy and Schwarz; where columns are not known, by the root of F''.
        let slopes = summed.slopes(theta).unwrap_or(f64::NAN);
        let sizes = match summed.columns() {
            Some(columns) => columns.sizes.iter().map(|size| size * slopes).collect(),
            None => diagonal.iter().map(|bend| bend.sqrt() * slopes).collect(),
        };
        return (diagonal, sizes);
    }
    if let Some((picked, each)) = looked_at(f) {
        let rows = Collapsed::without_offsets(&PartOf::new(f, &picked, each), theta);
        let w = part_of(w, ell, &picked);
        return of(&rows, &merit_diagonals_of(problem, f_bar, &picked), &w);
    }
    let curvatures = merit_diagonals(problem, f_bar);
    match f.averages() {
        Some(averages) => of(averages, &curvatures, w),
        None => of(&Collapsed::without_offsets(f, theta), &curvatures, w),
    }
}

/// The diagonals of `phi_i''` for some i, flat.
fn merit_diagonals_of(problem: Objective<'_>, f_bar: &[f64], picked: &[usize]) -> Vec<f64> {
    let ell = problem.inner.ell();
    let mut curvatures = vec![0.0; picked.len() * ell];
    for (&i, curvatures) in picked.iter().zip(curvatures.chunks_exact_mut(ell)) {
        problem.merit.hessian_diagonal(i..i + 1, &f_bar[i * ell..(i + 1) * ell], curvatures);
    }
    curvatures
}

/// The diagonals of `phi_i''` for all i, flat.
pub(crate) fn merit_diagonals(problem: Objective<'_>, f_bar: &[f64]) -> Vec<f64> {
    let ell = problem.inner.ell();
    let mut curvatures = vec![0.0; f_bar.len()];
    Blocks::new(problem.inner.n_x(), MERIT * ell).fill(
        ell,
        &mut curvatures,
        |terms, curvatures| {
            let own = terms.start * ell..terms.end * ell;
            problem.merit.hessian_diagonal(terms, &f_bar[own], curvatures);
        },
    );
    curvatures
}

/// `Abar C^-1 Abar' = Y' Y` with `Y = L^-1 Abar'`, column by column, for a phi that is a quadratic
/// form of one average.
fn of_form(f: &dyn Inner, theta: &[f64], form: &QuadraticForm) -> Vec<f64> {
    let (d, ell) = (f.d(), f.ell());
    let mut rows = vec![0.0; ell * d];
    mean_jacobian(f, theta, 0, &mut rows);
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|l| {
            let mut column: Vec<f64> = (0..ell).map(|c| rows[c * d + l]).collect();
            form.factor().solve_lower(&mut column);
            column
        })
        .collect();
    columns.iter().flat_map(|a| columns.iter().map(|b| dot(a, b))).collect()
}
