//! Rows that are read when they are looked at: the bits of rows in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use innermean::draws::Stream;
use innermean::problems::linear::predictors;
use innermean::problems::scaling::Scaling;
use innermean::{
    Absolute, Bags, Bernoulli, DownsideSquare, Excess, Exponential, FreeTail, Groups, Huber, Inner,
    Link, Logistic, Lost, NegativeLog, Objective, Portfolio, Problem, ReadRows, Ridge, RowData,
    Simplex, SmoothedHinge, Solution, Square, solve,
};

/// Rows that are somewhere, and may be lost.
struct Elsewhere {
    rows: Vec<f64>,
    width: usize,
    /// Reads that are still answered.
    left: AtomicUsize,
    /// The most numbers that were asked for at once.
    largest: Arc<AtomicUsize>,
}

impl ReadRows for Elsewhere {
    fn width(&self) -> usize {
        self.width
    }

    fn rows(&self) -> usize {
        self.rows.len() / self.width
    }

    fn read(&self, first: usize, out: &mut [f64]) -> Result<(), Lost> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if left.is_err() {
            return Err(Lost::new(format!("row {first}"), "the disk is gone"));
        }
        self.largest.fetch_max(out.len(), Ordering::Relaxed);
        out.copy_from_slice(&self.rows[first * self.width..][..out.len()]);
        Ok(())
    }
}

fn elsewhere(rows: &[f64], width: usize) -> RowData {
    lost_after(usize::MAX, rows, width)
}

fn lost_after(reads: usize, rows: &[f64], width: usize) -> RowData {
    let (left, largest) = (AtomicUsize::new(reads), Arc::default());
    RowData::read(Elsewhere { rows: rows.to_vec(), width, left, largest })
}

/// Returns of some percent of d assets over n periods.
fn returns(n: usize, d: usize) -> Vec<f64> {
    let mut draws = Stream::new(d as u64, 3);
    let mut rows = Vec::with_capacity(n * d);
    for _ in 0..n {
        let market = 0.02 * (draws.unit() - 0.49);
        rows.extend((0..d).map(|l| market + 0.01 * (1 + l) as f64 * (draws.unit() - 0.49)));
    }
    rows
}

/// The same steps to the same answer with the same proof.
fn assert_same(name: &str, here: &Solution, there: &Solution) {
    assert_eq!(here.calls, there.calls, "{name}: calls");
    assert_eq!(here.theta, there.theta, "{name}: theta");
    assert_eq!(here.objective.to_bits(), there.objective.to_bits(), "{name}: objective");
    assert_eq!(here.certificate, there.certificate, "{name}: certificate");
    assert!(here.status.is_solved(), "{name}: {:?}", here.status);
}

fn solved<'p>(problem: impl Into<Objective<'p>>, start: &[f64]) -> Solution {
    solve(problem, start).expect("finite numbers")
}

#[test]
fn portfolios_of_every_risk_have_the_same_bits() {
    for (n, d) in [(20_000, 7), (3000, 60)] {
        let rows = returns(n, d);
        let of = |data: RowData| Portfolio::new(d, data).expect("whole rows");
        let start = vec![1.0 / d as f64; d];
        macro_rules! compare {
            ($name:literal, $merit:expr) => {
                let on = |data: RowData| {
                    let problem = of(data).problem($merit.expect("in range"), Simplex);
                    solved(&problem.expect("finite means"), &start)
                };
                assert_same($name, &on(rows.clone().into()), &on(elsewhere(&rows, d)));
            };
        }
        compare!("variance", Square::new(4.0));
        compare!("semivariance", DownsideSquare::new(4.0));
        compare!("absolute", Absolute::new(2.0));
        compare!("huber", Huber::new(4.0, 0.01));
        let on = |data: RowData| {
            let (inner, merit) = (of(data).wealth(1.0), NegativeLog::new(1, vec![1.0; n]));
            solved(&Problem { inner, merit: merit.expect("weights"), regularizer: Simplex }, &start)
        };
        assert_same("kelly", &on(rows.clone().into()), &on(elsewhere(&rows, d)));
        // The threshold is free.
        let start = vec![0.0; d + 1];
        let tail = || FreeTail::new(Ridge::from_weight(1e-3).expect("above 0"), d);
        let on = |data: RowData| {
            let merit = Excess::new(20.0).expect("above 0").raised(0.1);
            solved(&Problem { inner: of(data).losses(0.01), merit, regularizer: tail() }, &start)
        };
        assert_same("cvar", &on(rows.clone().into()), &on(elsewhere(&rows, d)));
        let on = |data: RowData| {
            let merit = Exponential::new(1.0, 1.0).expect("above 0").raised(0.1);
            solved(&Problem { inner: of(data).losses(0.01), merit, regularizer: tail() }, &start)
        };
        assert_same("entropic", &on(rows.clone().into()), &on(elsewhere(&rows, d)));
    }
}

#[test]
fn linear_models_and_bags_have_the_same_bits() {
    let (n, d) = (9000, 12);
    let rows: Vec<f64> = returns(n, d).iter().map(|x| 100.0 * x).collect();
    let label = |row: &[f64]| if row[0] + row[1] * row[2] > 0.4 { 1.0 } else { -1.0 };
    let labels: Vec<f64> = rows.chunks_exact(d).map(label).collect();
    let ridge = || Ridge::from_weight(0.01).expect("above 0");
    let f = |data: RowData| predictors(d, data, vec![0.0; n]).expect("whole rows");
    let start = vec![0.0; d];
    let on = |data: RowData| {
        let merit = Logistic::new(labels.clone()).expect("labels");
        solved(&Problem { inner: f(data), merit, regularizer: ridge() }, &start)
    };
    assert_same("logistic", &on(rows.clone().into()), &on(elsewhere(&rows, d)));
    let on = |data: RowData| {
        let merit = SmoothedHinge::new(labels.clone(), 0.5).expect("labels");
        solved(&Problem { inner: f(data), merit, regularizer: ridge() }, &start)
    };
    assert_same("hinge", &on(rows.clone().into()), &on(elsewhere(&rows, d)));

    // Columns of other sizes, far from zero.
    let far = |(k, x): (usize, &f64)| if k % d == 1 { 5000.0 + 512.0 * x } else { *x };
    let far: Vec<f64> = rows.iter().enumerate().map(far).collect();
    let scaled = |mut data: RowData| {
        let scaling = Scaling::of_rows(&mut data, d, true);
        assert!(scaling.is_on());
        (scaling, data.numbers().into_owned())
    };
    assert_eq!(scaled(far.clone().into()), scaled(elsewhere(&far, d)));

    for starts in [vec![0, 20, 5000, n], (0..=n / 30).map(|i| 30 * i).collect::<Vec<_>>()] {
        let shares = |count: usize| (0..count).map(|i| 0.2 + 0.6 * (i % 7) as f64 / 7.0).collect();
        let on = |data: RowData| {
            let groups = Groups::new(d, data, starts.clone(), true).expect("groups");
            let merit = Bernoulli::new(shares(starts.len() - 1)).expect("shares");
            let inner = Bags::new(groups, Link::Logistic);
            let regularizer = FreeTail::new(ridge(), d);
            solved(&Problem { inner, merit, regularizer }, &vec![0.0; d + 1])
        };
        assert_same("bags", &on(rows.clone().into()), &on(elsewhere(&rows, d)));
    }
}

/// Rows that are made of others are read through them, and few at a time.
#[test]
fn what_is_read_at_a_time_does_not_grow_with_the_rows() {
    for n in [10_000, 40_000] {
        let rows = returns(n, 5);
        let largest = Arc::new(AtomicUsize::new(0));
        let left = AtomicUsize::new(usize::MAX);
        let source = Elsewhere { rows: rows.clone(), width: 5, left, largest: largest.clone() };
        let market = Portfolio::new(5, RowData::read(source)).expect("whole rows");
        let losses = market.losses(0.0);
        let mut found = vec![0.0; n];
        let point = [0.1, 0.2, 0.3, 0.0, 0.4, 0.5];
        (&losses as &dyn Inner).means(&point, &mut found);
        let mut expected = vec![0.0; n];
        let kept = Portfolio::new(5, rows).expect("whole rows").losses(0.0);
        (&kept as &dyn Inner).means(&point, &mut expected);
        assert_eq!(found, expected);
        let most = largest.load(Ordering::Relaxed);
        assert!((256..=1 << 16).contains(&most), "{most} numbers of {n} rows");
    }
}

#[test]
fn rows_that_are_lost_end_a_run_by_their_name() {
    let rows = returns(20_000, 7);
    for reads in [40, 60] {
        let market =
            Portfolio::new(7, lost_after(reads, &rows, 7)).expect("the first pass is made");
        let problem = market.problem(DownsideSquare::new(4.0).expect("above 0"), Simplex);
        let ended = solve(&problem.expect("finite means"), &[1.0 / 7.0; 7]);
        let said = match ended {
            Ok(solution) => solution.failure.unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains("row ") && said.contains("the disk is gone"), "{reads}: {said}");
    }
}
