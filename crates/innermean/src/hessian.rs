//! Second derivatives of `F(theta) = (1/n_X) sum_i phi_i(fbar_i(theta))`, as far as they come from those of phi:
//! `F'' = (1/n_X) sum_i fbar_i' phi_i''(fbar_i) fbar_i'^T`, which is all of it where f is affine, and Gauss-Newton's matrix, positive
//! semidefinite, where it is not.

use crate::blocks::{Blocks, MERIT};
use crate::collapse::Collapsed;
use crate::gram;
use crate::inner::{Inner, Sample, mean_jacobian};
use crate::merit::{Merit, QuadraticForm};
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::sample::{PartOf, spread};
use crate::vector::dot;

/// `F''` at theta, whose averages are `f_bar`, d rows of length d, as the mean over so many terms: all of them, or some that are drawn.
pub(crate) fn dense<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    theta: &[f64],
    f_bar: &[f64],
    terms: usize,
    seed: u64,
) -> Vec<f64> {
    let f = &problem.inner;
    let (ell, n_x) = (f.ell(), f.n_x());
    if let Some(form) = problem.merit.quadratic_form() {
        return of_form(f, theta, form);
    }
    if terms >= n_x {
        let seconds = seconds(problem, f_bar);
        let weight = |r: usize| seconds[r] / n_x as f64;
        return f.gram(&weight).unwrap_or_else(|| of_jacobians(f, theta, weight));
    }
    let picked = spread(n_x, terms, seed);
    let part = PartOf::new(f, &picked, usize::MAX);
    let mut seconds = vec![0.0; terms * ell];
    for (&i, seconds) in picked.iter().zip(seconds.chunks_exact_mut(ell)) {
        problem.merit.seconds(i..i + 1, &f_bar[i * ell..(i + 1) * ell], seconds);
    }
    of_jacobians(&part, theta, |r| seconds[r] / terms as f64)
}

/// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians at theta.
fn of_jacobians<F: Inner + ?Sized>(f: &F, theta: &[f64], weight: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    if f.structure().affine || n_x > 0 && f.support(0).is_some() {
        return gram::weighted(&Collapsed::new(f, theta), weight);
    }
    // Of a shared sample all are the same.
    let shared = f.structure().sample == Sample::Shared;
    let mut rows = vec![0.0; if shared { ell * d } else { n_x * ell * d }];
    f.mean_jacobians(theta, &mut rows);
    if shared {
        return gram::of_rows(d, &rows, |c| (0..n_x).map(|i| weight(i * ell + c)).sum());
    }
    gram::of_rows(d, &rows, weight)
}

/// The diagonal of `F''`, from all terms.
pub(crate) fn diagonal<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    theta: &[f64],
    f_bar: &[f64],
) -> Vec<f64> {
    let f = &problem.inner;
    let d = f.d();
    if let Some(form) = problem.merit.quadratic_form() {
        return of_form(f, theta, form).into_iter().step_by(d + 1).collect();
    }
    let seconds = seconds(problem, f_bar);
    let weight = |r: usize| seconds[r] / f.n_x() as f64;
    match f.averages() {
        Some(averages) => gram::weighted_diagonal(averages, weight),
        None => gram::weighted_diagonal(&Collapsed::new(f, theta), weight),
    }
}

/// [`diagonal`], and for every coordinate the sizes of what its slope is the sum of, `(1/n_X) sum_r |a_rl w_r|`.
pub(crate) fn diagonal_and_sizes<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    theta: &[f64],
    f_bar: &[f64],
    w: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let f = &problem.inner;
    let share = 1.0 / f.n_x() as f64;
    let of = |rows: &Collapsed| {
        let seconds = seconds(problem, f_bar);
        let bends = gram::weighted_diagonal(rows, |r| share * seconds[r]);
        (bends, gram::sizes_of_sum(rows, w))
    };
    match (problem.merit.quadratic_form(), f.averages()) {
        (Some(_), _) => (diagonal(problem, theta, f_bar), vec![0.0; f.d()]),
        (None, Some(averages)) => of(averages),
        (None, None) => of(&Collapsed::new(f, theta)),
    }
}

/// The diagonals of `phi_i''` for all i, flat.
fn seconds<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>, f_bar: &[f64]) -> Vec<f64> {
    let ell = problem.inner.ell();
    let mut seconds = vec![0.0; f_bar.len()];
    Blocks::new(problem.inner.n_x(), MERIT * ell).fill(ell, &mut seconds, |terms, seconds| {
        let own = terms.start * ell..terms.end * ell;
        problem.merit.seconds(terms, &f_bar[own], seconds);
    });
    seconds
}

/// `Abar C^-1 Abar' = Y' Y` with `Y = L^-1 Abar'`, column by column, for a phi that is a quadratic form of one average.
fn of_form<F: Inner + ?Sized>(f: &F, theta: &[f64], form: &QuadraticForm) -> Vec<f64> {
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
