//! Linear predictors against solvers that share no code with the library: coordinate descent
//! written from the formulas, and an interior-point method.

use crate::support::conic::Program;
use crate::support::dense::dot;
use crate::support::regression::Data;
use innermean::problems::linear::predictors;
use innermean::{
    AnyMethod, Choice, Collapsed, Driver, ElasticNet, FreeTail, Huber, Logistic, Merit, Problem,
    SmoothedHinge, Square, SquaredHinge, Stop, Weighted,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Loss {
    Square,
    Huber,
    Logistic,
    SquaredHinge,
    SmoothedHinge,
}

const LOSSES: [Loss; 5] =
    [Loss::Square, Loss::Huber, Loss::Logistic, Loss::SquaredHinge, Loss::SmoothedHinge];
/// h of those that have one.
const WIDTH: f64 = 0.4;

impl Loss {
    /// Of a score for a target: value, slope, and the largest curvature.
    fn at(self, u: f64, t: f64) -> (f64, f64, f64) {
        let (error, y) = (u - t, t.signum());
        let short = 1.0 - y * u;
        match self {
            Loss::Square => (error * error / 2.0, error, 1.0),
            Loss::Huber if error.abs() <= WIDTH => (error * error / 2.0, error, 1.0),
            Loss::Huber => (WIDTH * (error.abs() - WIDTH / 2.0), WIDTH * error.signum(), 1.0),
            Loss::Logistic => ((-y * u).exp().ln_1p(), -y / (1.0 + (y * u).exp()), 0.25),
            Loss::SquaredHinge => (short.max(0.0).powi(2), -2.0 * y * short.max(0.0), 2.0),
            Loss::SmoothedHinge if short <= 0.0 => (0.0, 0.0, 1.0 / WIDTH),
            Loss::SmoothedHinge if short <= WIDTH => {
                (short * short / (2.0 * WIDTH), -y * short / WIDTH, 1.0 / WIDTH)
            }
            Loss::SmoothedHinge => (short - WIDTH / 2.0, -y, 1.0 / WIDTH),
        }
    }

    fn merit(self, targets: &[f64]) -> Box<dyn Merit> {
        let labels = targets.iter().map(|t| t.signum()).collect();
        match self {
            Loss::Square => Box::new(Square::new(0.5).unwrap()),
            Loss::Huber => Box::new(Huber::new(WIDTH, WIDTH).unwrap()),
            Loss::Logistic => Box::new(Logistic::new(labels).unwrap()),
            Loss::SquaredHinge => Box::new(SquaredHinge::new(labels).unwrap()),
            Loss::SmoothedHinge => Box::new(SmoothedHinge::new(labels, WIDTH).unwrap()),
        }
    }

    fn is_of_classes(self) -> bool {
        !matches!(self, Loss::Square | Loss::Huber)
    }
}

/// Rows with a column of ones at the end if there is an intercept, which is not penalised.
struct Task {
    loss: Loss,
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    l1: f64,
    l2: f64,
    intercept: bool,
}

impl Task {
    fn new(loss: Loss, l1: f64, l2: f64, intercept: bool) -> Self {
        let data = Data::random(60, 5, 0.3, 3);
        let rows = data
            .rows
            .iter()
            .map(|row| [&row[..], &vec![1.0; usize::from(intercept)]].concat())
            .collect();
        let targets = data.response.iter().map(|t| t + 0.7).collect();
        Task { loss, rows, targets, weights: vec![1.0; 60], l1, l2, intercept }
    }

    fn penalised(&self) -> usize {
        self.rows[0].len() - usize::from(self.intercept)
    }

    fn objective(&self, theta: &[f64]) -> f64 {
        let losses = (0..self.rows.len())
            .map(|i| self.weights[i] * self.loss.at(dot(&self.rows[i], theta), self.targets[i]).0);
        let head = &theta[..self.penalised()];
        losses.sum::<f64>() / self.rows.len() as f64
            + self.l1 * head.iter().map(|x| x.abs()).sum::<f64>()
            + 0.5 * self.l2 * dot(head, head)
    }

    /// Coordinate descent: each coordinate goes to the minimum of a parabola above the objective,
    /// until none moves any more.
    fn minimum(&self) -> f64 {
        let share = 1.0 / self.rows.len() as f64;
        let mut theta = vec![0.0; self.rows[0].len()];
        let mut scores = vec![0.0; self.rows.len()];
        for _ in 0..200_000 {
            let mut moved = 0.0_f64;
            for (l, theta) in theta.iter_mut().enumerate() {
                let (mut slope, mut curvature) = (0.0, 0.0);
                for (i, (row, score)) in self.rows.iter().zip(&scores).enumerate() {
                    let (_, at, most) = self.loss.at(*score, self.targets[i]);
                    slope += share * self.weights[i] * at * row[l];
                    curvature += share * self.weights[i] * most * row[l].powi(2);
                }
                let (l1, l2) = if l < self.penalised() { (self.l1, self.l2) } else { (0.0, 0.0) };
                let to = curvature * *theta - slope;
                let change = to.signum() * (to.abs() - l1).max(0.0) / (curvature + l2) - *theta;
                *theta += change;
                scores
                    .iter_mut()
                    .zip(&self.rows)
                    .for_each(|(score, row)| *score += change * row[l]);
                moved = moved.max(change.abs());
            }
            if moved < 1e-13 {
                break;
            }
        }
        self.objective(&theta)
    }

    fn problem(&self) -> Problem<Collapsed, Weighted<Box<dyn Merit>>, FreeTail<ElasticNet>> {
        let offsets =
            self.targets.iter().map(|t| if self.loss.is_of_classes() { 0.0 } else { -t }).collect();
        Problem {
            inner: predictors(self.rows[0].len(), self.rows.concat(), offsets).unwrap(),
            merit: Weighted::new(self.loss.merit(&self.targets), self.weights.clone()).unwrap(),
            regularizer: FreeTail::new(
                ElasticNet::from_weights(self.l1, self.l2).unwrap(),
                self.penalised(),
            ),
        }
    }

    fn check(&self, method: &str) {
        let problem = self.problem();
        let start = vec![0.0; self.rows[0].len()];
        let chosen = AnyMethod::named(method, &Choice::default(), &problem, &start).unwrap();
        let driver = Driver {
            stop: Stop { tolerance: Some(1e-9), max_outer: Some(20_000), ..Stop::default() },
            ..Driver::default()
        };
        let solution = chosen.run(&driver, &problem, &start, &mut ());
        let what = format!(
            "{method}, {:?}, l1 {}, l2 {}, intercept {}",
            self.loss, self.l1, self.l2, self.intercept
        );
        assert!(solution.status.is_solved(), "{what}: {:?}", solution.status);
        let (got, expected) = (self.objective(&solution.theta), self.minimum());
        // What the tolerance says: of the objective's size at the origin.
        let scale = self.objective(&start);
        assert!((got - expected).abs() <= 1e-9 * scale, "{what}: {got} {expected}");
        assert!((solution.objective - got).abs() <= 1e-12 * got.abs(), "{what}");
    }
}

/// Each loss, penalty and intercept.
fn each_task(mut check: impl FnMut(&mut Task)) {
    for loss in LOSSES {
        for (l1, l2) in [(0.0, 0.05), (0.05, 0.0), (0.03, 0.02), (0.0, 0.0)] {
            for intercept in [false, true] {
                if l1 == 0.0 && l2 == 0.0 && loss.is_of_classes() {
                    // Separable data have no minimum without a penalty.
                    continue;
                }
                check(&mut Task::new(loss, l1, l2, intercept));
            }
        }
    }
}

#[test]
fn lbfgs_finds_the_minimum() {
    each_task(|task| task.check("lbfgs"));
}

#[test]
fn svrpda1_finds_the_minimum() {
    each_task(|task| task.check("svrpda1"));
}

#[test]
fn spdc_and_saga_find_the_minimum() {
    each_task(|task| {
        task.check("spdc");
        task.check("saga");
    });
}

/// A row of weight 2 is two rows.
#[test]
fn weights_count_rows() {
    for loss in LOSSES {
        let mut task = Task::new(loss, 0.01, 0.02, true);
        task.weights = (0..60).map(|i| 0.25 + f64::from(i % 4) / 2.0).collect();
        task.check("lbfgs");
        task.check("svrpda1");
    }
}

/// Square, Huber and hinge losses are quadratic programs.
#[test]
fn coordinate_descent_agrees_with_an_interior_point_method() {
    for loss in LOSSES.into_iter().filter(|loss| *loss != Loss::Logistic) {
        let task = Task::new(loss, 0.03, 0.02, true);
        let n = task.rows.len() as f64;
        let mut program = Program::default();
        let theta: Vec<usize> = (0..task.rows[0].len())
            .map(|l| program.variable(if l < task.penalised() { task.l2 } else { 0.0 }, 0.0))
            .collect();
        for &v in &theta[..task.penalised()] {
            program.absolute_value(v, task.l1);
        }
        for (row, &t) in task.rows.iter().zip(&task.targets) {
            let score = theta.iter().copied().zip(row.iter().copied());
            // The parabola's share of the error or shortfall, and what is beyond it.
            let y = t.signum();
            match loss {
                Loss::Square | Loss::Huber => {
                    let share = program.variable(1.0 / n, 0.0);
                    let mut terms: Vec<(usize, f64)> = score.chain([(share, -1.0)]).collect();
                    if loss == Loss::Huber {
                        let beyond = program.variable(0.0, 0.0);
                        program.absolute_value(beyond, WIDTH / n);
                        terms.push((beyond, -1.0));
                    }
                    program.equal(terms, t);
                }
                _ => {
                    // share + beyond >= 1 - y u with both at least 0.
                    let square = if loss == Loss::SquaredHinge { 2.0 } else { 1.0 / WIDTH };
                    let share = program.variable(square / n, 0.0);
                    program.at_most(vec![(share, -1.0)], 0.0);
                    let mut terms: Vec<(usize, f64)> =
                        score.map(|(v, x)| (v, -y * x)).chain([(share, -1.0)]).collect();
                    if loss == Loss::SmoothedHinge {
                        let beyond = program.variable(0.0, 1.0 / n);
                        program.at_most(vec![(beyond, -1.0)], 0.0);
                        terms.push((beyond, -1.0));
                    }
                    program.at_most(terms, -1.0);
                }
            }
        }
        let solution = program.solve();
        let at: Vec<f64> = theta.iter().map(|&v| solution[v]).collect();
        let (conic, descent) = (task.objective(&at), task.minimum());
        assert!((conic - descent).abs() <= 1e-9 * descent, "{loss:?}: {conic} {descent}");
    }
}
