//! The driver: runs a method on a problem until a rule says stop.
//!
//! Inner steps run in chunks of a few milliseconds. Between chunks the driver looks at the limits and at the user's
//! interrupt; between outer iterations it evaluates the objective, tells the observers and judges progress. The clock
//! stands still while it does so: `seconds` are the method's own.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::engine::Engine;
use self::judge::Judge;
use crate::certificate::{Certificate, Measure};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::methods::Method;
use crate::oracle::Calls;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::status::Status;

mod engine;
mod judge;

/// When to stop; whatever comes first. `None` never stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Outer iterations, warm-up epochs included.
    pub max_outer: Option<u64>,
    /// Oracle calls; looked at between steps, so that a snapshot that has begun is finished.
    pub max_calls: Option<u64>,
    /// Seconds of the method's own time.
    pub max_seconds: Option<f64>,
    /// An objective value that is good enough.
    pub target_objective: Option<f64>,
    /// [`Certificate::relative`] at which the problem counts as solved: the proven gap relative to the objective's scale or, where none can be
    /// proven, the relative stationarity. Without a tolerance, nothing is measured but the objective.
    pub tolerance: Option<f64>,
}

impl Default for Stop {
    fn default() -> Self {
        Stop {
            max_outer: Some(10_000),
            max_calls: None,
            max_seconds: None,
            target_objective: None,
            tolerance: Some(1e-6),
        }
    }
}

/// What a run has used up before it begins, on the form of the problem that its method asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) calls: Calls,
    pub(crate) rows: u64,
    pub(crate) time: Duration,
}

/// One line of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Outer iterations finished.
    pub outer: u64,
    /// Inner steps made.
    pub inner: u64,
    /// Oracle calls made.
    pub calls: Calls,
    /// Rows of data read.
    pub rows: u64,
    /// Seconds of the method's own time.
    pub seconds: f64,
    /// `P(theta)`
    pub objective: f64,
    /// [`Certificate::relative`]: what the tolerance is compared with.
    pub optimality: Option<f64>,
    /// [`Certificate::gap`]: the best objective so far is proven to be within this of the optimum.
    pub gap: Option<f64>,
    /// [`Certificate::measure`]: what `optimality` is.
    pub measure: Measure,
}

/// Is told how a run goes.
pub trait Observer {
    /// After each evaluation, with the point that was evaluated.
    fn record(&mut self, record: &Record, theta: &[f64]) {
        let _ = (record, theta);
    }

    /// Between chunks of inner steps, several times a second; `record` holds the last evaluation and current counts.
    fn tick(&mut self, record: &Record) {
        let _ = record;
    }
}

/// Nobody listens.
impl Observer for () {}

/// What a run returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// The solution or, where the run was not brought to an end, the best point that was evaluated.
    pub theta: Vec<f64>,
    /// `P(theta)`
    pub objective: f64,
    /// How far theta is from optimal.
    pub certificate: Certificate,
    /// The direction in which the objective falls without end, where there is no minimum.
    pub endless: Option<Vec<f64>>,
    /// Why the run ended.
    pub status: Status,
    /// Oracle calls made.
    pub calls: Calls,
    /// Rows of data read.
    pub rows: u64,
    /// Outer iterations finished.
    pub outer: u64,
    /// Inner steps made.
    pub inner: u64,
    /// Seconds of the method's own time.
    pub seconds: f64,
    /// All evaluations, the start first.
    pub trace: Vec<Record>,
}

/// How to run: when to stop, how often to look, who may interrupt.
#[derive(Debug, Clone, Default)]
pub struct Driver<'a> {
    /// When to stop.
    pub stop: Stop,
    /// Evaluate also within an outer iteration, every so many inner steps.
    pub evaluate_every: Option<NonZeroU64>,
    /// Set by a signal handler: the run ends at the next chunk and returns the best point so far.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Driver<'_> {
    /// Minimises `problem` by `method` from `theta` (or the point next to it that g allows).
    pub fn run<F, P, G, M>(
        &self,
        problem: &Problem<F, P, G>,
        method: &M,
        theta: &[f64],
        observer: &mut dyn Observer,
    ) -> Solution
    where
        F: Inner,
        P: Merit,
        G: Regularizer,
        M: Method<F, P, G>,
    {
        self.run_on(problem, problem, Spent::default(), method, theta, observer)
    }

    /// [`Self::run`] with a method that works on another form of the problem, while the problem itself is evaluated.
    pub(crate) fn run_on<F, P, G, M, F2, P2, G2>(
        &self,
        problem: &Problem<F, P, G>,
        form: &Problem<F2, P2, G2>,
        spent: Spent,
        method: &M,
        theta: &[f64],
        observer: &mut dyn Observer,
    ) -> Solution
    where
        F: Inner,
        P: Merit,
        G: Regularizer,
        F2: Inner,
        P2: Merit,
        G2: Regularizer,
        M: Method<F2, P2, G2>,
    {
        let mut engine = Engine::start(form, spent, method, &problem.allowed(theta));
        let mut judge = Judge::new(problem, &self.stop, engine.recovers(), observer);
        let mut verdict = judge.evaluate(engine.counts(), engine.theta(), engine.known());
        loop {
            if let Some(status) = verdict {
                let mut solution = judge.solution(status, &engine.counts());
                if let (Status::Diverged, Some(direction)) = (status, engine.endless()) {
                    solution.status = Status::Unbounded;
                    solution.endless = Some(direction.to_vec());
                }
                return solution;
            }
            engine.begin_outer();
            verdict = self.inner_loop(&mut engine, &mut judge);
            if !verdict.is_some_and(Status::is_solved) {
                engine.end_outer();
                engine.show();
                // A point that is good enough is good enough, even if a limit was reached on the way to it.
                let at_end = judge.evaluate(engine.counts(), engine.theta(), engine.known());
                verdict = at_end.filter(|v| v.is_solved()).or(verdict).or(at_end);
            }
        }
    }

    /// The steps of one outer iteration, in chunks, until they are done or something says stop.
    fn inner_loop<M, F2, P2, G2>(
        &self,
        engine: &mut Engine<'_, F2, P2, G2, M>,
        judge: &mut Judge<'_, '_>,
    ) -> Option<Status>
    where
        F2: Inner,
        P2: Merit,
        G2: Regularizer,
        M: Method<F2, P2, G2>,
    {
        while engine.left() > 0 {
            let to_evaluation =
                self.evaluate_every.map_or(u64::MAX, |every| every.get() - engine.counts().inner % every);
            engine.chunk(to_evaluation, self.stop.max_calls);
            let now = engine.counts();
            let mut verdict = judge.limits(&now, engine.theta());
            if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                verdict = Some(Status::Interrupted);
            }
            let due = self.evaluate_every.is_some_and(|every| now.inner.is_multiple_of(every.get()));
            if due && engine.left() > 0 && verdict.is_none() {
                engine.show();
                verdict = judge.evaluate(now, engine.theta(), engine.known());
            }
            if verdict.is_some() {
                return verdict;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::engine::RESUMING;
    use super::*;
    use crate::choice::Choice;
    use crate::collapse::{Collapsed, SparseRows};
    use crate::merit::{AnyMerit, Square};
    use crate::methods::{AnyMethod, METHODS};
    use crate::oracle::Oracle;
    use crate::problems::portfolio::Portfolio;
    use crate::regularizer::{ElasticNet, Ridge, Simplex};

    /// `f = sqrt(1 + (theta_l - b_ij)^2)` with `l = (i + j) mod d`: convex and not affine.
    struct Hyperbolas {
        d: usize,
        b: Vec<Vec<f64>>,
    }

    impl Inner for Hyperbolas {
        fn d(&self) -> usize {
            self.d
        }

        fn n_x(&self) -> usize {
            self.b.len()
        }

        fn n_y(&self, i: usize) -> usize {
            self.b[i].len()
        }

        fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
            out[0] = (theta[(i + j) % self.d] - self.b[i][j]).hypot(1.0);
        }

        fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
            let l = (i + j) % self.d;
            let x = theta[l] - self.b[i][j];
            out[l] += c * w[0] * x / x.hypot(1.0);
        }
    }

    /// For every method that suits, a run that is written and read back every seven steps ends with the same bits. Returns
    /// how many suit.
    fn check_resuming<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> usize {
        let start = vec![0.25; problem.inner.d()];
        let driver = Driver {
            stop: Stop { max_outer: Some(3), tolerance: None, ..Stop::default() },
            evaluate_every: NonZeroU64::new(7),
            ..Driver::default()
        };
        let suited = METHODS.iter().filter(|row| row.suits(problem).is_ok());
        suited
            .map(|row| {
                let method =
                    AnyMethod::named(row.name, &Choice::seeded(3), problem, &start).expect("it suits");
                let run = |resuming: bool| {
                    RESUMING.set(resuming);
                    let solution = method.run(&driver, problem, &start, &mut ());
                    RESUMING.set(false);
                    let trace: Vec<_> =
                        solution.trace.iter().map(|r| (r.inner, r.calls, r.objective)).collect();
                    (solution.theta, trace)
                };
                assert_eq!(run(true), run(false), "{}", row.name);
            })
            .count()
    }

    #[test]
    fn every_method_resumes_bit_for_bit() {
        let returns = innermean_data::generate_factor_model(90, 4, 1).values;
        let portfolio = Portfolio::new(4, returns).expect("generated returns");
        let square = Square::new(1.0).expect("a weight");
        assert!(check_resuming(&portfolio.clone().problem(square, Simplex).expect("finite means")) >= 3);
        let absolute: AnyMerit = crate::merit::Absolute::new(1.0).expect("a weight").into();
        assert!(check_resuming(&portfolio.problem(absolute, Simplex).expect("finite means")) >= 2);
        let b = (0..30).map(|i| (0..5).map(|j| f64::from((7 * i + 3 * j) % 11) / 5.0).collect()).collect();
        // Of 300 coordinates a term looks at one or two: the others lag.
        let starts = (0..=40).map(|i| 2 * i - i / 5).collect();
        let columns =
            (0..40).flat_map(|i| [Some(3 * i), (i % 5 != 4).then_some(3 * i + 7 * (i % 7) + 1)]).flatten();
        let columns: Vec<u32> = columns.collect();
        let values = (0..columns.len()).map(|k| 0.5 + (k % 7) as f64 / 7.0).collect();
        let rows = SparseRows::new(300, starts, columns, values).expect("rising columns");
        let inner = Collapsed::from_sparse_rows(rows, (0..40).map(|i| f64::from(i % 3) - 1.0).collect());
        let regularizer = ElasticNet::from_weights(1e-3, 1e-2).expect("weights");
        let sparse = Problem { inner, merit: square, regularizer };
        assert!(Oracle::new(&sparse).lags());
        assert!(check_resuming(&sparse) >= 5);
        let regularizer = Ridge::from_weight(0.1).expect("a weight");
        let hyperbolas = Problem { inner: Hyperbolas { d: 3, b }, merit: square, regularizer };
        assert!(check_resuming(&hyperbolas) >= 3);
    }
}
