//! Scores of several classes: what they are, and that their optimum is found and proven.

use innermean::collapse::SparseRows;
use innermean::problems::linear::{logistic_regression, predictors, sparse_predictors};
use innermean::{
    AnyMethod, BoxedProblem, CheckOptions, Choice, ClassScores, Collapsed, Driver, ElasticNet,
    FreeTail, Inner, L1, Measure, Merit, Multinomial, Problem, Regularizer, Ridge, Stop,
    Unregularized, Weighted, auto, check_problem, draws::Stream,
};

const FEATURES: usize = 3;

/// Rows with a 1 at the end if there are intercepts, and a class of each.
struct Data {
    rows: Vec<f64>,
    classes: Vec<u32>,
    ell: usize,
    intercepts: bool,
}

impl Data {
    /// Some numbers are 0, so that the rows may be kept sparse as well.
    fn random(n: usize, ell: usize, intercepts: bool, seed: u64) -> Self {
        let mut draws = Stream::new(seed, 0);
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        for i in 0..n {
            let row: Vec<f64> = (0..FEATURES)
                .map(|_| if draws.unit() < 0.3 { 0.0 } else { 2.0 * draws.unit() - 1.0 })
                .collect();
            let score = |c: usize| {
                let slope: f64 =
                    row.iter().enumerate().map(|(l, x)| x * ((l + 2 * c) as f64).sin()).sum();
                2.0 * slope + 0.3 * c as f64 + 3.0 * draws_at(seed, i * ell + c)
            };
            let best = (0..ell).fold(0, |best, c| if score(c) > score(best) { c } else { best });
            rows.extend(row);
            rows.extend(intercepts.then_some(1.0));
            classes.push(best as u32);
        }
        Data { rows, classes, ell, intercepts }
    }

    fn width(&self) -> usize {
        FEATURES + usize::from(self.intercepts)
    }

    fn scores(&self, sparse: bool) -> ClassScores {
        let (width, n) = (self.width(), self.classes.len());
        let rows = if sparse {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in self.rows.chunks_exact(width) {
                for (l, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    columns.push(l as u32);
                    values.push(*x);
                }
                starts.push(values.len());
            }
            let rows = SparseRows::new(width, starts, columns, values).expect("rising columns");
            sparse_predictors(rows, vec![0.0; n])
        } else {
            predictors(width, self.rows.clone(), vec![0.0; n])
        };
        ClassScores::new(rows.expect("rows"), self.ell, self.intercepts).expect("scores")
    }

    fn merit(&self, weighted: bool) -> Box<dyn Merit> {
        let merit = Multinomial::new(self.ell, self.classes.clone()).expect("classes");
        let weight = |i: usize| 0.5 + (i % 4) as f64;
        let weights = (0..self.classes.len()).map(weight).collect();
        if weighted {
            Box::new(Weighted::new(merit, weights).expect("weights"))
        } else {
            Box::new(merit)
        }
    }

    fn problem(&self, sparse: bool, weighted: bool, g: impl Regularizer + 'static) -> BoxedProblem {
        let inner = self.scores(sparse);
        let regularizer = FreeTail::new(g, inner.penalised());
        Problem { inner, merit: self.merit(weighted), regularizer }.boxed()
    }
}

fn draws_at(seed: u64, number: usize) -> f64 {
    Stream::new(seed, 1 + number as u64).unit()
}

fn driver(tolerance: f64) -> Driver<'static> {
    let stop = Stop { tolerance: Some(tolerance), max_seconds: Some(60.0), ..Stop::default() };
    Driver { stop, ..Driver::default() }
}

#[test]
fn nothing_is_wrong_with_f_and_phi() {
    for (sparse, intercepts) in [(false, true), (true, true), (false, false), (true, false)] {
        let data = Data::random(30, 4, intercepts, 7);
        let problem = data.problem(sparse, intercepts, Ridge::from_weight(0.1).expect("a ridge"));
        check_problem(&problem, &CheckOptions::default()).assert_ok();
    }
}

/// Passes over shared rows are those over C rows for each term, C times as long.
#[test]
fn passes_are_those_of_the_rows_written_out() {
    for (sparse, intercepts) in [(false, true), (true, true), (false, false), (true, false)] {
        let data = Data::random(300, 5, intercepts, 3);
        let scores = data.scores(sparse);
        let f: &dyn Inner = &scores;
        let written_out = Collapsed::new(f, &vec![0.0; f.d()]);
        let g: &dyn Inner = &written_out;
        let theta: Vec<f64> = (0..f.d()).map(|l| (1.3 * l as f64).sin()).collect();
        let merit = data.merit(true);
        let duals = |terms: std::ops::Range<usize>, u: &[f64], w: &mut [f64]| {
            merit.values_and_gradients(terms, u, w)
        };
        let run = |f: &dyn Inner| {
            let size = f.n_x() * f.ell();
            let (mut means, mut w) = (vec![0.0; size], vec![0.0; size]);
            let (mut slope, mut again) = (vec![0.0; f.d()], vec![0.5; f.d()]);
            let loss = f.gradient(&theta, &duals, &mut means, &mut w, &mut slope);
            f.add_weighted_jac_t(&theta, &w, &mut again);
            let mut plain = vec![0.0; size];
            f.means(&theta, &mut plain);
            let gram = f.gram(&|r| (r % 3) as f64).expect("at hand");
            [vec![loss], means, w, slope, again, plain, gram].concat()
        };
        for (a, b) in run(f).iter().zip(run(g)) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
        }
    }
}

/// With two classes it is logistic regression of the difference, with half the ridge.
#[test]
fn two_classes_are_logistic_regression() {
    let data = Data::random(200, 2, false, 5);
    let problem = data.problem(false, false, Ridge::from_weight(0.02).expect("a ridge"));
    let labels = data.classes.iter().map(|&c| 2.0 * f64::from(c) - 1.0).collect();
    let logistic = logistic_regression(FEATURES, data.rows, labels, 0.01).expect("rows");
    let both = innermean::solve(&problem, &[0.0; 2 * FEATURES]).expect("a method");
    let one = innermean::solve(&logistic, &[0.0; FEATURES]).expect("a method");
    assert!((both.objective - one.objective).abs() < 1e-6 * one.objective);
    for l in 0..FEATURES {
        assert!((both.theta[FEATURES + l] - both.theta[l] - one.theta[l]).abs() < 1e-2);
    }
}

/// Every claim holds beside an optimum that is known to more digits, and says so among all theta:
/// intercepts, weights, ridges and kinks, rows dense and sparse, by each method that suits.
#[test]
fn the_gap_is_proven() {
    let ridge = || Ridge::from_weight(1e-3).expect("a ridge");
    let both = || ElasticNet::from_weights(2e-3, 1e-3).expect("both");
    let l1 = || L1::new(1e-2).expect("a weight");
    for (k, (sparse, weighted, intercepts)) in
        [(false, false, true), (true, true, true), (false, true, false)].into_iter().enumerate()
    {
        let data = Data::random(60, 4, intercepts, 11 + k as u64);
        for (penalty, problem) in [
            ("ridge", data.problem(sparse, weighted, ridge())),
            ("both", data.problem(sparse, weighted, both())),
            ("l1", data.problem(sparse, weighted, l1())),
        ] {
            let start = vec![0.0; problem.inner.d()];
            let run = |name: &str, tolerance: f64| {
                let method = AnyMethod::named(name, &Choice::default(), &problem, &start);
                method.expect("it suits").run(&driver(tolerance), &problem, &start, &mut ())
            };
            let best = run("newton", 1e-11).objective;
            for name in ["newton", "lbfgs", "apg", "svrpda1"] {
                let found = run(name, if name == "svrpda1" { 1e-4 } else { 1e-7 });
                let certificate = found.certificate;
                let gap_left = certificate.relative;
                assert!(
                    found.status.is_solved(),
                    "{k} {penalty} {name} {:?} {gap_left:?}",
                    found.status
                );
                assert_eq!(certificate.measure, Measure::DualityGap, "{name}");
                assert_eq!(certificate.within, None, "{name}");
                let gap = certificate.gap.expect("a proof");
                assert!(found.objective - gap <= best + 1e-15, "{name}: {gap}");
                assert!(found.objective >= best - 1e-9, "{name}");
            }
        }
    }
}

/// Where nothing penalises the coefficients, the same vector added to those of all classes changes
/// nothing: the gap is proven all the same, among all theta, and by no more than is true.
#[test]
fn the_gap_is_proven_without_a_penalty() {
    for (k, (sparse, weighted, intercepts)) in
        [(false, false, true), (true, true, true), (false, true, false)].into_iter().enumerate()
    {
        let data = Data::random(150, 4, intercepts, 11 + k as u64);
        let problem = data.problem(sparse, weighted, Unregularized);
        let start = vec![0.0; problem.inner.d()];
        let run = |name: &str, tolerance: f64| {
            let method = AnyMethod::named(name, &Choice::default(), &problem, &start);
            method.expect("it suits").run(&driver(tolerance), &problem, &start, &mut ())
        };
        let best = run("newton", 1e-11).objective;
        for (name, tolerance) in [("newton", 1e-10), ("newton", 1e-3), ("lbfgs", 1e-6)] {
            let found = run(name, tolerance);
            let certificate = found.certificate;
            assert!(found.status.is_solved(), "{k} {name} {:?}", found.status);
            assert_eq!(certificate.within, None, "{k} {name}");
            let gap = certificate.gap.expect("a proof");
            assert!(found.objective - gap <= best + 1e-15, "{k} {name}: {gap}");
            assert!(gap <= tolerance * found.objective * 1.01, "{k} {name}: {gap}");
        }
    }
}

/// A class that others are separated from has no coefficients, and the objective no minimum: what
/// is proven holds among theta of about the answer's size, and says so.
#[test]
fn a_class_that_is_separated_is_proven_within_a_distance() {
    let mut data = Data::random(150, 3, true, 5);
    let width = data.width();
    for (row, class) in data.rows.chunks_exact_mut(width).zip(&data.classes) {
        row[0] += if *class == 0 { 3.0 } else { 0.0 };
    }
    let problem = data.problem(false, false, Unregularized);
    let start = vec![0.0; problem.inner.d()];
    let found = innermean::solve(&problem, &start).expect("a method");
    assert!(found.status.is_solved(), "{:?} {:?}", found.status, found.certificate);
    assert!(found.certificate.within.is_some(), "{:?}", found.certificate);
}

/// Newton's method beside few coordinates, L-BFGS where its matrix is dear.
#[test]
fn auto_goes_by_what_a_matrix_costs() {
    let chosen = |rows: usize, ell: usize, features: usize| {
        let mut draws = Stream::new(1, 0);
        let numbers: Vec<f64> = (0..rows * features).map(|_| draws.unit() - 0.5).collect();
        let rows_of = predictors(features, numbers, vec![0.0; rows]).expect("rows");
        let inner = ClassScores::new(rows_of, ell, false).expect("scores");
        let classes = (0..rows).map(|i| (i % ell) as u32).collect();
        let merit = Multinomial::new(ell, classes).expect("classes");
        let regularizer = Ridge::from_weight(1e-3).expect("a ridge");
        auto::choose(&Problem { inner, merit, regularizer })[0].method
    };
    assert_eq!(chosen(2000, 3, 8), "newton");
    assert_eq!(chosen(1000, 10, 64), "lbfgs");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let rows = |numbers: &[f64]| predictors(2, numbers.to_vec(), vec![0.0; numbers.len() / 2]);
    let said = |rows: Collapsed, classes, intercepts| {
        ClassScores::new(rows, classes, intercepts).expect_err("no sense").to_string()
    };
    let some = rows(&[1.0, 1.0, 2.0, 3.0]).expect("rows");
    assert_eq!(said(some.clone(), 1, false), "classes = 1, expected two or more");
    assert_eq!(
        said(some, 3, true),
        "rows = row 1 that does not end with 1, expected a last column of ones"
    );
    let offsets = Collapsed::from_rows(1, vec![1.0, 2.0], vec![0.0, 1.0]);
    assert_eq!(
        said(offsets, 3, false),
        "rows = 1 for each term, or with offsets, expected one for each term, without offsets"
    );
}
