//! Newton's method where f is not affine: Gauss-Newton's matrix, and a start on a part of the terms
//! or of their samples.

use innermean::{
    AnyMethod, Bags, Bernoulli, BoxConstraint, BoxedProblem, Choice, Driver, FreeTail, Groups,
    Inner, LanguageModel, Link, Merit, NegativeLog, Poisson, Problem, Regularizer, Ridge,
    Sequences, SoftmaxBags, Solution, Square, Stop,
};
use innermean_data::{
    GroupOptions, LanguageOptions, RowLabels, generate_groups, generate_language,
};

/// A problem whose types are forgotten, and where to begin.
struct Curved {
    name: &'static str,
    problem: BoxedProblem,
    start: Vec<f64>,
}

impl Curved {
    fn new(
        name: &'static str,
        inner: impl Inner + 'static,
        merit: impl Merit + 'static,
        regularizer: impl Regularizer + 'static,
        start: Vec<f64>,
    ) -> Self {
        Curved { name, problem: Problem { inner, merit, regularizer }.boxed(), start }
    }

    fn averages(&self, theta: &[f64]) -> Vec<f64> {
        let f = &self.problem.inner;
        let mut f_bar = vec![0.0; f.n_x() * f.ell()];
        f.means(theta, &mut f_bar);
        f_bar
    }

    fn run(&self, name: &str, seed: u64, tolerance: f64) -> Solution {
        let problem = self.problem.erased();
        let choice = Choice::seeded(seed);
        let method = AnyMethod::named(name, &choice, problem, &self.start).expect("it suits");
        let stop = Stop { tolerance: Some(tolerance), max_outer: Some(3000), ..Stop::default() };
        method.run(&Driver { stop, ..Driver::default() }, problem, &self.start, &mut ())
    }
}

/// Proportions of groups with `rows` rows each, from the smallest to the largest.
fn proportions(
    name: &'static str,
    groups: usize,
    rows: (usize, usize),
    d: usize,
    weight: f64,
) -> Curved {
    let options = GroupOptions { groups, rows, features: d, labels: RowLabels::Binary, seed: 3 };
    let data = generate_groups(&options);
    let rows = Groups::gather(d, &data.rows, &data.groups, groups, true).expect("groups").0;
    let inner = Bags::new(rows, Link::Logistic);
    let start = inner.start(data.group_labels.iter().sum::<f64>() / groups as f64);
    let regularizer = FreeTail::new(Ridge::from_weight(weight).expect("a weight"), d);
    Curved::new(
        name,
        inner,
        Bernoulli::new(data.group_labels).expect("proportions"),
        regularizer,
        start,
    )
}

/// Whatever the groups: many small ones, of which a part is solved first; few large ones, of which
/// some rows are; one alone; single rows.
fn groups() -> Vec<Curved> {
    vec![
        proportions("many groups", 1500, (1, 12), 4, 1e-3),
        proportions("few large groups", 8, (3000, 6000), 3, 1e-3),
        proportions("one group", 1, (500, 500), 2, 1e-2),
        proportions("single rows", 400, (1, 1), 3, 1e-2),
        proportions("hardly any", 3, (1, 4), 2, 0.1),
    ]
}

/// Other links, several averages for each term, and a g with bounds.
fn others() -> Vec<Curved> {
    let gathered = |labels, d: usize, seed| {
        let options = GroupOptions { groups: 300, rows: (2, 20), features: d, labels, seed };
        let data = generate_groups(&options);
        let rows = Groups::gather(d, &data.rows, &data.groups, 300, true).expect("groups").0;
        (rows, data.group_labels)
    };
    let ridge = |d| FreeTail::new(Ridge::from_weight(1e-3).expect("a weight"), d);
    let (rows, labels) = gathered(RowLabels::Classes(3), 3, 4);
    let inner = SoftmaxBags::new(rows, 3).expect("three classes");
    let start = inner.start(&[1.0 / 3.0; 3]);
    let classes = Curved::new(
        "classes",
        inner,
        NegativeLog::new(3, labels).expect("proportions"),
        ridge(9),
        start,
    );
    let (rows, labels) = gathered(RowLabels::Counts, 3, 5);
    let sizes: Vec<f64> = (0..300).map(|i| rows.size(i) as f64).collect();
    let total = sizes.iter().sum::<f64>();
    let inner = Bags::new(rows, Link::Exp);
    let start = inner.start(labels.iter().sum::<f64>() / total);
    let merit = Poisson::new(labels, sizes, 300.0 / total).expect("counts");
    let counts = Curved::new("counts", inner, merit, ridge(3), start);
    let (rows, labels) = gathered(RowLabels::Binary, 3, 6);
    let inner = Bags::with_targets(rows, Link::Logistic, labels).expect("labels");
    let bounds = BoxConstraint::new(-0.3, 0.4).expect("bounds");
    let boxed = Curved::new("box", inner, Square::new(1.0).expect("1"), bounds, vec![0.0; 4]);
    vec![classes, counts, boxed]
}

/// The point that L-BFGS finds, whichever part comes first; P falls with every step.
#[test]
fn a_start_on_a_part_changes_no_answer() {
    for curved in groups().iter().chain(&others()) {
        let name = curved.name;
        let best = curved.run("lbfgs", 0, 1e-8);
        assert!(best.status.is_solved(), "{name}: {:?}", best.status);
        for seed in 0..3 {
            let found = curved.run("newton", seed, 1e-8);
            assert!(found.status.is_solved(), "{name}: {:?} after {}", found.status, found.outer);
            assert!(
                found.outer <= best.outer.max(14),
                "{name}: {} steps, L-BFGS {}",
                found.outer,
                best.outer
            );
            // Intercepts of classes have a sum that nothing holds: what counts are averages.
            let (here, there) = (curved.averages(&found.theta), curved.averages(&best.theta));
            let apart = here.iter().zip(&there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= 1e-5, "{name}, seed {seed}: {apart:e}");
            for pair in found.trace.windows(2) {
                let slack = 1e-13 * (1.0 + pair[0].objective.abs());
                assert!(
                    pair[1].objective <= pair[0].objective + slack,
                    "{name}: P rises at {}",
                    pair[1].outer
                );
            }
        }
    }
}

/// Most of the way is made before the second gradient of all data.
#[test]
fn a_part_saves_passes() {
    for curved in [
        proportions("many", 4000, (8, 8), 5, 1e-4),
        proportions("large", 10, (8000, 8000), 3, 1e-4),
    ] {
        let found = curved.run("newton", 0, 1e-6);
        let P { first, last } = P::of(&found);
        assert!(found.trace[1].objective - last <= 1e-2 * (first - last), "{}", curved.name);
        assert!(found.outer <= 6, "{}: {} steps", curved.name, found.outer);
    }
}

/// The objective at the start and at the end.
struct P {
    first: f64,
    last: f64,
}

impl P {
    fn of(solution: &Solution) -> Self {
        P { first: solution.trace[0].objective, last: solution.objective }
    }
}

/// The bits of an answer do not depend on the threads.
#[test]
fn threads_change_nothing() {
    for curved in [
        proportions("many", 3000, (1, 30), 4, 1e-3),
        proportions("large", 8, (3000, 6000), 3, 1e-3),
    ] {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a thread pool");
            let found = pool.install(|| curved.run("newton", 1, 1e-8));
            (found.theta, found.calls)
        };
        assert_eq!(on(1), on(2), "{}", curved.name);
        assert_eq!(on(1), on(3), "{}", curved.name);
    }
}

/// A start next to the solution is not left for a worse point: what a part says is heard only where
/// P falls.
#[test]
fn a_good_start_is_kept() {
    let mut curved = proportions("many groups", 1500, (1, 12), 4, 1e-3);
    curved.start = curved.run("lbfgs", 0, 1e-9).theta;
    let found = curved.run("newton", 0, 1e-10);
    assert!(found.status.is_solved(), "{:?}", found.status);
    let P { first, .. } = P::of(&found);
    assert!(found.trace.iter().all(|record| record.objective <= first + 1e-13), "P has risen");
}

/// Labels that a language model alone explains: P is not convex, falls all the same, and its
/// gradient vanishes.
#[test]
fn what_is_not_convex_descends_to_a_stationary_point() {
    let options = LanguageOptions { classes: 3, steps: 600, ..LanguageOptions::default() };
    let spoken = generate_language(&options);
    let (ngrams, probabilities) = spoken.ngrams(2);
    let language = LanguageModel::new(3, 2, &ngrams, &probabilities).expect("a language");
    let sequences = Sequences::new(spoken.features, spoken.rows.clone(), &spoken.lengths, language)
        .expect("sequences");
    let problem =
        sequences.problem(Ridge::from_weight(1e-3).expect("a weight")).expect("a problem");
    let start: Vec<f64> = (0..problem.inner.d()).map(|l| 0.3 * (2.3 * l as f64).sin()).collect();
    let curved = Curved::new("sequences", problem.inner, problem.merit, problem.regularizer, start);
    let found = curved.run("newton", 0, 1e-6);
    assert!(found.status.is_solved(), "{:?} {:?}", found.status, found.certificate.relative);
    for pair in found.trace.windows(2) {
        assert!(pair[1].objective <= pair[0].objective + 1e-13, "P rises at {}", pair[1].outer);
    }
}
