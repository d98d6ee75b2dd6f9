//! Second derivatives of the merits, gradients in one pass, and Newton's method.

mod curved;

use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::methods::newton::Newton;
use innermean::{
    AnyMethod, Bernoulli, BoxConstraint, Budget, Choice, Collapsed, DownsideSquare, Driver,
    ElasticNet, Facts, FreeTail, Huber, Inner, L1, Listed, Logistic, Merit, NegativeLog, Objective,
    Poisson, Portfolio, Problem, Regularizer, Ridge, Ridged, Simplex, SmoothedHinge, Solution,
    Square, SquaredHinge, Stop, Tilted, Unregularized, Weighted,
};

/// Numbers in -1 to 1.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, 0);
    (0..n).map(|_| 2.0 * draws.unit() - 1.0).collect()
}

fn labels(n: usize) -> Vec<f64> {
    (0..n).map(|i| if i * i % 7 < 3 { 1.0 } else { -1.0 }).collect()
}

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
        let mut seconds = vec![f64::NAN; n * ell];
        assert!(merit.seconds(0..n, &u, &mut seconds), "{name} is a sum over coordinates");
        let gradient = |h: f64| {
            let moved: Vec<f64> = u.iter().map(|u| u + h).collect();
            let mut out = vec![0.0; n * ell];
            merit.values_and_gradients(0..n, &moved, &mut out);
            out
        };
        let h = 1e-5;
        let (above, below) = (gradient(h), gradient(-h));
        let size = seconds.iter().fold(0.0, |most: f64, s| most.max(*s));
        for k in 0..n * ell {
            let slope = (above[k] - below[k]) / (2.0 * h);
            assert!(
                seconds[k] >= 0.0 && (seconds[k] - slope).abs() <= 1e-6 * size,
                "{name}: {} {slope}",
                seconds[k]
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
    let mut seconds = [0.0; 4];
    assert!(Quartic.seconds(0..4, &u, &mut seconds));
    for (u, second) in u.iter().zip(seconds) {
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
fn sparse_rows(n: usize, d: usize, seed: u64) -> Collapsed {
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

/// `F''`, by one outer product after the other.
fn hessian(rows: &[f64], d: usize, weights: &[f64]) -> Vec<f64> {
    let mut matrix = vec![0.0; d * d];
    for (row, weight) in rows.chunks_exact(d).zip(weights) {
        for r in 0..d {
            for c in 0..d {
                matrix[r * d + c] += weight * row[r] * row[c];
            }
        }
    }
    matrix
}

/// `matrix^-1 x` by elimination without pivoting: the matrices here are positive definite.
fn solved(mut matrix: Vec<f64>, mut x: Vec<f64>) -> Vec<f64> {
    let d = x.len();
    for k in 0..d {
        for r in k + 1..d {
            let factor = matrix[r * d + k] / matrix[k * d + k];
            for c in k..d {
                matrix[r * d + c] -= factor * matrix[k * d + c];
            }
            x[r] -= factor * x[k];
        }
    }
    for k in (0..d).rev() {
        for c in k + 1..d {
            x[k] -= matrix[k * d + c] * x[c];
        }
        x[k] /= matrix[k * d + k];
    }
    x
}

/// The minimiser of the logistic loss with a ridge, by Newton's method as anyone would write it.
fn logistic_answer(rows: &[f64], d: usize, labels: &[f64], lambda: f64) -> Vec<f64> {
    let n = labels.len() as f64;
    let mut theta = vec![0.0; d];
    for _ in 0..30 {
        let (mut gradient, mut weights) =
            (theta.iter().map(|t| lambda * t).collect::<Vec<_>>(), Vec::new());
        for (row, y) in rows.chunks_exact(d).zip(labels) {
            let margin: f64 = y * row.iter().zip(&theta).map(|(a, t)| a * t).sum::<f64>();
            let miss = 1.0 / (1.0 + margin.exp());
            weights.push(miss * (1.0 - miss) / n);
            for (gradient, a) in gradient.iter_mut().zip(row) {
                *gradient -= y * miss * a / n;
            }
        }
        let mut matrix = hessian(rows, d, &weights);
        (0..d).for_each(|l| matrix[l * d + l] += lambda);
        for (theta, step) in theta.iter_mut().zip(solved(matrix, gradient)) {
            *theta -= step;
        }
    }
    theta
}

fn run<'p>(problem: impl Into<Objective<'p>>, tolerance: f64, max_outer: u64) -> Solution {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let method = AnyMethod::named("newton", &Choice::default(), problem, &start).unwrap();
    let stop = Stop { max_outer: Some(max_outer), tolerance: Some(tolerance), ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, &start, &mut ())
}

/// Labels that a linear score explains in part.
fn noisy_labels(rows: &[f64], d: usize, seed: u64) -> Vec<f64> {
    let (truth, noise) = (numbers(d, seed), numbers(rows.len() / d, seed + 1));
    let score = |row: &[f64]| row.iter().zip(&truth).map(|(a, t)| a * t).sum::<f64>();
    rows.chunks_exact(d)
        .zip(noise)
        .map(|(row, e)| if score(row) + 2.0 * e > 0.0 { 1.0 } else { -1.0 })
        .collect()
}

/// Few terms: all of them at every step, and the number of right digits doubles.
#[test]
fn it_is_newtons_method_where_terms_are_few() {
    let (n, d, lambda) = (400, 6, 1e-3);
    let rows = numbers(n * d, 1);
    let labels = noisy_labels(&rows, d, 2);
    let answer = logistic_answer(&rows, d, &labels, lambda);
    let problem = Problem {
        inner: Collapsed::from_rows(d, rows, vec![0.0; n]),
        merit: Logistic::new(labels).unwrap(),
        regularizer: Ridge::from_weight(lambda).unwrap(),
    };
    let solution = run(&problem, 1e-12, 12);
    assert!(
        solution.status.is_solved() && solution.outer <= 8,
        "{:?} after {}",
        solution.status,
        solution.outer
    );
    assert!(solution.theta.iter().zip(&answer).all(|(a, b)| (a - b).abs() < 1e-7));
    // The digits of the gap double with the last step that is not lost in rounding.
    let digits: Vec<f64> = solution.trace.iter().map(|r| -r.optimality.unwrap().log10()).collect();
    let last = digits.iter().position(|d| *d > 6.0).unwrap();
    assert!(digits[last] > 1.8 * digits[last - 1], "{digits:?}");
}

/// Many terms: a part of them is enough for a digit or more for each pass, and the answer is that
/// of all.
#[test]
fn a_part_of_the_terms_is_enough_for_the_hessian() {
    let (n, d, lambda) = (20_000, 20, 1e-4);
    let rows = numbers(n * d, 3);
    let labels = noisy_labels(&rows, d, 4);
    let answer = logistic_answer(&rows, d, &labels, lambda);
    let problem = Problem {
        inner: Collapsed::from_rows(d, rows, vec![0.0; n]),
        merit: Logistic::new(labels).unwrap(),
        regularizer: Ridge::from_weight(lambda).unwrap(),
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&problem, 1e-12, 20))
    };
    let solution = on(1);
    assert!(
        solution.status.is_solved() && solution.outer <= 14,
        "{:?} after {}",
        solution.status,
        solution.outer
    );
    assert!(solution.theta.iter().zip(&answer).all(|(a, b)| (a - b).abs() < 1e-5));
    // The evaluation goes by the gradient that the method has at hand, and says what it would say
    // by one of its own.
    let alone = Evaluator::new(&problem).evaluate(&solution.theta, Known::default());
    let (known, own) =
        (solution.certificate.relative.unwrap(), alone.certificate.relative.unwrap());
    assert!(
        (alone.objective - solution.objective).abs() < 1e-14,
        "{} {}",
        alone.objective,
        solution.objective
    );
    assert!(known <= 1.001 * own + 1e-14 && own < 1e-10, "{known} {own}");
    // A Hessian of all terms would be n calls of f' more for each step.
    assert!(solution.calls.jacobian < (solution.outer + 2) * n as u64, "{:?}", solution.calls);
    assert_eq!(solution.theta, on(2).theta);
}

/// For quadratic P one Hessian and one step.
/// A part of the terms of a portfolio still shares its sample: no sweep over it for each term.
#[test]
fn a_part_of_a_portfolio_costs_a_part_of_a_pass() {
    let (n, d) = (8000, 12);
    let portfolio = Portfolio::new(d, numbers(n * d, 4)).expect("returns");
    let merit = Huber::new(1.0, 0.3).expect("a width");
    let problem = Problem {
        inner: &portfolio,
        merit,
        regularizer: Ridge::from_weight(0.1).expect("a weight"),
    };
    let run = |whole: bool| {
        let choice = Choice::default();
        let newton = Newton::choose(&choice, &problem, &[0.0; 12]).expect("it suits");
        let stop = Stop { tolerance: Some(1e-9), ..Stop::default() };
        let driver = Driver { stop, ..Driver::default() };
        driver.run(&problem, &Newton { whole, ..newton }, &[0.0; 12], &mut ())
    };
    let (part, all) = (run(false), run(true));
    assert!(part.status.is_solved() && all.status.is_solved());
    let pass = 2 * n as u64;
    assert!(part.calls.f <= pass * (part.outer + 4), "{:?} in {} steps", part.calls, part.outer);
    assert!((part.objective - all.objective).abs() <= 1e-9 * all.objective.abs());
}

#[test]
fn a_quadratic_is_solved_by_one_step() {
    let portfolio = Portfolio::new(8, numbers(900 * 8, 5)).unwrap();
    let problem =
        portfolio.problem(Square::new(2.0).unwrap(), Ridge::from_weight(0.1).unwrap()).unwrap();
    let solution = run(&problem, 1e-12, 10);
    assert!(
        solution.status.is_solved() && solution.outer <= 2,
        "{:?} after {}",
        solution.status,
        solution.outer
    );
}

/// Whatever g: at the answer the prox-gradient step stays where it is, and it is where accelerated
/// gradients go.
#[test]
fn every_g_with_parts() {
    fn check<G: Regularizer>(name: &str, g: G) {
        for smooth in [false, true] {
            let (n, d) = (600, 12);
            let rows = numbers(n * d, 6);
            let labels = noisy_labels(&rows, d, 7);
            let merit: Box<dyn Merit> = if smooth {
                Box::new(Square::new(0.5).unwrap())
            } else {
                Box::new(Logistic::new(labels.clone()).unwrap())
            };
            let offsets = if smooth { labels } else { vec![0.0; n] };
            let problem =
                Problem { inner: Collapsed::from_rows(d, rows, offsets), merit, regularizer: &g };
            let solution = run(&problem, 1e-11, 40);
            assert!(
                solution.status.is_solved(),
                "{name}: {:?} {:?}",
                solution.status,
                solution.certificate.relative
            );
            assert!(
                solution.outer <= if smooth { 3 } else { 12 },
                "{name}: {} steps",
                solution.outer
            );
            let other =
                AnyMethod::named("apg", &Choice::default(), &problem, &vec![0.0; d]).unwrap();
            let stop = Stop { max_outer: Some(20_000), tolerance: Some(1e-11), ..Stop::default() };
            let other =
                other.run(&Driver { stop, ..Driver::default() }, &problem, &vec![0.0; d], &mut ());
            assert!(other.status.is_solved(), "{name}");
            let apart = solution
                .theta
                .iter()
                .zip(&other.theta)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(apart < 1e-4, "{name}: {apart}");
        }
    }
    let bounds = |lo, hi| BoxConstraint::new(lo, hi).unwrap();
    check("none", Unregularized);
    check("intercept", FreeTail::new(Ridge::from_weight(0.1).unwrap(), 11));
    check("l1", L1::new(0.02).unwrap());
    check("elastic net", ElasticNet::from_weights(0.01, 0.02).unwrap());
    check("box", bounds(-0.05, 0.1));
    check("box and l1", bounds(-0.05, 0.2).with_l1(0.01).unwrap());
    check("simplex", Simplex);
    check("budget", Budget::new(12, bounds(-0.1, 0.15)).unwrap());
    check("budget and l1", Budget::new(12, bounds(-0.5, 0.5).with_l1(0.02).unwrap()).unwrap());
    check(
        "tilted ridged simplex",
        Tilted::new(Ridged::new(Simplex, 0.1).unwrap(), numbers(12, 9)).unwrap(),
    );
}

/// More columns than rows: P has no curvature in many directions, and a least value all the same.
#[test]
fn a_hessian_without_full_rank_is_no_obstacle() {
    let (n, d) = (20, 50);
    let problem = Problem {
        inner: Collapsed::from_rows(d, numbers(n * d, 8), numbers(n, 9)),
        merit: Square::new(1.0).unwrap(),
        regularizer: Unregularized,
    };
    let solution = run(&problem, 1e-9, 10);
    assert!(
        solution.status.is_solved() && solution.objective < 1e-9,
        "{} {:?}",
        solution.objective,
        solution.certificate.relative
    );
}

/// Labels that a hyperplane separates, hardly any ridge: theta grows long, and nothing overflows.
#[test]
fn separable_labels_with_a_tiny_ridge() {
    let (n, d, lambda) = (500, 5, 1e-9);
    let rows = numbers(n * d, 10);
    let labels: Vec<f64> =
        rows.chunks_exact(d).map(|row| if row[0] + row[1] > 0.0 { 1.0 } else { -1.0 }).collect();
    let mut rows = rows;
    rows.chunks_exact_mut(d).zip(&labels).for_each(|(row, y)| row[0] += 0.05 * y);
    for hinge in [false, true] {
        let merit: Box<dyn Merit> = if hinge {
            Box::new(SquaredHinge::new(labels.clone()).unwrap())
        } else {
            Box::new(Logistic::new(labels.clone()).unwrap())
        };
        let problem = Problem {
            inner: Collapsed::from_rows(d, rows.clone(), vec![0.0; n]),
            merit,
            regularizer: Ridge::from_weight(lambda).unwrap(),
        };
        let solution = run(&problem, 1e-9, 60);
        assert!(
            solution.status.is_solved(),
            "{:?} {:?}",
            solution.status,
            solution.certificate.relative
        );
        assert!(solution.theta.iter().all(|t| t.is_finite()) && solution.objective < 1e-2);
    }
}

/// Sparse rows, many columns: by the diagonal.
#[test]
fn many_columns_go_by_the_diagonal() {
    let (n, d) = (3000, 4000);
    for l1 in [0.0, 1e-4] {
        let problem = Problem {
            inner: sparse_rows(n, d, 11),
            merit: Logistic::new(labels(n)).unwrap(),
            regularizer: ElasticNet::from_weights(l1, 1e-3).unwrap(),
        };
        let solution = run(&problem, 1e-8, 60);
        assert!(
            solution.status.is_solved(),
            "l1 = {l1}: {:?} {:?}",
            solution.status,
            solution.certificate.relative
        );
    }
}

#[test]
fn what_it_cannot_do_it_says() {
    let n = 30;
    let f = || Collapsed::from_rows(3, numbers(3 * n, 1), vec![0.0; n]);
    let start = [0.0; 3];
    let kinked = Problem {
        inner: f(),
        merit: innermean::Absolute::new(1.0).unwrap(),
        regularizer: Unregularized,
    };
    let error = Newton::choose(&Choice::default(), &kinked, &start).unwrap_err();
    assert!(error.to_string().contains("phi has a kink"), "{error}");
    let g = FreeTail::new(Simplex, 2);
    let tail = Problem { inner: f(), merit: Square::new(1.0).unwrap(), regularizer: g };
    let error = Newton::choose(&Choice::default(), &tail, &start).unwrap_err();
    assert!(error.to_string().contains("a sum over coordinates"), "{error}");
}
