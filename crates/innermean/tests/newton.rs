//! Newton's method.

mod curved;
mod derivatives;

use self::derivatives::sparse_rows;
use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::methods::newton::Newton;
use innermean::{
    AnyMethod, BoxConstraint, Budget, Choice, Collapsed, Driver, ElasticNet, FreeTail, Huber, L1,
    Listed, Logistic, Merit, Objective, Portfolio, Problem, Regularizer, Ridge, Ridged, Simplex,
    Solution, Square, SquaredHinge, Stop, Tilted, Unregularized,
};

/// Numbers in -1 to 1.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, 0);
    (0..n).map(|_| 2.0 * draws.unit() - 1.0).collect()
}

fn labels(n: usize) -> Vec<f64> {
    (0..n).map(|i| if i * i % 7 < 3 { 1.0 } else { -1.0 }).collect()
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
