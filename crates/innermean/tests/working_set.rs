//! Working sets: the optimum by its own conditions, written down number by number, for every phi
//! and g that the method is made for, with dense and sparse rows; what a step costs; what `auto` takes.

use innermean::collapse::{Collapsed, SparseRows};
use innermean::draws::Stream;
use innermean::regularizer::Coordinate;
use innermean::{
    AnyMethod, BoxConstraint, Choice, Driver, ElasticNet, FreeTail, Huber, Inner, L1, Logistic,
    Merit, Problem, Regularizer, Separable, Solution, Square, SquaredHinge, Status, Stop, auto,
};

/// Rows with mostly zeros where they are sparse, a column of ones at the end where there is an
/// intercept, and targets that a few columns make.
struct Data {
    d: usize,
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    sparse: bool,
}

impl Data {
    fn random(n: usize, d: usize, nonzeros: Option<usize>, intercept: bool, seed: u64) -> Self {
        let mut stream = Stream::new(seed, 0);
        let mut symmetric = || 2.0 * stream.unit() - 1.0;
        let truth: Vec<f64> =
            (0..d).map(|l| if l % 7 == 0 { 2.0 * symmetric() } else { 0.0 }).collect();
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row = vec![0.0; d];
                match nonzeros {
                    None => row.iter_mut().for_each(|x| *x = symmetric()),
                    Some(count) => (0..count).for_each(|k| {
                        let l = (i * 31 + k * 17 + (symmetric().abs() * 1e6) as usize) % d;
                        row[l] = symmetric();
                    }),
                }
                if intercept {
                    row[d - 1] = 1.0;
                }
                row
            })
            .collect();
        let score = |row: &Vec<f64>| row.iter().zip(&truth).map(|(x, t)| x * t).sum::<f64>();
        let targets = rows.iter().map(|row| score(row) + 0.3).collect();
        Data { d, rows, targets, sparse: nonzeros.is_some() }
    }

    fn predictors(&self, offsets: Vec<f64>) -> Collapsed {
        if !self.sparse {
            return Collapsed::from_rows(self.d, self.rows.concat(), offsets);
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &self.rows {
            for (l, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                columns.push(l as u32);
                values.push(*x);
            }
            starts.push(values.len());
        }
        let rows = SparseRows::new(self.d, starts, columns, values).expect("rising columns");
        Collapsed::from_sparse_rows(rows, offsets)
    }

    fn labels(&self) -> Vec<f64> {
        self.targets.iter().map(|t| if *t < 0.0 { -1.0 } else { 1.0 }).collect()
    }
}

/// phi by name, its offsets, and `phi'` by the plain formula.
type Loss<'a> = (&'static str, Box<dyn Merit>, Vec<f64>, Box<dyn Fn(usize, f64) -> f64 + 'a>);

fn losses(data: &Data) -> Vec<Loss<'_>> {
    let n = data.rows.len();
    let minus: Vec<f64> = data.targets.iter().map(|t| -t).collect();
    let labels = data.labels();
    let (y, z) = (labels.clone(), labels.clone());
    vec![
        (
            "square",
            Box::new(Square::new(0.5).unwrap()),
            minus.clone(),
            Box::new(|i: usize, u: f64| u - data.targets[i]),
        ),
        (
            "huber",
            Box::new(Huber::new(1.0, 0.5).unwrap()),
            minus.clone(),
            Box::new(|i: usize, u: f64| {
                let mut slope = [0.0];
                Huber::new(1.0, 0.5).unwrap().gradient(i, &[u - data.targets[i]], &mut slope);
                slope[0]
            }),
        ),
        (
            "logistic",
            Box::new(Logistic::new(labels.clone()).unwrap()),
            vec![0.0; n],
            Box::new(move |i: usize, u: f64| -y[i] / (1.0 + (y[i] * u).exp())),
        ),
        (
            "squared hinge",
            Box::new(SquaredHinge::new(labels).unwrap()),
            vec![0.0; n],
            Box::new(move |i: usize, u: f64| -2.0 * z[i] * (1.0 - z[i] * u).max(0.0)),
        ),
    ]
}

/// `F'` by the plain formula.
fn slopes(data: &Data, slope: &dyn Fn(usize, f64) -> f64, theta: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; data.d];
    for (i, row) in data.rows.iter().enumerate() {
        let w = slope(i, row.iter().zip(theta).map(|(x, t)| x * t).sum());
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += w * x / data.rows.len() as f64);
    }
    sum
}

/// How far `-F'` is from the subgradients of g.
fn excess(g: &dyn Regularizer, theta: &[f64], slopes: &[f64]) -> f64 {
    let one = |l: usize| {
        let Coordinate { tilt, l1, l2, lo, hi } = g.coordinate(l).expect("a sum");
        let (x, v) = (theta[l], slopes[l] + tilt + l2 * theta[l]);
        assert!(lo <= x && x <= hi, "coordinate {l} at {x}, between {lo} and {hi}");
        let (left, right) = match x.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Greater) => (v + l1, v + l1),
            Some(std::cmp::Ordering::Less) => (v - l1, v - l1),
            _ => (v - l1, v + l1),
        };
        let (down, up) = (
            if x > lo { left.max(0.0) } else { 0.0 },
            if x < hi { (-right).max(0.0) } else { 0.0 },
        );
        down.max(up)
    };
    (0..theta.len()).map(one).fold(0.0, f64::max)
}

fn run<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> Solution {
    let start = vec![0.0; problem.inner.d()];
    let stop = Stop { tolerance: Some(1e-9), max_outer: Some(100), ..Stop::default() };
    AnyMethod::named("working-set", &Choice::default(), problem, &start)
        .expect("a problem for it")
        .run(&Driver { stop, ..Driver::default() }, problem, &start, &mut ())
}

/// Lassos, elastic nets, boxes and mixtures of these.
fn regularizers(d: usize, l1: f64) -> Vec<(&'static str, Box<dyn Regularizer>)> {
    let mixed = |l: usize| match l % 4 {
        0 => Coordinate { l1, lo: 0.0, ..Coordinate::FREE },
        1 => Coordinate { l1, l2: 0.1, tilt: 0.01, ..Coordinate::FREE },
        2 => Coordinate { lo: -0.2, hi: 0.1, ..Coordinate::FREE },
        _ => Coordinate { l1: 2.0 * l1, hi: 0.3, ..Coordinate::FREE },
    };
    vec![
        ("lasso", Box::new(L1::new(l1).unwrap())),
        ("intercept", Box::new(FreeTail::new(L1::new(l1).unwrap(), d - 1))),
        ("elastic net", Box::new(ElasticNet::from_weights(l1, 0.01).unwrap())),
        ("box", Box::new(BoxConstraint::new(-0.3, 0.2).unwrap())),
        ("mixed", Box::new(Separable::new((0..d).map(mixed).collect()).unwrap())),
    ]
}

#[test]
fn it_ends_where_no_coordinate_wants_to_move() {
    let sizes: [(usize, usize, Option<usize>); 5] =
        [(60, 12, None), (40, 150, None), (5, 300, None), (300, 200, Some(3)), (80, 400, Some(4))];
    for (n, d, nonzeros) in sizes {
        for seed in 0..6 {
            let data = Data::random(n, d, nonzeros, true, seed);
            for (loss, merit, offsets, slope) in losses(&data) {
                let origin = slopes(&data, &*slope, &vec![0.0; d]);
                let most = origin.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
                let part = [0.5, 0.1, 0.02][seed as usize % 3];
                for (name, g) in regularizers(d, part * most) {
                    let inner = data.predictors(offsets.clone());
                    let problem = Problem { inner, merit: &*merit, regularizer: g };
                    let solution = run(&problem);
                    let case = format!("{loss}, {name}, {n} x {d}, seed {seed}");
                    let here = slopes(&data, &*slope, &solution.theta);
                    let excess = excess(&problem.regularizer, &solution.theta, &here);
                    // A gap of 1e-9 is a slope of about its root where P is strongly convex.
                    assert!(excess <= 1e-4 * most, "{case}: {excess:e} of {most:e}");
                    let (status, found) = (solution.status, solution.certificate);
                    assert_eq!(status, Status::Solved, "{case}: {found:?}, {excess:e}");
                    let gap = solution.certificate.gap.expect("a proof");
                    let other =
                        AnyMethod::named("newton", &Choice::default(), &problem, &solution.theta);
                    let stop = Stop { tolerance: None, max_outer: Some(20), ..Stop::default() };
                    let driver = Driver { stop, ..Driver::default() };
                    let other = other.unwrap().run(&driver, &problem, &solution.theta, &mut ());
                    assert!(solution.objective - other.objective <= gap, "{case}: {other:?}");
                }
            }
        }
    }
}

#[test]
fn far_from_the_answer_a_step_never_ascends() {
    let data = Data::random(50, 80, None, true, 3);
    for (loss, merit, offsets, _) in losses(&data) {
        let regularizer = FreeTail::new(L1::new(0.01).unwrap(), 79);
        let problem = Problem { inner: data.predictors(offsets), merit: &*merit, regularizer };
        let start: Vec<f64> = (0..80).map(|l| if l % 3 == 0 { 30.0 } else { -20.0 }).collect();
        let method = AnyMethod::named("working-set", &Choice::default(), &problem, &start);
        let solution = method.unwrap().run(&Driver::default(), &problem, &start, &mut ());
        assert_eq!(solution.status, Status::Solved, "{loss}: {solution:?}");
        let falls =
            |pair: &[innermean::Record]| pair[1].objective <= pair[0].objective * (1.0 + 1e-12);
        assert!(solution.trace.windows(2).all(falls), "{loss}: {:?}", solution.trace);
    }
}

#[test]
fn a_step_costs_a_gradient_and_a_new_set_its_columns() {
    let data = Data::random(100, 300, None, false, 1);
    let (_, merit, offsets, _) = losses(&data).swap_remove(0);
    let regularizer = L1::new(0.02).unwrap();
    let problem = Problem { inner: data.predictors(offsets), merit, regularizer };
    let solution = run(&problem);
    let (n, outer) = (100, solution.outer);
    // A gradient at the start and at the end of every step.
    assert_eq!(solution.calls.f, n * (1 + outer));
    assert_eq!(solution.calls.merit, n * (1 + outer));
    let columns = solution.calls.jacobian - n * (1 + outer);
    assert!(columns >= 2 * n && columns <= n * outer && columns.is_multiple_of(n), "{columns}");
    // Most columns are never looked at but in passes.
    assert!(solution.theta.iter().filter(|t| **t != 0.0).count() < 100);
}

#[test]
fn it_is_taken_where_most_coordinates_may_rest() {
    let first = |data: &Data, which: usize, g: Box<dyn Regularizer>| {
        let (_, merit, offsets, _) = losses(data).swap_remove(which);
        let problem = Problem { inner: data.predictors(offsets), merit, regularizer: g };
        auto::choose(&problem)[0].method
    };
    let l1 = || Box::new(L1::new(0.1).unwrap());
    let wide = Data::random(40, 150, None, true, 1);
    for which in 0..4 {
        assert_eq!(first(&wide, which, l1()), "working-set");
        let intercept = Box::new(FreeTail::new(L1::new(0.1).unwrap(), 149));
        assert_eq!(first(&wide, which, intercept), "working-set");
    }
    assert_eq!(first(&Data::random(300, 200, Some(3), false, 1), 2, l1()), "working-set");
    assert_eq!(first(&Data::random(60, 12, None, false, 1), 0, l1()), "direct");
    let bounds = Box::new(BoxConstraint::new(0.0, 1.0).unwrap());
    assert_ne!(first(&wide, 0, bounds), "working-set");
}
