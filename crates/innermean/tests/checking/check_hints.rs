//! Hints that would change the answer if they were wrong, and numbers that are none, are found by
//! `check_problem`.

use innermean::regularizer::Coordinate;
use innermean::*;

/// `f_theta(x_i) = theta_i + 2 theta_(i + 2)`, with a support that is right or wrong.
struct Pairs {
    supports: Vec<Option<Vec<u32>>>,
}

impl Pairs {
    fn new(change: impl Fn(usize, Vec<u32>) -> Option<Vec<u32>>) -> Self {
        Pairs { supports: (0..4).map(|i| change(i, vec![i as u32, i as u32 + 2])).collect() }
    }
}

impl Inner for Pairs {
    fn d(&self) -> usize {
        6
    }
    fn n_x(&self) -> usize {
        4
    }
    fn n_y(&self, _: usize) -> usize {
        1
    }
    fn facts(&self) -> Facts {
        Facts::affine()
    }
    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        out[0] = theta[i] + 2.0 * theta[i + 2];
    }
    fn add_jac_t(&self, _: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[i] += c * w[0];
        out[i + 2] += 2.0 * c * w[0];
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Pairs {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn support(&self, i: usize) -> Option<&[u32]> {
        self.supports[i].as_deref()
    }
}

impl Passes for Pairs {}

fn report(inner: Pairs, regularizer: impl Regularizer) -> String {
    let problem = Problem { inner, merit: Square::new(1.0).unwrap(), regularizer };
    check_problem(&problem, &CheckOptions::default()).to_string()
}

#[test]
fn a_wrong_support_is_found() {
    let right = check_problem(
        &Problem {
            inner: Pairs::new(|_, support| Some(support)),
            merit: Square::new(1.0).unwrap(),
            regularizer: Unregularized,
        },
        &CheckOptions::default(),
    );
    assert!(right.is_ok(), "{right}");
    let cases = [
        (Pairs::new(|_, s| Some(vec![s[0]])), "support leaves out coordinate"),
        (Pairs::new(|_, s| Some(vec![s[1], s[0]])), "support does not rise"),
        (
            Pairs::new(|_, s| Some(vec![s[0], s[1], 6])),
            "support does not rise strictly within 0..6",
        ),
        (Pairs::new(|i, s| (i > 0).then_some(s)), "expected those of every term or of none"),
    ];
    for (inner, words) in cases {
        let said = report(inner, Unregularized);
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// A ridge that says something else about its parts, or no number.
struct Ridgeling {
    part: fn(usize) -> Option<Coordinate>,
    conjugate: fn(&Ridge, &[f64]) -> f64,
}

impl Ridgeling {
    fn ridge() -> Ridge {
        Ridge::from_weight(0.5).unwrap()
    }
}

impl Regularizer for Ridgeling {
    fn value(&self, theta: &[f64]) -> f64 {
        Self::ridge().value(theta)
    }
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        Self::ridge().prox(alpha, theta);
    }
    fn conjugate(&self, v: &[f64]) -> f64 {
        (self.conjugate)(&Self::ridge(), v)
    }
    fn mu(&self) -> f64 {
        0.5
    }
    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        (self.part)(l)
    }
}

#[test]
fn wrong_parts_of_g_and_a_conjugate_that_is_no_number_are_found() {
    let conjugate = |ridge: &Ridge, v: &[f64]| ridge.conjugate(v);
    let right = |_: usize| Some(Coordinate { l2: 0.5, ..Coordinate::FREE });
    let f = || Pairs::new(|_, support| Some(support));
    let cases = [
        (Ridgeling { part: right, conjugate }, ""),
        (Ridgeling { part: |_| Some(Coordinate::FREE), conjugate }, "coordinate(0) steps to"),
        (
            Ridgeling { part: |l| (l > 2).then_some(Coordinate::FREE), conjugate },
            "3 of 6 parts of g",
        ),
        (Ridgeling { part: right, conjugate: |_, _| f64::NAN }, "conjugate is NaN"),
    ];
    for (regularizer, words) in cases {
        let said = report(f(), regularizer);
        assert!(
            said.contains(words) && (!words.is_empty() || !said.contains("g:")),
            "{words}: {said}"
        );
    }
}

/// A weight changes neither whether there is a kink nor where the curvature is.
#[test]
fn weights_keep_what_a_merit_says_of_its_curvature() {
    let weighted =
        Weighted::new(Poisson::new(vec![2.0, 3.0], vec![1.0; 2], 1.0).unwrap(), vec![0.5, 4.0])
            .unwrap();
    let plain = Poisson::new(vec![2.0, 3.0], vec![1.0; 2], 1.0).unwrap();
    assert!(!plain.has_kinks() && !weighted.has_kinks());
    assert_eq!(weighted.curvature(1, &[0.7]), plain.curvature(1, &[0.7]).map(|c| 4.0 * c));
    let kinked = Weighted::new(Absolute::new(1.0).unwrap(), vec![2.0]).unwrap();
    assert!(kinked.has_kinks());
}

/// At the origin, where the averages are 0, the logarithm is infinitely steep; that is no unit in
/// which anything is small.
#[test]
fn a_slope_without_bound_at_the_origin_solves_nothing() {
    let rows = vec![1.0, 0.5, 2.0, 0.3, 1.5, 1.0];
    let problem = Problem {
        inner: problems::linear::predictors(2, rows, vec![0.0; 3]).unwrap(),
        merit: Poisson::new(vec![2.0, 3.0, 1.0], vec![1.0; 3], 1.0).unwrap(),
        regularizer: Ridge::from_weight(0.01).unwrap(),
    };
    let start = [5.0, 5.0];
    let method = AnyMethod::named("lbfgs", &Choice::default(), &problem, &start).unwrap();
    let solution = method.run(&Driver::default(), &problem, &start, &mut ());
    assert!(solution.status.is_solved(), "{:?}", solution.status);
    assert!(solution.objective < problem.objective(&start) - 0.1);
    assert!(problem.erased().stationarity(&solution.theta, 1.0) < 1e-4);
}

/// `f_theta(x_i, y_j) = <x_i - x_j, theta>`, with the rows and the mean that it lends.
struct Lender {
    rows: Vec<f64>,
    lent: Vec<f64>,
    mean: Vec<f64>,
}

impl Inner for Lender {
    fn d(&self) -> usize {
        2
    }
    fn n_x(&self) -> usize {
        self.rows.len() / 2
    }
    fn n_y(&self, _: usize) -> usize {
        self.n_x()
    }
    fn facts(&self) -> Facts {
        Facts::affine()
    }
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out[0] = (0..2).map(|l| (self.rows[2 * i + l] - self.rows[2 * j + l]) * theta[l]).sum();
    }
    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        (0..2).for_each(|l| out[l] += c * w[0] * (self.rows[2 * i + l] - self.rows[2 * j + l]));
    }
    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Lender {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn pair_rows(&self) -> Option<PairRows<'_>> {
        Some(PairRows::Differences(&self.lent, &self.mean))
    }
}

impl Passes for Lender {}

#[test]
fn rows_that_are_not_those_of_the_pairs_are_found() {
    let rows = vec![1.0, 2.0, -3.0, 0.5, 4.0, -1.5];
    let said = |lent: Vec<f64>, mean: Vec<f64>| {
        let inner = Lender { rows: rows.clone(), lent, mean };
        let merit = Square::new(1.0).unwrap();
        let problem = Problem { inner, merit, regularizer: Unregularized };
        check_problem(&problem, &CheckOptions::default()).to_string()
    };
    let mean = vec![2.0 / 3.0, 1.0 / 3.0];
    assert!(!said(rows.clone(), mean.clone()).contains("pair_rows"));
    let mut other = rows.clone();
    other[3] = 0.75;
    let other_mean = vec![mean[0], mean[1] + 0.25 / 3.0];
    let found = said(other, other_mean);
    assert!(found.contains("pair_rows say that the value changes by"), "{found}");
    assert!(said(rows.clone(), vec![0.0; 2]).contains("the mean is not that of the rows"));
    assert!(said(rows[..4].to_vec(), mean).contains("pair_rows lends 4 numbers"));
}
