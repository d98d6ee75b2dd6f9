//! The laws of `merit_laws.rs` for the merit that ties the scores of several classes together.

use super::drawn::{alpha, magnitude, signed};
use crate::support::dense::dot;
use innermean::{Merit, Multinomial, Weighted};
use proptest::prelude::*;

const ELL: usize = 4;

/// Two terms of four classes; weighted, or with weights of 1.
fn merit() -> impl Strategy<Value = Weighted<Multinomial>> {
    let weight = prop_oneof![1 => Just(1.0), 1 => magnitude(-2.0..2.0)];
    let class = 0..ELL as u32;
    (prop::collection::vec(class, 2), prop::collection::vec(weight, 2)).prop_map(
        |(classes, weights)| {
            Weighted::new(Multinomial::new(ELL, classes).unwrap(), weights).unwrap()
        },
    )
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(signed(-3.0..1.5), ELL)
}

fn gradient(phi: &impl Merit, i: usize, u: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; u.len()];
    phi.gradient(i, u, &mut out);
    out
}

fn prox(phi: &impl Merit, i: usize, alpha: f64, w: &[f64]) -> Vec<f64> {
    let mut w = w.to_vec();
    phi.prox_conjugate(i, alpha, &mut w);
    w
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Of everything that is added up: a weight times scores.
fn size(phi: &Weighted<Multinomial>, i: usize, u: &[f64]) -> f64 {
    phi.weights()[i] * (1.0 + u.iter().map(|u| u.abs()).sum::<f64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn value_is_that_of_the_textbook(phi in merit(), i in 0usize..2, u in numbers()) {
        let own = phi.merit().classes()[i] as usize;
        let expected = phi.weights()[i] * (u.iter().map(|x| (x - u[own]).exp()).sum::<f64>()).ln();
        prop_assert!((phi.value(i, &u) - expected).abs() <= 1e-13 * size(&phi, i, &u));
        let mut slopes = vec![0.0; ELL];
        let again = phi.merit().values_and_gradients(i..i + 1, &u, &mut slopes);
        prop_assert!((phi.weights()[i] * again - expected).abs() <= 1e-13 * size(&phi, i, &u));
        prop_assert_eq!(slopes, gradient(phi.merit(), i, &u));
        prop_assert_eq!(phi.class_of(i), Some((own, phi.weights()[i])));
    }

    #[test]
    fn fenchel_young_and_it_is_tight_at_the_gradient(phi in merit(), i in 0usize..2, u in numbers(), v in numbers(), w in numbers()) {
        for (w, tight) in [(gradient(&phi, i, &u), true), (gradient(&phi, i, &v), false), (w, false)] {
            let slack = phi.value(i, &u) + phi.conjugate(i, &w) - dot(&u, &w);
            prop_assert!(slack >= -1e-12 * size(&phi, i, &u), "slack {slack}");
            prop_assert!(!tight || slack <= 1e-12 * size(&phi, i, &u), "slack {slack}");
        }
    }

    /// Off the simplex it is infinite, on it the entropy.
    #[test]
    fn the_domain_of_the_conjugate(phi in merit(), i in 0usize..2, shares in prop::collection::vec(magnitude(-6.0..0.0), ELL), off in magnitude(-6.0..0.0), c in 0..ELL) {
        let (own, weight) = phi.class_of(i).unwrap();
        let sum: f64 = shares.iter().sum();
        let v: Vec<f64> = shares.iter().map(|share| share / sum).collect();
        let mut w: Vec<f64> = v.iter().map(|v| weight * v).collect();
        w[own] -= weight;
        let entropy = weight * v.iter().map(|v| v * v.ln()).sum::<f64>();
        prop_assert!((phi.conjugate(i, &w) - entropy).abs() <= 1e-12 * weight);
        w[c] += weight * off;
        prop_assert_eq!(phi.conjugate(i, &w), f64::INFINITY);
        // The sum is right, and one of them below 0.
        let next = (c + 1) % ELL;
        w[next] -= weight * (off + v[next]);
        w[c] += weight * v[next];
        prop_assert_eq!(phi.conjugate(i, &w), f64::INFINITY);
    }

    /// `w = v + alpha u` with `v = phi'(u)`, for the v that the prox found.
    #[test]
    fn moreau(phi in merit(), i in 0usize..2, alpha in alpha(), w in numbers()) {
        let v = prox(&phi, i, alpha, &w);
        let (own, weight) = phi.class_of(i).unwrap();
        prop_assert!(v.iter().sum::<f64>().abs() <= 1e-14 * weight);
        let u: Vec<f64> = w.iter().zip(&v).map(|(w, v)| (w - v) / alpha).collect();
        // What rounding of w leaves of u.
        let lost = 1e-14 * (1.0 + u.iter().chain(&w).fold(weight, |a, x| a.max(x.abs()))) / alpha.min(1.0);
        for (c, (v, slope)) in v.iter().zip(gradient(&phi, i, &u)).enumerate() {
            let p = slope / weight + f64::from(c == own);
            let bend = weight * p * lost + 1e-13 * weight;
            prop_assert!((v - slope).abs() <= 4.0 * bend + 1e-13 * weight, "{v} {slope}");
        }
    }

    #[test]
    fn the_gradient_is_a_fixed_point_of_the_dual_step(phi in merit(), i in 0usize..2, alpha in alpha(), u in numbers()) {
        let w = gradient(&phi, i, &u);
        let moved: Vec<f64> = w.iter().zip(&u).map(|(w, u)| w + alpha * u).collect();
        let size = phi.weights()[i] + moved.iter().fold(0.0_f64, |most, m| most.max(m.abs()));
        prop_assert!(distance(&prox(&phi, i, alpha, &moved), &w) <= 1e-13 * size);
    }

    /// A prox with a vanishing step is the projection onto the domain.
    #[test]
    fn a_vanishing_step_projects(phi in merit(), i in 0usize..2, u in numbers(), w in numbers()) {
        let inside = gradient(&phi, i, &u);
        let near = prox(&phi, i, 1e-300, &inside);
        prop_assert!(distance(&near, &inside) <= 1e-13 * phi.weights()[i]);
        let projected = prox(&phi, i, 1e-300, &w);
        prop_assert!(phi.conjugate(i, &projected).is_finite());
        // <w - projected, inside - projected> <= 0
        let products = w.iter().zip(&projected).zip(&inside).map(|((w, p), x)| (w - p) * (x - p));
        let size: f64 = w.iter().map(|w| w.abs()).sum::<f64>() + phi.weights()[i];
        prop_assert!(products.sum::<f64>() <= 1e-12 * size * size);
    }

    #[test]
    fn derivatives_match_central_differences(phi in merit(), i in 0usize..2, u in numbers()) {
        let (mut diagonal, mut across) = (vec![0.0; ELL], vec![0.0; ELL]);
        prop_assert!(phi.diagonal_less_rank_one(i..i + 1, &u, &mut diagonal, &mut across));
        prop_assert!(!phi.hessian_diagonal(i..i + 1, &u, &mut [0.0; ELL]));
        let slopes = gradient(&phi, i, &u);
        let (step, weight) = (1e-5, phi.weights()[i]);
        for c in 0..ELL {
            let at = |h: f64| { let mut moved = u.clone(); moved[c] += h; moved };
            let [less, more] = [-step, step].map(at);
            let noise = 1e-15 * size(&phi, i, &u) / step;
            let difference = (phi.value(i, &more) - phi.value(i, &less)) / (2.0 * step);
            prop_assert!((difference - slopes[c]).abs() <= 1e-9 * weight + noise);
            let (less, more) = (gradient(&phi, i, &less), gradient(&phi, i, &more));
            for k in 0..ELL {
                let second = f64::from(c == k) * diagonal[c] - across[c] * across[k];
                let difference = (more[k] - less[k]) / (2.0 * step);
                prop_assert!((difference - second).abs() <= 1e-9 * weight + noise, "{difference} {second}");
            }
        }
    }

    #[test]
    fn gamma_and_b_w_bound_what_they_say(phi in merit(), i in 0usize..2, u in numbers(), v in numbers()) {
        let far = distance(&u, &v);
        prop_assert!(phi.gamma() * distance(&gradient(&phi, i, &u), &gradient(&phi, i, &v)) <= far * (1.0 + 1e-12));
        let change = (phi.value(i, &u) - phi.value(i, &v)).abs();
        prop_assert!(change <= phi.lipschitz(ELL) * far * (1.0 + 1e-12) + 1e-13 * size(&phi, i, &u));
    }
}

/// Both bounds are met: two scores that are equal bend by 1/2, and the slope of a hopeless class is
/// the longest.
#[test]
fn gamma_and_b_w_are_the_best() {
    let phi = Multinomial::new(2, vec![0]).unwrap();
    let difference = [1e-6, -1e-6].map(|h| gradient(&phi, 0, &[h, -h]));
    let bend = distance(&difference[0], &difference[1]) / (4e-6 / 2f64.sqrt());
    assert!((bend - 1.0 / phi.gamma()).abs() < 1e-6, "{bend}");
    let steep = gradient(&phi, 0, &[-100.0, 100.0]);
    assert!((distance(&steep, &[0.0; 2]) - phi.lipschitz(2)).abs() < 1e-12);
}

#[test]
fn small_losses_keep_their_digits() {
    let phi = Multinomial::new(3, vec![1]).unwrap();
    let u = [-50.0, 0.0, -60.0];
    let expected = (-50f64).exp() + (-60f64).exp();
    assert!((phi.value(0, &u) / expected - 1.0).abs() < 1e-13);
    assert!((gradient(&phi, 0, &u)[1] / -expected - 1.0).abs() < 1e-13);
    assert!((phi.value(0, &[0.0, -800.0, 1.0]) - 801.313_261_687_518_2).abs() < 1e-10);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    for (ell, classes, message) in [
        (1, vec![0], "classes = 1, expected two or more"),
        (3, vec![0, 3], "classes[1] = 3, expected one of 0 to 2"),
    ] {
        assert_eq!(Multinomial::new(ell, classes).unwrap_err().to_string(), message);
    }
}
