//! A method of your own, Polyak's heavy ball. See docs/adding-a-method.md.

use innermean::{Driver, Method, Oracle, Portfolio, Square, Unregularized};
use serde::{Deserialize, Serialize};

/// The heavy ball with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct HeavyBall {
    /// The step.
    alpha_theta: f64,
    /// beta, the part of the last move that is kept.
    extrapolation: f64,
}

/// Theta and its last move; averages, duals and gradient at theta.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    theta: Vec<f64>,
    moved: Vec<f64>,
    gradient: Vec<f64>,
    f_bar: Vec<f64>,
    w: Vec<f64>,
}

impl Method for HeavyBall {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, all) = (vec![0.0; oracle.d()], vec![0.0; oracle.n_x() * oracle.ell()]);
        State { theta: theta.to_vec(), moved: d.clone(), gradient: d, f_bar: all.clone(), w: all }
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        oracle.pass().gradient(&s.theta, &mut s.f_bar, &mut s.w, &mut s.gradient);
    }

    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        // theta <- prox_{alpha g}(theta + beta (theta - theta_before) - alpha F'(theta))
        for (theta, moved) in s.theta.iter_mut().zip(&mut s.moved) {
            (*theta, *moved) = (*theta + self.extrapolation * *moved, -*theta);
        }
        oracle.g().step(self.alpha_theta, &s.gradient, &mut s.theta);
        s.moved.iter_mut().zip(&s.theta).for_each(|(moved, theta)| *moved += theta);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }
}

pub(crate) fn main() {
    let returns = vec![1.0, 0.2, -0.6, 0.1, 0.5, -0.1];
    let portfolio = Portfolio::new(2, returns).expect("rows of two returns");
    let variance = Square::new(1.0).expect("a weight above 0");
    let problem = portfolio.problem(variance, Unregularized).expect("rows that differ");
    let method = HeavyBall { alpha_theta: 1.0, extrapolation: 0.5 };
    let solution = Driver::default().run(&problem, &method, &[0.0; 2], &mut ());
    println!("{:?}; (2 Cov)^-1 mean is [0.2920, 1.9551]", solution.theta);
    assert!((solution.theta[0] - 0.2920).abs() < 1e-2 && (solution.theta[1] - 1.9551).abs() < 1e-2);
}
