//! Second derivatives of the merits, and gradients in one pass.

use super::{labels, numbers};
use innermean::draws::Stream;
use innermean::{
    Bernoulli, Collapsed, DownsideSquare, Facts, Huber, Inner, Logistic, Merit, NegativeLog,
    Objective, Poisson, Portfolio, SmoothedHinge, Square, SquaredHinge, Unregularized, Weighted,
};

/// A merit, its name, and where its averages may lie.
type Named = (&'static str, Box<dyn Merit>, (f64, f64));

/// Every smooth merit, for n terms, with where its averages may lie.
fn merits(n: usize) -> Vec<Named> {
    let wide = (-3.0, 3.0);
    let shares = |i: usize| ((3 * i) % 5) as f64 / 4.0;
    let weighted = Weighted::new(Logistic::new(labels(n)).unwrap(), vec![2.5; n]).unwrap();
    vec![
        ("square", Box::new(Square::new(0.7).unwrap()), wide),
        ("downside square", Box::new(DownsideSquare::new(0.7).unwrap()), wide),
        ("huber", Box::new(Huber::new(2.0, 0.5).unwrap()), wide),
        ("logistic", Box::new(Logistic::new(labels(n)).unwrap()), (-40.0, 40.0)),
        ("smoothed hinge", Box::new(SmoothedHinge::new(labels(n), 0.5).unwrap()), wide),
        ("squared hinge", Box::new(SquaredHinge::new(labels(n)).unwrap()), wide),
        (
            "bernoulli",
            Box::new(Bernoulli::new((0..n).map(shares).collect()).unwrap()),
            (0.05, 0.95),
        ),
        (
            "poisson",
            Box::new(
                Poisson::new((0..n).map(|i| (i % 4) as f64).collect(), vec![1.5; n], 0.5).unwrap(),
            ),
            (0.1, 3.0),
        ),
        ("weighted", Box::new(weighted), wide),
    ]
}

#[test]
fn many_terms_at_once_are_the_terms_one_by_one() {
    for ell in [1, 3] {
        let n = 301;
        for (name, merit, (lo, hi)) in merits(n) {
            let u: Vec<f64> =
                numbers(n * ell, 5).iter().map(|x| lo + (hi - lo) * (0.5 + 0.5 * x)).collect();
            // Not from the first term on.
            let (terms, u) = (7..n, &u[7 * ell..]);
            let mut w = vec![0.0; u.len()];
            let total = merit.values_and_gradients(terms.clone(), u, &mut w);
            let (mut sum, mut one) = (0.0, vec![0.0; ell]);
            for (k, i) in terms.clone().enumerate() {
                let own = k * ell..(k + 1) * ell;
                sum += merit.value(i, &u[own.clone()]);
                merit.gradient(i, &u[own.clone()], &mut one);
                for (w, one) in w[own].iter().zip(&one) {
                    assert!(
                        (w - one).abs() <= 1e-14 * one.abs(),
                        "{name}, term {i}: {w}, alone {one}"
                    );
                }
            }
            assert!((total - sum).abs() <= 1e-13 * sum.abs(), "{name}: {total}, one by one {sum}");
            let values = merit.values(terms.clone(), u);
            assert!(
                (values - sum).abs() <= 1e-13 * sum.abs(),
                "{name}: {values}, one by one {sum}"
            );
        }
    }
}

#[test]
fn second_derivatives_are_slopes_of_gradients() {
    let n = 200;
    let targets: Vec<f64> = (0..2 * n).map(|k| (k % 3) as f64).collect();
    let mut all = merits(n);
    all.push((
        "negative log",
        Box::new(NegativeLog::new(2, targets).unwrap().with_floor(0.3).unwrap()),
        (0.1, 2.0),
    ));
    for (name, merit, (lo, hi)) in all {
        let ell = 2;
        let u: Vec<f64> =
            numbers(n * ell, 8).iter().map(|x| lo + (hi - lo) * (0.5 + 0.5 * x)).collect();
        let mut curvatures = vec![f64::NAN; n * ell];
        assert!(
            merit.hessian_diagonal(0..n, &u, &mut curvatures),
            "{name} is a sum over coordinates"
        );
        let gradient = |h: f64| {
            let moved: Vec<f64> = u.iter().map(|u| u + h).collect();
            let mut out = vec![0.0; n * ell];
            merit.values_and_gradients(0..n, &moved, &mut out);
            out
        };
        let h = 1e-5;
        let (above, below) = (gradient(h), gradient(-h));
        let size = curvatures.iter().fold(0.0, |most: f64, s| most.max(*s));
        for k in 0..n * ell {
            let slope = (above[k] - below[k]) / (2.0 * h);
            assert!(
                curvatures[k] >= 0.0 && (curvatures[k] - slope).abs() <= 1e-6 * size,
                "{name}: {} {slope}",
                curvatures[k]
            );
        }
    }
}

/// A phi of one's own need not know its second derivative.
#[test]
fn unless_it_is_written_down_a_second_derivative_is_a_difference_of_slopes() {
    struct Quartic;
    impl innermean::ScalarMerit for Quartic {
        fn phi(&self, _: usize, u: f64) -> f64 {
            u.powi(4)
        }
        fn slope(&self, _: usize, u: f64) -> f64 {
            4.0 * u.powi(3)
        }
        fn phi_star(&self, _: usize, w: f64) -> f64 {
            0.75 * w * (w / 4.0).cbrt()
        }
        fn prox_phi_star(&self, _: usize, _: f64, _: f64) -> f64 {
            unreachable!("nobody asks")
        }
        fn max_curvature(&self) -> f64 {
            f64::INFINITY
        }
        fn max_slope(&self) -> f64 {
            f64::INFINITY
        }
    }
    let u = [-2.0, 1e-3, 0.7, 1e4];
    let mut curvatures = [0.0; 4];
    assert!(Quartic.hessian_diagonal(0..4, &u, &mut curvatures));
    for (u, second) in u.iter().zip(curvatures) {
        assert!((second / (12.0 * u * u) - 1.0).abs() < 1e-8, "{second} at {u}");
    }
}

/// An affine f with two numbers for each term, and nothing but what it must say.
struct Pairs(Vec<f64>);

impl Inner for Pairs {
    fn d(&self) -> usize {
        3
    }
    fn ell(&self) -> usize {
        2
    }
    fn n_x(&self) -> usize {
        self.0.len() / 6
    }
    fn n_y(&self, _: usize) -> usize {
        1
    }
    fn facts(&self) -> Facts {
        Facts::affine()
    }
    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        for (c, out) in out.iter_mut().enumerate() {
            *out = (0..3).map(|l| self.0[6 * i + 3 * c + l] * theta[l]).sum::<f64>() + 0.1;
        }
    }
    fn add_jac_t(&self, _: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (k, w) in w.iter().enumerate() {
            for (l, out) in out.iter_mut().enumerate() {
                *out += c * w * self.0[6 * i + 3 * k + l];
            }
        }
    }
}

/// Some thousand sparse rows of length d.
pub(super) fn sparse_rows(n: usize, d: usize, seed: u64) -> Collapsed {
    let mut draws = Stream::new(seed, 1);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let mut l = (draws.unit() * 20.0) as usize;
        while l < d {
            columns.push(l as u32);
            values.push(2.0 * draws.unit() - 1.0);
            l += 1 + (draws.unit() * 40.0) as usize;
        }
        starts.push(columns.len());
    }
    let rows = innermean::collapse::SparseRows::new(d, starts, columns, values).unwrap();
    Collapsed::from_sparse_rows(rows, numbers(n, seed + 1))
}

/// One pass gives the loss, the averages, the duals and the gradient of two, with the same bits on
/// any number of threads.
#[test]
fn a_gradient_in_one_pass_is_that_in_two() {
    fn check(f: &dyn Inner, merit: &dyn Merit) {
        let problem = Objective { inner: f, merit, regularizer: &Unregularized };
        let theta = numbers(f.d(), 3);
        let size = f.n_x() * f.ell();
        let run = || {
            let (mut f_bar, mut w, mut out) =
                (vec![f64::NAN; size], vec![f64::NAN; size], vec![f64::NAN; f.d()]);
            let loss = problem.loss_and_gradient(&theta, &mut f_bar, &mut w, &mut out);
            (loss, f_bar, w, out)
        };
        let (loss, f_bar, w, out) = run();
        let (mut means, mut duals, mut gradient) =
            (vec![0.0; size], vec![0.0; size], vec![0.0; f.d()]);
        f.means(&theta, &mut means);
        problem.duals(&means, &mut duals);
        f.add_weighted_jac_t(&theta, &duals, &mut gradient);
        let close = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-13 * (1.0 + b.abs()))
        };
        assert!(close(&f_bar, &means) && close(&w, &duals) && close(&out, &gradient));
        assert!((loss - problem.loss(&means)).abs() <= 1e-13 * loss.abs());
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(
                pool.install(run) == (loss, f_bar.clone(), w.clone(), out.clone()),
                "{threads} threads"
            );
        }
    }
    let n = 5003;
    let logistic = Logistic::new(labels(n)).unwrap();
    check(&Collapsed::from_rows(37, numbers(n * 37, 1), numbers(n, 2)), &logistic);
    check(&sparse_rows(n, 9001, 4), &logistic);
    check(&Portfolio::new(7, numbers(n * 7, 1)).unwrap(), &Square::new(1.0).unwrap());
    let pairs = Pairs(numbers(6 * n, 6));
    check(&pairs, &logistic);
    check(&Collapsed::new(&pairs, &[0.0; 3]), &logistic);
}
