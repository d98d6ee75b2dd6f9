//! The laws of `merit_laws.rs` for the merits of losses beyond a threshold, which are not least at
//! 0, and the risks that they make.

use super::drawn::magnitude;
use innermean::{Excess, Exponential, Merit, Weighted};
use proptest::prelude::*;

fn signed(e: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    let number = (magnitude(e), any::<bool>());
    prop_oneof![1 => Just(0.0), 9 => number.prop_map(|(x, up)| if up { x } else { -x })]
}

/// A merit and its value and slope as a textbook writes them.
struct Case {
    name: &'static str,
    phi: Box<dyn Merit>,
    value: Box<dyn Fn(f64) -> f64>,
    slope: Box<dyn Fn(f64) -> f64>,
}

fn cases(c: f64, rate: f64, base: f64) -> Vec<Case> {
    let slope = move |u: f64| c * (rate * u).exp();
    vec![
        Case {
            name: "excess",
            phi: Box::new(Excess::new(c).unwrap().raised(base)),
            value: Box::new(move |u| base + c * u.max(0.0)),
            slope: Box::new(move |u| if u > 0.0 { c } else { 0.0 }),
        },
        Case {
            name: "exponential",
            phi: Box::new(Exponential::new(c, rate).unwrap().raised(base)),
            value: Box::new(move |u| base + c * (rate * u).exp_m1() / rate),
            slope: Box::new(slope),
        },
        Case {
            name: "exponential, weighted",
            phi: Box::new(
                Weighted::new(Exponential::new(c / 3.0, rate).unwrap(), vec![3.0]).unwrap(),
            ),
            value: Box::new(move |u| c * (rate * u).exp_m1() / rate),
            slope: Box::new(slope),
        },
    ]
}

fn prox(phi: &dyn Merit, alpha: f64, w: f64) -> f64 {
    let mut w = [w];
    phi.prox_conjugate(0, alpha, &mut w);
    w[0]
}

fn gradient(phi: &dyn Merit, u: f64) -> f64 {
    let mut out = [f64::NAN];
    phi.gradient(0, &[u], &mut out);
    out[0]
}

/// `prox_{phi/alpha}(z)` by bisection on `phi'(u)/alpha + u - z`, which grows with u: phi rises, so
/// that the prox is at most z.
fn prox_of_phi(slope: &dyn Fn(f64) -> f64, alpha: f64, z: f64) -> f64 {
    let (mut lo, mut hi) = (z - slope(z).min(1e300) / alpha, z);
    for _ in 0..2000 {
        let middle = 0.5 * (lo + hi);
        if middle <= lo || middle >= hi {
            break;
        }
        if slope(middle) / alpha + middle - z > 0.0 {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    0.5 * (lo + hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn values_and_slopes_are_those_of_the_formulas(
        u in signed(-3.0..1.0), c in magnitude(-2.0..2.0), rate in magnitude(-2.0..0.5),
    ) {
        for case in cases(c, rate, 0.0) {
            let size = (case.value)(u).abs() + c * u.abs();
            prop_assert!((case.phi.value(0, &[u]) - (case.value)(u)).abs() <= 1e-13 * size, "{}", case.name);
            let slope = (case.slope)(u);
            prop_assert!((gradient(&*case.phi, u) - slope).abs() <= 1e-13 * slope, "{}", case.name);
            // phi'' against a difference of slopes.
            let (mut second, h) = ([f64::NAN], 1e-5 / rate);
            prop_assert!(case.phi.hessian_diagonal(0..1, &[u], &mut second));
            if case.name != "excess" {
                let difference = ((case.slope)(u + h) - (case.slope)(u - h)) / (2.0 * h);
                prop_assert!((second[0] - difference).abs() <= 1e-8 * difference, "{}", case.name);
            }
        }
    }

    /// `phi(u) + phi*(w) >= u w`, with equality at `w = phi'(u)`.
    #[test]
    fn fenchel_and_young(
        u in signed(-3.0..1.0), w in signed(-3.0..2.0), c in magnitude(-2.0..2.0),
        rate in magnitude(-2.0..0.5), base in signed(-1.0..1.0),
    ) {
        for case in cases(c, rate, base) {
            let phi = case.phi.value(0, &[u]);
            let slack = phi + case.phi.conjugate(0, &[w]) - u * w;
            let size = phi.abs() + (u * w).abs() + base.abs() + c / rate;
            prop_assert!(slack >= -1e-12 * size, "{}: {slack}", case.name);
            let own = gradient(&*case.phi, u);
            let star = case.phi.conjugate(0, &[own]);
            let slack = phi + star - u * own;
            let size = phi.abs() + star.abs() + (u * own).abs() + base.abs() + (c + own) / rate;
            prop_assert!(slack.abs() <= 1e-12 * size, "{}: {slack}", case.name);
        }
    }

    /// Moreau's identity, with a prox of phi that shares nothing with the crate.
    #[test]
    fn moreau(
        w in signed(-3.0..2.0), alpha in magnitude(-3.0..3.0), c in magnitude(-2.0..2.0),
        rate in magnitude(-2.0..0.5),
    ) {
        for case in cases(c, rate, 0.0) {
            let z = w / alpha;
            if case.name != "excess" && rate * z > 600.0 {
                continue;
            }
            let found = prox(&*case.phi, alpha, w);
            let expected = w - alpha * prox_of_phi(&*case.slope, alpha, z);
            let size = w.abs() + found.abs() + c;
            prop_assert!((found - expected).abs() <= 1e-9 * size, "{}: {found} {expected}", case.name);
            // How fast it moves.
            let mut slope = [f64::NAN];
            prop_assert!(case.phi.prox_slopes(0..1, alpha, &[w], &mut slope));
            let h = 1e-6 * (w.abs() + c);
            let ends = [prox(&*case.phi, alpha, w - h), prox(&*case.phi, alpha, w + h)];
            let between = (ends[1] - ends[0]) / (2.0 * h);
            // Where it has a kink, between its one-sided slopes.
            let is_kink = case.name == "excess" && (w.abs() <= h || (w - c).abs() <= h);
            prop_assert!(is_kink || (slope[0] - between).abs() <= 1e-4, "{}: {} {between}", case.name, slope[0]);
        }
    }

    /// As a projection: the step vanishes.
    #[test]
    fn a_vanishing_step_projects(w in signed(-3.0..2.0), c in magnitude(-2.0..2.0)) {
        for case in cases(c, 1.0, 0.0) {
            let expected = if case.name == "excess" { w.clamp(0.0, c) } else { w.max(0.0) };
            let found = prox(&*case.phi, 1e-300, w);
            prop_assert!((found - expected).abs() <= 1e-12 * (w.abs() + c), "{}: {found}", case.name);
        }
    }
}

#[test]
fn weights_and_rates_are_above_zero() {
    assert!(Excess::new(0.0).is_err() && Excess::new(f64::NAN).is_err());
    assert!(Exponential::new(1.0, 0.0).is_err() && Exponential::new(-1.0, 1.0).is_err());
}

/// `min over t of t + mean max(loss - t, 0) / (1 - level)` is the mean of the worst losses, and `min
/// over t of t + mean (exp(r (loss - t)) - 1) / r` is `log mean exp(r loss) / r`.
#[test]
fn thresholds_that_are_minimised_make_the_risks() {
    let losses = [0.3, -1.0, 2.0, 0.7, -0.2, 1.1, 0.0, -0.6];
    let n = losses.len() as f64;
    let least = |risk: &dyn Fn(f64) -> f64| {
        let grid = (-2000..=2500).map(|k| f64::from(k) * 1e-3);
        grid.map(risk).fold(f64::INFINITY, f64::min)
    };
    let mean =
        |phi: &dyn Merit, t: f64| losses.iter().map(|x| phi.value(0, &[x - t])).sum::<f64>() / n;
    let tail = Excess::new(4.0).unwrap();
    let worst = least(&|t| t + mean(&tail, t));
    assert!((worst - 1.55).abs() < 1e-12, "{worst}");
    let bent = Exponential::new(1.0, 0.7).unwrap();
    let entropic = (losses.iter().map(|x| (0.7 * x).exp()).sum::<f64>() / n).ln() / 0.7;
    let found = least(&|t| t + mean(&bent, t));
    assert!((found - entropic).abs() < 1e-6 && found >= entropic, "{found} {entropic}");
}

/// `((1 + e) log(1 + e) - e) c / r` next to `w = c`, whose terms cancel: `e^2/2 - e^3/6 + ...`.
#[test]
fn the_conjugate_of_an_exponential_keeps_its_digits_at_its_least() {
    let (c, rate) = (3.0, 0.5);
    let phi = Exponential::new(c, rate).unwrap();
    for e in [0.25, 2.0_f64.powi(-8), -(2.0_f64.powi(-20)), 2.0_f64.powi(-40)] {
        let wanted: f64 = (2..60).rev().map(|k| (-e).powi(k) / f64::from(k * (k - 1))).sum();
        let found = phi.conjugate(0, &[c * (1.0 + e)]) * rate / c;
        assert!((found / wanted - 1.0).abs() < 1e-14, "{found:e} is not {wanted:e} at {e:e}");
    }
    // On both sides of where the series ends.
    for e in [0.499_f64, 0.501, -0.499, -0.501] {
        let wanted = (1.0 + e) * e.ln_1p() - e;
        let found = phi.conjugate(0, &[c * (1.0 + e)]) * rate / c;
        assert!((found / wanted - 1.0).abs() < 1e-14, "{found:e} is not {wanted:e} at {e}");
    }
}
