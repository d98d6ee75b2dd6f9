//! The laws of `merit_laws.rs` for the merit that does not split into coordinates.

use crate::support::dense::{Symmetric, dot};
use innermean::draws::Stream;
use innermean::{Merit, QuadraticForm};

/// Rows whose columns have different sizes.
fn rows(ell: usize, t: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, 0);
    (0..t * ell).map(|e| (2.0 * draws.unit() - 0.6) * [1.0, 3.0, 9.0][e % ell % 3]).collect()
}

fn vector(ell: usize, draws: &mut Stream) -> Vec<f64> {
    (0..ell).map(|_| 4.0 * draws.unit() - 2.0).collect()
}

/// `a I + b C`, from the rows.
fn matrix(ell: usize, rows: &[f64], a: f64, b: f64) -> Symmetric {
    let mut matrix = Symmetric::scaled_identity(ell, a);
    let share = ell as f64 / rows.len() as f64;
    rows.chunks_exact(ell).for_each(|row| matrix.add_outer(b * share, row));
    matrix
}

/// `C w`, from the rows.
fn product(ell: usize, rows: &[f64], w: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; ell];
    let share = ell as f64 / rows.len() as f64;
    for row in rows.chunks_exact(ell) {
        let along = share * dot(row, w);
        out.iter_mut().zip(row).for_each(|(out, c)| *out += along * c);
    }
    out
}

fn gradient(phi: &dyn Merit, u: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; u.len()];
    phi.gradient(0, u, &mut out);
    out
}

fn prox(phi: &dyn Merit, alpha: f64, w: &[f64]) -> Vec<f64> {
    let mut out = w.to_vec();
    phi.prox_conjugate(0, alpha, &mut out);
    out
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = b.iter().fold(1.0_f64, |most, b| most.max(b.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

#[test]
fn phi_its_conjugate_and_the_prox_belong_together() {
    for (ell, seed) in [(1, 1), (2, 2), (5, 3), (12, 4), (70, 5)] {
        let rows = rows(ell, 4 * ell + 3, seed);
        let phi = QuadraticForm::from_rows(ell, rows.clone()).unwrap();
        let mut draws = Stream::new(seed, 1);
        for alpha in [1e-4, 0.1, 1.0, 7.0, 1e4] {
            let (u, w) = (vector(ell, &mut draws), vector(ell, &mut draws));
            let c_w = product(ell, &rows, &w);
            let slope = matrix(ell, &rows, 0.0, 1.0).solve(&u);
            // phi' = C^-1 u, phi = <u, C^-1 u>/2, phi* = <w, C w>/2.
            assert!(close(&gradient(&phi, &u), &slope, 1e-9));
            assert!((phi.value(0, &u) - 0.5 * dot(&u, &slope)).abs() <= 1e-9 * phi.value(0, &u));
            assert!(
                (phi.conjugate(0, &w) - 0.5 * dot(&w, &c_w)).abs() <= 1e-12 * phi.conjugate(0, &w)
            );
            // Fenchel-Young, tight at the gradient.
            assert!(phi.value(0, &u) + phi.conjugate(0, &w) >= dot(&u, &w));
            let slack = phi.value(0, &u) + phi.conjugate(0, &slope) - dot(&u, &slope);
            assert!(slack.abs() <= 1e-9 * phi.value(0, &u), "slack {slack}");
            // Moreau: prox_{phi/alpha}(z) solves (I + C^-1/alpha) x = z, that is (alpha C + I) x =
            // alpha C z.
            let p = prox(&phi, alpha, &w);
            let z: Vec<f64> = w.iter().map(|w| w / alpha).collect();
            let right: Vec<f64> = product(ell, &rows, &z).iter().map(|x| alpha * x).collect();
            let x = matrix(ell, &rows, 1.0, alpha).solve(&right);
            let moreau: Vec<f64> = w.iter().zip(&x).map(|(w, x)| w - alpha * x).collect();
            let rounding = 1e-12 * (1.0 + alpha * phi.eigenvalues().1);
            assert!(close(&p, &moreau, rounding), "ell {ell}, alpha {alpha}");
            // Optimality: (w - p)/alpha = C p.
            let residual: Vec<f64> = w
                .iter()
                .zip(&p)
                .zip(product(ell, &rows, &p))
                .map(|((w, p), c_p)| w - p - alpha * c_p)
                .collect();
            assert!(close(&residual, &vec![0.0; ell], rounding), "ell {ell}, alpha {alpha}");
            // The gradient is the fixed point of the dual step.
            let moved: Vec<f64> = slope.iter().zip(&u).map(|(w, u)| w + alpha * u).collect();
            assert!(close(&prox(&phi, alpha, &moved), &slope, rounding.max(1e-9)));
        }
    }
}

#[test]
fn gamma_is_the_smallest_eigenvalue() {
    for (ell, seed) in [(1, 1), (3, 2), (10, 3)] {
        let rows = rows(ell, 5 * ell, seed);
        let phi = QuadraticForm::from_rows(ell, rows.clone()).unwrap();
        let (least, most) = phi.eigenvalues();
        let mut draws = Stream::new(seed, 1);
        let mut v = vector(ell, &mut draws);
        for _ in 0..200 {
            let w = vector(ell, &mut draws);
            let quotient = dot(&w, &product(ell, &rows, &w)) / dot(&w, &w);
            assert!(quotient >= least * (1.0 - 1e-9) && quotient <= most * (1.0 + 1e-9));
            // Inverse iterations.
            v = matrix(ell, &rows, 0.0, 1.0).solve(&v);
            let norm = dot(&v, &v).sqrt();
            for v in &mut v {
                *v /= norm;
            }
        }
        let reached = dot(&v, &product(ell, &rows, &v));
        assert!((reached / least - 1.0).abs() < 1e-6, "{reached} {least}");
        assert_eq!((phi.gamma(), phi.lipschitz(ell)), (least, f64::INFINITY));
    }
}

#[test]
fn samples_average_to_the_product_and_a_bare_matrix_is_its_own_sample() {
    let (ell, t) = (4, 9);
    let rows = rows(ell, t, 7);
    let phi = QuadraticForm::from_rows(ell, rows.clone()).unwrap();
    let bare = QuadraticForm::new(phi.matrix().to_vec()).unwrap();
    let w = vector(ell, &mut Stream::new(1, 1));
    let (mut sum, mut whole, mut alone) = (vec![0.0; ell], vec![0.0; ell], vec![0.0; ell]);
    for sample in 0..t {
        phi.add_sample_product(sample, &w, 2.0 / t as f64, &mut sum);
    }
    phi.add_product(&w, 2.0, &mut whole);
    bare.add_sample_product(5, &w, 2.0, &mut alone);
    let expected: Vec<f64> = product(ell, &rows, &w).iter().map(|x| 2.0 * x).collect();
    for found in [sum, whole, alone] {
        assert!(close(&found, &expected, 1e-12));
    }
    assert_eq!((phi.samples(), bare.samples()), (Some(t), None));
    let longest = rows.chunks_exact(ell).map(|row| dot(row, row)).fold(0.0, f64::max);
    assert!((phi.largest_sample() - longest).abs() < 1e-12 * longest);
}

#[test]
fn pointers_pass_it_on() {
    let form = || QuadraticForm::new(vec![2.0, 0.5, 0.5, 1.0]).unwrap();
    let boxed: Box<dyn Merit> = Box::new(form());
    assert!(boxed.quadratic_form().is_some_and(|form| form.ell() == 2));
    assert!(innermean::Square::new(1.0).unwrap().quadratic_form().is_none());
}

#[test]
fn what_is_no_form_is_refused_and_quoted() {
    let refused = |matrix: Vec<f64>| QuadraticForm::new(matrix).unwrap_err().to_string();
    assert!(refused(vec![1.0, 2.0, 3.0]).contains("3 numbers"));
    assert!(refused(vec![]).contains("0 numbers"));
    assert!(refused(vec![1.0, 0.5, 0.25, 1.0]).contains("symmetric"));
    assert!(refused(vec![1.0, 2.0, 2.0, 1.0]).contains("positive definite"));
    assert!(refused(vec![f64::NAN]).contains("positive definite"));
    let rows =
        QuadraticForm::from_rows(3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap_err().to_string();
    assert!(rows.contains("span"), "{rows}");
    assert!(QuadraticForm::from_rows(2, vec![1.0, 0.0, 0.0]).is_err());
}
