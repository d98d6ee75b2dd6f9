//! Duals of scores of classes that meet g exactly, next to some that nearly do.
//!
//! With `v_i = w_i / omega_i + e_{c_i}`, a point of the simplex, and any y, the duals `w_ic +
//! omega_i v_ic z_ic` with `z_ic = y_ic - <v_i, y_i>` are feasible where no `|z_ic|` is above 1.
//! What is added to all classes changes nothing, neither here nor in the slopes, which add up to 0
//! over the classes: so one class, h, may stay where it is, `y_ih = 0`.
//!
//! Where g leaves theta free along some columns of the rows for all classes, y is a linear function
//! of them, `y_ic = <x_i, delta_c>`, and the slopes r are met by `H delta = -r` with
//!
//! ```text
//! H = (1/n) sum_i omega_i (diag(v_i) - v_i v_i') x_i x_i',   q^2 = r' H^-1 r
//! ```
//!
//! for all classes but h. It is enough to know that H is positive definite (`definite.rs`), which
//! bounds delta and so the spread s of every `y_i`, and that
//!
//! ```text
//! (1/n) sum_i omega_i sum_c v_ic z_ic^2 = delta' H delta = q^2
//! ```
//!
//! For the intercepts alone there is no need of a matrix: the mean of the duals is `r + L y`, where
//! L is the Laplacian of the graph of the classes whose edges have weights `a_cd = (1/n) sum_i
//! omega_i v_ic v_id`. With the weights to one class h, `a = min over c of a_ch`,
//!
//! ```text
//! a (s/2)^2 <= y' L y = -<r, y> <= |r|_1 s / 2,   so that   s <= 2 |r|_1 / a
//! ```
//!
//! Each `v_ic` changes by at most `s v_ic`, and so `u_l` of class c by at most `s S_l ((1/n) sum_i
//! (omega_i v_ic)^2)^(1/2)`. By `log(1 + x) <= x`, the part of phi in the gap grows by at most
//! `(1/n) sum_i omega_i sum_c v_ic (s |log v_ic - log p_ic| + z_ic^2)`, with `p_i =
//! softmax(fbar_i)`.

use super::definite::Definite;
use super::dual::Point;
use super::ground::Ground;
use super::prover::Evidence;
use super::repair::Repair;
use super::sizes::UNIT;
use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::elementary::Elementary;
use crate::model::class_scores::{ClassScores, DiagonalLessRankOne};
use crate::model::collapse::Row;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::Patience;

/// The largest spread that counts as a repair.
const MOST_SPREAD: f64 = 0.1;
/// Makes up for what r and the weights are rounded by.
const SURE: f64 = 4.0;

/// The duals of all terms as points of the simplex.
struct Simplices<'a> {
    problem: Objective<'a>,
    w: &'a [f64],
    ell: usize,
    /// For every class `(1/n) sum_i omega_i v_ic` and `(1/n) sum_i (omega_i v_ic)^2`.
    masses: Vec<f64>,
    squares: Vec<f64>,
    /// `(1/n) sum_i omega_i`, and with the distance of `log v_i` from `log p_i`.
    mass: f64,
    distance: f64,
}

impl<'a> Simplices<'a> {
    fn new(problem: Objective<'a>, point: Point<'_>, w: &'a [f64]) -> Self {
        let (merit, ell) = (problem.merit, problem.inner.ell());
        let (masses, squares) = (vec![0.0; ell], Vec::new());
        let mut own = Simplices { problem, w, ell, masses, squares, mass: 0.0, distance: 0.0 };
        let mut sums = vec![0.0; 2 * ell + 2];
        let n_x = problem.inner.n_x();
        Blocks::new(n_x, 2 * MERIT * ell).add(1.0 / n_x as f64, &mut sums, |terms, sums| {
            for i in terms {
                let u = &point.f_bar[i * ell..(i + 1) * ell];
                let (class, weight) = merit.class_of(i).unwrap_or((0, 1.0));
                let log_sum = merit.value(i, u) / weight + u[class];
                for c in 0..ell {
                    let mass = own.mass_of(i, c);
                    sums[c] += mass;
                    sums[ell + c] += mass.powi(2);
                    if mass > 0.0 {
                        let v = mass / weight;
                        sums[2 * ell + 1] += mass * (v.natural_log() - u[c] + log_sum).abs();
                    }
                }
                sums[2 * ell] += weight;
            }
        });
        own.masses.copy_from_slice(&sums[..ell]);
        own.squares = sums[ell..2 * ell].to_vec();
        (own.mass, own.distance) = (sums[2 * ell], sums[2 * ell + 1]);
        own
    }

    /// `omega_i v_ic`
    fn mass_of(&self, i: usize, c: usize) -> f64 {
        let (class, weight) = self.problem.merit.class_of(i).unwrap_or((0, 1.0));
        let v = self.w[i * self.ell + c] / weight + f64::from(c == class);
        if v > 0.0 { weight * v } else { 0.0 }
    }

    /// The class of the largest mass.
    fn hub(&self) -> usize {
        (0..self.ell).fold(0, |hub, c| if self.masses[c] > self.masses[hub] { c } else { hub })
    }

    /// The repair with a given spread, and a bound on the mean of squares.
    fn repair(&self, ground: &Ground<'_>, spread: f64, square: f64) -> Option<Repair> {
        if spread.is_nan() || spread >= MOST_SPREAD {
            return None;
        }
        let scores = self.problem.inner.class_scores()?;
        let columns = &ground.sizes().columns;
        let of_class = |c: usize| {
            let size = self.squares[c].sqrt();
            scores.columns_of(c).map(|l| columns[l] * size).collect()
        };
        let added = SURE * (spread * self.distance + square);
        Some(Repair::of_classes(scores.by_class(of_class), spread, added))
    }
}

/// What takes an excess along the intercepts away, if there is one nowhere else; None where it may
/// be more than rounding.
pub(crate) fn along_intercepts(
    ground: &Ground<'_>,
    point: Point<'_>,
    w: &[f64],
    excess: &[f64],
) -> Option<Repair> {
    let intercepts = ground.problem.inner.class_scores()?.intercepts();
    if (0..excess.len()).any(|l| excess[l] != 0.0 && !intercepts.contains(&l)) {
        return None;
    }
    let own = Simplices::new(ground.problem, point, w);
    let (problem, n_x, ell, hub) = (ground.problem, ground.n_x(), own.ell, own.hub());
    let mut edges = vec![0.0; ell];
    Blocks::new(n_x, ell).add(1.0 / n_x as f64, &mut edges, |terms, edges| {
        for i in terms {
            let weight = problem.merit.class_of(i).map_or(1.0, |(_, weight)| weight);
            if weight > 0.0 {
                let to_hub = own.mass_of(i, hub) / weight;
                (0..ell).for_each(|c| edges[c] += to_hub * own.mass_of(i, c));
            }
        }
    });
    edges[hub] = f64::INFINITY;
    let least = edges.iter().copied().fold(f64::INFINITY, f64::min);
    let spread = SURE * 2.0 * excess.iter().sum::<f64>() / least;
    own.repair(ground, spread, spread * spread * own.mass)
}

/// What takes an excess along whole columns away, that g leaves free for all classes, if there is
/// one nowhere else; None where it is not certain that there are such duals.
pub(crate) fn along_columns(
    ground: &Ground<'_>,
    g: &Parts,
    evidence: &Evidence<'_>,
    excess: &[f64],
) -> Option<Repair> {
    let scores = ground.problem.inner.class_scores()?;
    let Evidence { point, w, u, .. } = *evidence;
    let own = Simplices::new(ground.problem, point, w);
    let ell = own.ell;
    let is_free = |l: &usize| g.parts[*l].is_free() && g.parts[*l].tilt == 0.0;
    let columns: Vec<(usize, Vec<usize>)> = scores
        .shifts()
        .into_iter()
        .enumerate()
        .filter(|(_, places)| places.iter().any(|l| excess[*l] != 0.0))
        .collect();
    if g.budget || columns.is_empty() || !columns.iter().all(|(_, l)| l.iter().all(is_free)) {
        return None;
    }
    let hub = own.hub();
    let of_others = |places: &Vec<usize>| {
        (0..ell).filter(|c| *c != hub).map(|c| places[c]).collect::<Vec<usize>>()
    };
    let places: Vec<usize> = columns.iter().flat_map(|(_, l)| of_others(l)).collect();
    let definite = reduced_hessian(ground, &own, scores, &places)?;
    let errors = ground.errors(point.theta, w);
    let r: Vec<f64> = places.iter().map(|l| u[*l]).collect();
    let error: Vec<f64> = places.iter().map(|l| errors[*l]).collect();
    let (q, _) = definite.norm(&r, &error);
    // Of every column, what delta is at most for any class.
    let mut most = vec![0.0_f64; scores.rows().d()];
    let bounds = definite.roots.chunks_exact(ell - 1);
    for ((column, _), roots) in columns.iter().zip(bounds) {
        let least = roots.iter().copied().fold(f64::INFINITY, f64::min);
        most[*column] = q / (definite.lambda().sqrt() * least);
    }
    let reach = |i: usize| {
        scores.rows().with_row(i, 0, |row| match row {
            Row::Dense(row) => row.iter().zip(&most).map(|(x, most)| (x * most).abs()).sum::<f64>(),
            Row::Sparse(columns, values) => {
                columns.iter().zip(values).map(|(l, x)| (x * most[*l as usize]).abs()).sum()
            }
        })
    };
    let largest = (0..ground.n_x())
        .map(reach)
        .fold(0.0, |largest: f64, reach| if reach <= largest { largest } else { reach });
    own.repair(ground, SURE * 2.0 * largest, SURE * q * q)
}

/// H at some places of theta, if it is certain to be positive definite.
fn reduced_hessian(
    ground: &Ground<'_>,
    own: &Simplices<'_>,
    scores: &ClassScores,
    places: &[usize],
) -> Option<Definite> {
    let (ell, n_x) = (own.ell, ground.n_x());
    let (mut diagonal, mut across) = (vec![0.0; n_x * ell], vec![0.0; n_x * ell]);
    let mut largest = 0.0_f64;
    for i in 0..n_x {
        let weight = ground.problem.merit.class_of(i).map_or(1.0, |(_, weight)| weight);
        largest = largest.max(weight);
        for c in 0..ell {
            let mass = own.mass_of(i, c);
            diagonal[i * ell + c] = mass;
            across[i * ell + c] = if mass > 0.0 { mass / weight.sqrt() } else { 0.0 };
        }
    }
    let curvatures = DiagonalLessRankOne { diagonal, across };
    let whole = scores.hessian(&curvatures, 1.0 / n_x as f64, &Patience::default());
    let (d, sizes) = (scores.ell() * scores.rows().d(), ground.sizes());
    let mut block = Vec::with_capacity(places.len() * places.len());
    for r in places {
        block.extend(places.iter().map(|c| whole[r * d + c]));
    }
    // v is what it is by a rounding of 1, and so is what is left of v - v^2.
    let lost = |l: &usize| largest * sizes.columns[*l].powi(2) / whole[l * d + l];
    let lost = places.iter().map(lost).fold(0.0, f64::max);
    Definite::new(block, places.len(), SURE * (sizes.of_sum + 2.0 * UNIT * lost))
}
