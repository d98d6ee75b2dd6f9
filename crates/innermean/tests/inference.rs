//! Standard errors against statsmodels and linearmodels, and the bootstrap against the sandwich.

use std::collections::HashMap;

use innermean::draws::Stream;
use innermean::inference::distributions::chi_squared_tail;
use innermean::inference::{
    Clusters, Correction, Covariance, Unsure, bootstrap, of_samples, of_terms, resampled_terms,
};
use innermean::problems::linear::predictors;
use innermean::{
    Absolute, Bags, Bernoulli, BoxConstraint, Driver, Groups, L1, Link, Logistic, Moments,
    Objective, Problem, QuadraticForm, Ridge, Square, Stop, Unregularized, auto,
};
use serde_json::Value;

/// What `inference/peers.py` wrote.
struct Peers(HashMap<String, Value>);

impl Peers {
    fn read() -> Self {
        Peers(serde_json::from_str(include_str!("inference/peers.json")).expect("JSON"))
    }

    fn numbers(&self, path: &[&str]) -> Vec<f64> {
        let value = path[1..].iter().fold(&self.0[path[0]], |value, key| &value[key]);
        value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
    }

    fn clusters(&self, clustered: bool) -> Clusters {
        let of: Vec<u32> = self.numbers(&["group"]).iter().map(|c| *c as u32).collect();
        if clustered { Clusters::new(of).expect("no gap") } else { Clusters::singles(of.len()) }
    }

    /// Rows of two columns and an intercept.
    fn rows(&self, columns: [&str; 2]) -> Vec<f64> {
        let [a, b] = columns.map(|name| self.numbers(&[name]));
        a.into_iter().zip(b).flat_map(|(a, b)| [a, b, 1.0]).collect()
    }

    fn compare(&self, name: &str, theta: &[f64], covariance: &Covariance) {
        let pairs = [
            ("theta", theta, self.numbers(&[name, "theta"])),
            ("covariance", covariance.matrix(), self.numbers(&[name, "covariance"])),
        ];
        for (what, found, wanted) in pairs {
            let size = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (found, wanted) in found.iter().zip(&wanted) {
                let off = (found - wanted).abs() / size;
                assert!(off < 1e-8, "{what} of {name}: {found} is not {wanted}");
            }
        }
    }
}

fn solved<'p>(problem: impl Into<Objective<'p>>) -> Vec<f64> {
    let problem = problem.into();
    let stop = Stop { tolerance: Some(1e-14), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let start = vec![0.0; problem.inner.d()];
    auto::solve(&driver, problem, &start, &mut (), 0).expect("a method").solution.theta
}

#[test]
fn least_squares_and_logistic_are_those_of_statsmodels() {
    let peers = Peers::read();
    let rows = peers.rows(["price", "x"]);
    let offsets: Vec<f64> = peers.numbers(&["y"]).iter().map(|y| -y).collect();
    let none = vec![0.0; offsets.len()];
    let squares = Problem {
        inner: predictors(3, rows.clone(), offsets).expect("rows"),
        merit: Square::new(0.5).expect("a weight"),
        regularizer: Unregularized,
    };
    let labels = peers.numbers(&["label"]).iter().map(|y| 2.0 * y - 1.0).collect();
    let logistic = Problem {
        inner: predictors(3, rows, none).expect("rows"),
        merit: Logistic::new(labels).expect("labels"),
        regularizer: Unregularized,
    };
    for (suffix, clustered) in [("hc1", false), ("clustered", true)] {
        let clusters = peers.clusters(clustered);
        for (name, problem) in
            [("least_squares", squares.erased()), ("logistic", logistic.erased())]
        {
            let theta = solved(problem);
            let found = of_terms(problem, &theta, &clusters, Correction::SmallSample);
            peers.compare(&format!("{name}_{suffix}"), &theta, &found.expect("a covariance"));
        }
    }
}

/// Instruments z, x, 1 for the regressors x, 1, price.
fn market(peers: &Peers) -> Moments {
    let (x, price) = (peers.numbers(&["x"]), peers.numbers(&["price"]));
    let z = peers.numbers(&["z"]);
    let regressors = x.iter().zip(price).flat_map(|(x, price)| [*x, 1.0, price]).collect();
    let instruments =
        z.chunks_exact(3).zip(&x).flat_map(|(z, x)| [z[0], z[1], z[2], *x, 1.0]).collect();
    Moments::new(3, regressors, 5, instruments, peers.numbers(&["y"])).expect("rows")
}

#[test]
fn instrumental_variables_are_those_of_linearmodels() {
    let peers = Peers::read();
    let moments = market(&peers);
    let problem = |merit: QuadraticForm| Problem {
        inner: moments.clone(),
        merit,
        regularizer: Unregularized,
    };
    let first = problem(moments.first_step().expect("instruments that span"));
    let theta = solved(&first);
    for (suffix, clustered) in [("robust", false), ("clustered", true)] {
        let clusters = peers.clusters(clustered);
        let found = of_samples(&first, &theta, &clusters, Correction::SmallSample);
        peers.compare(&format!("two_stages_{suffix}"), &theta, &found.expect("a covariance"));
        let second = problem(moments.second_step(&theta, &clusters).expect("moments that span"));
        let name = format!("two_steps_{suffix}");
        let theta = solved(&second);
        let found = of_samples(&second, &theta, &clusters, Correction::None);
        peers.compare(&name, &theta, &found.expect("a covariance"));
        // Hansen's J is twice the objective, times n.
        let j = 2.0 * clusters.of().len() as f64 * second.erased().objective(&theta);
        let wanted = peers.numbers(&[&name, "j"]);
        assert!((j / wanted[0] - 1.0).abs() < 1e-8, "{j} is not {}", wanted[0]);
        let tail = chi_squared_tail(2.0, j);
        assert!((tail / wanted[1] - 1.0).abs() < 1e-8, "{tail} is not {}", wanted[1]);
    }
}

/// Normal numbers by Box and Muller's formula.
fn normal(draws: &mut Stream) -> f64 {
    let (u, v) = (1.0 - draws.unit(), draws.unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Groups of 6 rows with a proportion of positive ones each.
fn bags(seed: u64, groups: usize) -> Problem<Bags, Bernoulli, Unregularized> {
    let mut draws = Stream::new(seed, 0);
    let (mut rows, mut proportions, mut ends) = (Vec::new(), Vec::new(), vec![0]);
    for _ in 0..groups {
        let common = normal(&mut draws);
        let mut positive = 0.0;
        for _ in 0..6 {
            let x = common + 0.5 * normal(&mut draws);
            let chance = 1.0 / (1.0 + (-(0.3 + 1.2 * x)).exp());
            positive += f64::from(u8::from(draws.unit() < chance));
            rows.extend([x, 1.0]);
        }
        proportions.push(positive / 6.0);
        ends.push(ends.last().expect("one") + 6);
    }
    Problem {
        inner: Bags::new(Groups::new(2, rows, ends, false).expect("groups"), Link::Logistic),
        merit: Bernoulli::new(proportions).expect("proportions"),
        regularizer: Unregularized,
    }
}

#[test]
fn the_bootstrap_agrees_with_the_sandwich_where_f_bends() {
    let problem = bags(3, 300);
    let theta = solved(&problem);
    let clusters = Clusters::singles(300);
    let sandwich = of_terms(&problem, &theta, &clusters, Correction::None).expect("a covariance");
    let again =
        |seed| bootstrap(&clusters, 400, seed, resampled_terms(&problem, &theta, Stop::default()));
    let found = again(1);
    assert_eq!(found.failed, 0);
    let drawn = found.covariance().expect("replicates");
    for (a, b) in drawn.standard_errors().iter().zip(sandwich.standard_errors()) {
        // 400 replicates leave 3.5 % of a standard error.
        assert!((a / b - 1.0).abs() < 0.15, "{a} by the bootstrap, {b} by the sandwich");
    }
    for (l, (theta, error)) in theta.iter().zip(sandwich.standard_errors()).enumerate() {
        let [low, high] = found.interval(l, 0.95).expect("replicates");
        assert!(low < *theta && *theta < high, "{theta} lies outside {low} to {high}");
        let width = (high - low) / (2.0 * 1.96 * error);
        assert!((width - 1.0).abs() < 0.2, "{width} times as wide as by the sandwich");
    }
    let alone = rayon_of_one(|| again(1));
    assert_eq!(found, alone, "the same seed on one thread");
    assert_ne!(found.thetas[0], again(2).thetas[0]);
}

fn rayon_of_one<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(work)
}

#[test]
fn the_hessian_by_differences_is_the_one_of_formulas() {
    // One row a group: bags are a logistic regression, whose Hessian is known.
    let mut draws = Stream::new(5, 0);
    let rows: Vec<f64> = (0..200).flat_map(|_| [1e3 * normal(&mut draws), 1.0]).collect();
    let labels: Vec<f64> = rows
        .chunks_exact(2)
        .map(|row| if draws.unit() < 1.0 / (1.0 + (-row[0] / 1e3).exp()) { 1.0 } else { -1.0 })
        .collect();
    let ends = (0..=200).collect();
    let groups = Groups::new(2, rows.clone(), ends, false).expect("groups");
    let proportions = labels.iter().map(|y| 0.5 + 0.5 * y).collect();
    let bags = Problem {
        inner: Bags::new(groups, Link::Logistic),
        merit: Bernoulli::new(proportions).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let linear = Problem {
        inner: predictors(2, rows, vec![0.0; 200]).expect("rows"),
        merit: Logistic::new(labels).expect("labels"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let theta = solved(&linear);
    let clusters = Clusters::singles(200);
    let wanted = of_terms(&linear, &theta, &clusters, Correction::None).expect("a covariance");
    let found = of_terms(&bags, &theta, &clusters, Correction::None).expect("a covariance");
    for (found, wanted) in found.matrix().iter().zip(wanted.matrix()) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} is not {wanted}");
    }
}

#[test]
fn where_there_is_none_the_reason_is_told() {
    let mut draws = Stream::new(9, 0);
    let rows: Vec<f64> = (0..60).map(|_| normal(&mut draws)).collect();
    let offsets: Vec<f64> = (0..20).map(|_| normal(&mut draws)).collect();
    let inner = predictors(3, rows.clone(), offsets.clone()).expect("rows");
    let square = Square::new(0.5).expect("a weight");
    let problem = Problem { inner, merit: square, regularizer: Unregularized };
    let theta = solved(&problem);
    let singles = Clusters::singles(20);
    let of = |problem: Objective<'_>, theta: &[f64]| {
        of_terms(problem, theta, &singles, Correction::SmallSample)
    };
    assert!(of(problem.erased(), &theta).is_ok());
    assert!(matches!(of(problem.erased(), &[0.0; 3]), Err(Unsure::NotSolved(_))));

    let lasso = Problem {
        regularizer: L1::new(0.1).expect("a weight"),
        inner: problem.inner.clone(),
        merit: square,
    };
    assert_eq!(of(lasso.erased(), &solved(&lasso)), Err(Unsure::Corner));
    let held = Problem {
        regularizer: BoxConstraint::new(-1e-3, 1e-3).expect("bounds"),
        inner: problem.inner.clone(),
        merit: square,
    };
    assert!(matches!(of(held.erased(), &solved(&held)), Err(Unsure::Binds(_))));
    let kinks = Problem {
        regularizer: Unregularized,
        inner: problem.inner.clone(),
        merit: Absolute::new(1.0).expect("a weight"),
    };
    assert_eq!(of(kinks.erased(), &theta), Err(Unsure::Kinks));

    let twice: Vec<f64> = rows.chunks_exact(3).flat_map(|x| [x[0], x[0], x[2]]).collect();
    let same = Problem {
        inner: predictors(3, twice, offsets).expect("rows"),
        merit: square,
        regularizer: Unregularized,
    };
    assert_eq!(of(same.erased(), &solved(&same)), Err(Unsure::Singular));
    let few = Clusters::new(vec![0; 20]).expect("no gap");
    let found = of_terms(&problem, &theta, &few, Correction::SmallSample);
    assert_eq!(found, Err(Unsure::TooFew { units: 1, d: 3 }));
    assert!(Clusters::new(vec![0, 2]).expect_err("a gap").to_string().contains("number 1"));
}

#[test]
fn combinations_have_the_covariance_that_follows() {
    let whole = Covariance::new(2, vec![4.0, 1.0, 1.0, 9.0], 10);
    let sums = whole.of_combinations(&[1.0, 1.0, 1.0, -1.0, 0.0, 2.0]);
    assert_eq!(sums.matrix(), [15.0, -5.0, 20.0, -5.0, 11.0, -16.0, 20.0, -16.0, 36.0]);
    assert_eq!(whole.standard_errors(), [2.0, 3.0]);
}
