//! Standard errors against statsmodels, linearmodels and scipy; the bootstrap; refusals.

use std::collections::HashMap;

use innermean::draws::Stream;
use innermean::inference::{Clusters, Correction, Covariance, Dependence, Sandwich};
use innermean::{Driver, Objective, Stop, auto};
use serde_json::Value;

mod bags;
mod distributions;
mod moments;
mod policy;
mod refusals;
mod regression;

/// Of closed forms, and of estimates that a run found.
const EXACT: f64 = 1e-8;
const SOLVED: f64 = 1e-6;

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

    /// A list of lists of numbers.
    fn table(&self, name: &str) -> Vec<Vec<f64>> {
        let rows = self.0[name].as_array().expect("a list");
        let number = |x: &Value| x.as_f64().expect("a number");
        rows.iter()
            .map(|row| row.as_array().expect("a list").iter().map(number).collect())
            .collect()
    }

    /// The dependence and the correction that a suffix of a name stands for.
    fn dependence(&self, suffix: &str) -> (Dependence, Correction) {
        let of: Vec<u32> = self.numbers(&["group"]).iter().map(|c| *c as u32).collect();
        match suffix {
            "hc0" => (Dependence::Independent, Correction::None),
            "hc1" | "robust" => (Dependence::Independent, Correction::SmallSample),
            "serial" => (Dependence::Serial { lags: 3 }, Correction::SmallSample),
            "clustered" => {
                let clusters = Clusters::new(of).expect("consecutive numbers");
                (Dependence::Clustered(clusters), Correction::SmallSample)
            }
            _ => panic!("{suffix}?"),
        }
    }

    fn sandwich(&self, suffix: &str) -> Sandwich {
        let (dependence, correction) = self.dependence(suffix);
        Sandwich { dependence, correction, shifts: Vec::new() }
    }

    /// Rows of two columns and an intercept.
    fn rows(&self, columns: [&str; 2]) -> Vec<f64> {
        let [a, b] = columns.map(|name| self.numbers(&[name]));
        a.into_iter().zip(b).flat_map(|(a, b)| [a, b, 1.0]).collect()
    }

    /// theta and its covariance, relative to the largest numbers of each.
    fn compare(&self, name: &str, theta: &[f64], covariance: &Covariance, tolerance: f64) {
        let pairs = [
            ("theta", theta, self.numbers(&[name, "theta"])),
            ("covariance", covariance.matrix(), self.numbers(&[name, "covariance"])),
        ];
        for (what, found, wanted) in pairs {
            assert_eq!(found.len(), wanted.len(), "{what} of {name}");
            let size = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (found, wanted) in found.iter().zip(&wanted) {
                let off = (found - wanted).abs() / size;
                assert!(off < tolerance, "{what} of {name}: {found} is not {wanted}");
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

/// Standard normal numbers by Box and Muller's formula.
fn normal(draws: &mut Stream) -> f64 {
    let (u, v) = (1.0 - draws.unit(), draws.unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(work)
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        let off = (found - wanted).abs();
        assert!(off <= tolerance * wanted.abs(), "{found} is not {wanted}");
    }
}
