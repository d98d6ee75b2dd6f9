//! The step formulas on numbers worked out by hand, and refusals where an assumption is not met.

use super::single_samples;
use crate::support::toy::{Affine, SoftplusUnits};
use innermean::steps::{Steps, theorem1, theorem2, theorem3};
use innermean::{
    Absolute, Bounds, Choice, ChoiceError, Constants, Facts, Fused, Huber, Inner, Objective,
    Passes, Problem, Reference, Ridge, Settings, Square, StepRule, Unregularized,
};

/// Worked out by hand for `B_f = 2`, `B_theta = 1/2`, `B_w = 3`, `gamma = 1/4`, `mu = 1/2`.
const BY_HAND: Constants =
    Constants { b_f: Some(2.0), b_theta: Some(0.5), b_w: 3.0, gamma: 0.25, mu: 0.5 };

fn near(steps: &Steps, alpha_theta: f64, alpha_w: f64, inner_iterations: usize) {
    assert!((steps.alpha_theta / alpha_theta - 1.0).abs() < 1e-14, "{steps:?}");
    assert!((steps.alpha_w / alpha_w - 1.0).abs() < 1e-14, "{steps:?}");
    assert_eq!(steps.inner_iterations, inner_iterations);
}

#[test]
fn the_steps_of_theorem_1_are_those_worked_out_by_hand() {
    // kappa = 4/(1/8) + 9 (1/4)/(1/4) = 41; n = 10: 1/(10 (1/2) (64 41 + 1)) = 1/13125; 10
    // (1/2)/(1/4) of it; 78.8 10 41 + 13 + 1.3 = 32322.3.
    near(&theorem1(&BY_HAND, 10).unwrap(), 1.0 / 13_125.0, 20.0 / 13_125.0, 32_323);
    // Affine f: B_w does not matter. kappa = 32; 1/(3 (1/2) 2049); 6 times that; 78.8 96 + 3.9 +
    // 1.3 = 7570.0.
    let affine = Constants { b_theta: Some(0.0), b_w: f64::INFINITY, ..BY_HAND };
    near(&theorem1(&affine, 3).unwrap(), 1.0 / 3073.5, 6.0 / 3073.5, 7570);
}

#[test]
fn the_steps_of_theorem_2_are_those_worked_out_by_hand() {
    // 25 4/(1/4) + 10 (3/2) + 80 (9/4)/(1/2) = 400 + 15 + 360; (1/2)/(40 4).
    // M: 10 775/(1/2) = 15500, 2 n 320/(1/4) = 2560 n, 4 n.
    near(&theorem2(&BY_HAND, 10).unwrap(), 1.0 / 775.0, 1.0 / 320.0, 25_600);
    near(&theorem2(&BY_HAND, 1).unwrap(), 1.0 / 775.0, 1.0 / 320.0, 15_500);
    // B_f = 1/10, gamma = mu = 1, affine: alpha_theta = 4, alpha_w = 5/2, M: 2.5, 0.8 n, 4 n.
    let easy =
        Constants { b_f: Some(0.1), b_theta: Some(0.0), b_w: f64::INFINITY, gamma: 1.0, mu: 1.0 };
    near(&theorem2(&easy, 1000).unwrap(), 4.0, 2.5, 4000);
}

#[test]
fn the_steps_of_theorem_3_are_those_worked_out_by_hand() {
    // kappa = 32, n = 3: (1/4)/(64 + 3/2) = 1/262; (9 + 32 + 1)/(2 (1/4) (3 + 32 + 1)) = 42/18.
    let affine = Constants { b_theta: Some(0.0), b_w: f64::INFINITY, ..BY_HAND };
    near(
        &theorem3(&affine, &Affine::random(2, 1, 3, |_| 1, 1)).unwrap(),
        1.0 / 262.0,
        42.0 / 18.0,
        3,
    );
}

#[test]
fn a_rule_brings_its_option_and_its_loop() {
    let problem = single_samples().problem;
    let settings = |rule, reference| {
        Settings::choose(
            &Choice { rule: Some(rule), reference, ..Choice::seeded(9) },
            &problem,
            &[0.0; 4],
        )
        .unwrap()
    };
    assert_eq!(settings(StepRule::Theorem1, None).reference, Reference::Last);
    assert_eq!(settings(StepRule::Theorem2, None).reference, Reference::Random);
    assert_eq!(settings(StepRule::Theorem1, Some(Reference::Random)).reference, Reference::Random);
    let single = [StepRule::Scaled, StepRule::Theorem1, StepRule::Theorem2, StepRule::Theorem3]
        .map(|rule| settings(rule, None).single_loop);
    assert_eq!(single, [false, false, false, true]);
    assert_eq!(settings(StepRule::Theorem3, None).seed, 9);
}

/// The words of the refusal.
fn refusal<'p>(problem: impl Into<Objective<'p>>, rule: StepRule) -> String {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let error =
        Settings::choose(&Choice { rule: Some(rule), ..Choice::default() }, problem, &start)
            .expect_err("an assumption is not met");
    assert!(matches!(error, ChoiceError::Unmet(_)), "{error:?}");
    let number = match rule {
        StepRule::Theorem1 => "Theorem 1 ",
        StepRule::Theorem2 => "Theorem 2 ",
        StepRule::Theorem3 => "Theorem 3 ",
        StepRule::Automatic | StepRule::Scaled => unreachable!("it asks for nothing"),
    };
    let words = error.to_string();
    assert!(words.starts_with(number), "{words}");
    words
}

#[test]
fn unmet_assumptions_are_named() {
    let ragged = || Affine::random(4, 1, 8, |i| 1 + i % 5, 1);
    let single = || Affine::random(4, 1, 8, |_| 1, 1);
    let units = || SoftplusUnits::random(3, 7, |_| 2, 3);
    let ridge = || Ridge::from_weight(1.0).unwrap();
    let square = || Square::new(1.0).unwrap();
    for rule in [StepRule::Theorem1, StepRule::Theorem2, StepRule::Theorem3] {
        let flat = Problem { inner: single(), merit: square(), regularizer: Unregularized };
        assert!(refusal(&flat, rule).contains("mu = 0"));
        let kinked =
            Problem { inner: single(), merit: Absolute::new(1.0).unwrap(), regularizer: ridge() };
        assert!(refusal(&kinked, rule).contains("gamma = 0"));
        let dark =
            Problem { inner: Unknown { affine: true }, merit: square(), regularizer: ridge() };
        assert!(refusal(&dark, rule).contains("B_f"));
    }
    for rule in [StepRule::Theorem1, StepRule::Theorem2] {
        let steep = Problem { inner: units(), merit: square(), regularizer: ridge() };
        assert!(refusal(&steep, rule).contains("not Lipschitz"));
        let dark = Problem {
            inner: Unknown { affine: false },
            merit: Huber::new(1.0, 1.0).unwrap(),
            regularizer: ridge(),
        };
        assert!(refusal(&dark, rule).contains("B_theta"));
    }
    let averaging = Problem { inner: ragged(), merit: square(), regularizer: ridge() };
    assert!(refusal(&averaging, StepRule::Theorem3).contains("outer term 1 averages 2 samples"));
    let curved =
        Problem { inner: units(), merit: Huber::new(1.0, 1.0).unwrap(), regularizer: ridge() };
    assert!(refusal(&curved, StepRule::Theorem3).contains("not affine"));
}

/// An f that knows no bound; a curved one knows `B_f` but not `B_theta`.
struct Unknown {
    affine: bool,
}

impl Inner for Unknown {
    fn d(&self) -> usize {
        1
    }

    fn n_x(&self) -> usize {
        1
    }

    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn facts(&self) -> Facts {
        if self.affine { Facts::affine() } else { Facts::default() }
    }

    fn value(&self, theta: &[f64], _: usize, _: usize, out: &mut [f64]) {
        out[0] = theta[0];
    }

    fn add_jac_t(&self, _: &[f64], _: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[0] += c * w[0];
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Unknown {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Unknown {
    fn bounds(&self) -> Bounds {
        let b_f = if self.affine { None } else { Some(1.0) };
        Bounds { b_f, ..Bounds::default() }
    }
}
