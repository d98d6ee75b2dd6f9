//! Every method of the table, on every kind of problem that it suits.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use innermean::auto::{self, Candidate};
use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::methods::gradient_descent::GradientDescent;
use innermean::{
    Absolute, AnyMethod, Begin, BoxedProblem, Choice, Collapsed, Driver, ElasticNet, FreeTail,
    Inner, METHODS, Oracle, Portfolio, Problem, Ridge, Simplex, SmoothedHinge, Square, Stop,
    Unregularized,
};
use innermean_data::generate_factor_model;

use super::witness::{Witness, bits, stopped};
use crate::support::chain::Chain;
use crate::support::regression::Data;
use crate::support::toy::{Affine, SoftplusUnits, least_squares, softplus_of_softplus};

/// Of 300 coordinates a term looks at one or two: the others lag.
fn sparse() -> BoxedProblem {
    let starts = (0..=40).map(|i| 2 * i - i / 5).collect();
    let columns = (0..40)
        .flat_map(|i| [Some(3 * i), (i % 5 != 4).then_some(3 * i + 7 * (i % 7) + 1)])
        .flatten();
    let columns: Vec<u32> = columns.collect();
    let values = (0..columns.len()).map(|k| 0.5 + (k % 7) as f64 / 7.0).collect();
    let rows = SparseRows::new(300, starts, columns, values).expect("rising columns");
    let inner =
        Collapsed::from_sparse_rows(rows, (0..40).map(|i| f64::from(i % 3) - 1.0).collect());
    let regularizer = ElasticNet::from_weights(1e-3, 1e-2).expect("weights");
    let problem = Problem { inner, merit: Square::new(1.0).expect("a weight"), regularizer };
    assert!(Oracle::new(&problem).lags());
    problem.boxed()
}

/// Problems that have, together, every kind of certificate and every method.
pub(super) fn problems() -> Vec<(&'static str, BoxedProblem)> {
    let market =
        |n, d| Portfolio::new(d, generate_factor_model(n, d, 1).values).expect("generated returns");
    let square = Square::new(1.0).expect("a weight");
    let kink = Absolute::new(1.0).expect("a weight");
    let rows: Vec<f64> = generate_factor_model(50, 4, 3).values;
    let labels: Vec<f64> = (0..50).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let ones =
        |rows: &[f64]| rows.chunks(4).flat_map(|row| [row, &[1.0]].concat()).collect::<Vec<f64>>();
    let hinge = SmoothedHinge::new(labels, 1.0).expect("labels");
    vec![
        ("long-only", market(90, 4).problem(square, Simplex).expect("finite means").boxed()),
        ("free", market(60, 3).problem(square, Unregularized).expect("finite means").boxed()),
        ("kinks", market(60, 3).problem(kink, Simplex).expect("finite means").boxed()),
        ("sparse", sparse()),
        ("affine", least_squares(Affine::random(3, 2, 20, |i| 1 + i % 4, 5), 1.0, 0.1).0.boxed()),
        (
            "curved",
            softplus_of_softplus(SoftplusUnits::random(3, 20, |i| 1 + i % 4, 5), 0.3).0.boxed(),
        ),
        ("logistic", Data::random(60, 4, 1.0, 2).logistic(0.0).0.boxed()),
        (
            "intercept",
            Problem {
                inner: Collapsed::from_rows(5, ones(&rows), vec![0.0; 50]),
                merit: hinge,
                regularizer: FreeTail::new(Ridge::from_weight(0.01).expect("a weight"), 4),
            }
            .boxed(),
        ),
        (
            "projected",
            Chain::random(4, 60, 0.5, 1.0, 2).mspbe().problem(0.3).expect("a problem").boxed(),
        ),
    ]
}

/// Limits that end a run at some place or other.
pub(super) fn drivers() -> [Driver<'static>; 3] {
    let stop = Stop { max_outer: Some(4), tolerance: Some(1e-300), ..Stop::default() };
    [
        Driver { stop: stop.clone(), ..Driver::default() },
        Driver {
            stop: stop.clone(),
            evaluate_every: NonZeroU64::new(7),
            most_records: 8,
            ..Driver::default()
        },
        Driver { stop: Stop { max_calls: Some(1500), ..stop }, ..Driver::default() },
    ]
}

#[test]
fn every_method_goes_on_bit_for_bit() {
    let mut draws = Stream::new(14, 0);
    let mut done = BTreeSet::new();
    for (name, problem) in problems() {
        let start = vec![0.25; problem.inner.d()];
        for row in METHODS.iter().filter(|row| row.suits(&problem).is_ok()) {
            let method = AnyMethod::named(row.name, &Choice::seeded(3), &problem, &start)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            for (k, driver) in drivers().iter().enumerate() {
                let mut patient = Witness::patient();
                let whole = method.run(driver, &problem, &start, &mut patient);
                let edges = patient.seen as usize;
                // Cut once, and cut at every few edges; of 27 methods on 9 problems with 3 drivers
                // 20 times and more.
                let (mut stops, mut most) = (0, edges);
                while stops < 7 {
                    let (solution, more) = stopped(&start, most, &mut draws, |begin, witness| {
                        method
                            .run_from(driver, &problem, begin, witness)
                            .expect("its own checkpoint")
                    });
                    assert_eq!(bits(&solution), bits(&whole), "{} on {name}, driver {k}", row.name);
                    stops += more;
                    most = (most / 2).max(2);
                    if edges < 2 {
                        break;
                    }
                }
            }
            done.insert(row.name);
        }
    }
    let left: Vec<&str> =
        METHODS.iter().map(|row| row.name).filter(|name| !done.contains(name)).collect();
    assert!(left.is_empty(), "no problem here suits {left:?}");
}

/// What is chosen, after a method whose steps lead nowhere: a run with two attempts.
#[test]
fn several_attempts_go_on_bit_for_bit() {
    let (problem, _) = Data::random(60, 4, 1.0, 2).logistic(0.1);
    let plan = || {
        let mut plan = auto::first(&problem, &[0.0; 4], 0).expect("a method");
        plan.rest.insert(0, plan.candidate.clone());
        plan.candidate = Candidate { method: "gd", reason: "a test of patience".to_owned() };
        plan.method = AnyMethod::GradientDescent(GradientDescent { alpha_theta: 1e-12 });
        plan
    };
    for evaluate_every in [None, NonZeroU64::new(3)] {
        let stop = Stop { tolerance: Some(1e-10), ..Stop::default() };
        let driver = Driver { stop, evaluate_every, ..Driver::default() };
        let run = |begin: Begin<'_>, witness: &mut Witness| {
            plan().run_from(&driver, &problem, begin, witness).expect("its own")
        };
        let mut patient = Witness::patient();
        let whole = run(Begin::At(&[0.0; 4]), &mut patient);
        assert_eq!(whole.fallbacks.len(), 1);
        let mut draws = Stream::new(15, 0);
        let mut stops = 0;
        for most in [patient.seen as usize, 100, 40, 5] {
            let (solution, more) = stopped(&[0.0; 4], most, &mut draws, |begin, witness| {
                let outcome = run(begin, witness);
                assert!(outcome.fallbacks.len() <= 1);
                outcome.solution
            });
            assert_eq!(bits(&solution), bits(&whole.solution));
            stops += more;
        }
        assert!(stops > 50, "{stops}");
    }
}
