//! What every merit must satisfy, whatever its formulas: the laws that tie phi, phi', phi* and the
//! prox of phi*.

use super::drawn::{alpha, magnitude, signed, weight_of};
use crate::support::dense::dot;
use innermean::merit::{Absolute, AnyMerit, DownsideSquare, Huber, Merit, Square, Weighted};
use proptest::prelude::*;

pub(super) fn number() -> impl Strategy<Value = f64> {
    signed(-3.0..3.0)
}

fn merit() -> impl Strategy<Value = AnyMerit> {
    (0..4, magnitude(-2.0..2.0), magnitude(-2.0..1.0)).prop_map(|(kind, c, h)| match kind {
        0 => Square::new(c).unwrap().into(),
        1 => DownsideSquare::new(c).unwrap().into(),
        2 => Absolute::new(c).unwrap().into(),
        _ => Huber::new(c, h).unwrap().into(),
    })
}

/// Two to four points of `R^ell`, `ell` from 1 to 6.
pub(super) fn points<const N: usize>() -> impl Strategy<Value = [Vec<f64>; N]> {
    (1usize..=6).prop_flat_map(|ell| std::array::from_fn(|_| prop::collection::vec(number(), ell)))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

pub(super) fn gradient(phi: &impl Merit, u: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; u.len()];
    phi.gradient(0, u, &mut out);
    out
}

pub(super) fn prox(phi: &impl Merit, alpha: f64, w: &[f64]) -> Vec<f64> {
    let mut w = w.to_vec();
    phi.prox_conjugate(0, alpha, &mut w);
    w
}

/// The value as the tables write it: branches and all, nothing shared with the crate.
fn textbook(phi: &AnyMerit, u: f64) -> f64 {
    match phi {
        AnyMerit::Square(p) => p.weight() * u.powi(2),
        AnyMerit::DownsideSquare(p) => p.weight() * u.min(0.0).powi(2),
        AnyMerit::Absolute(p) => p.weight() * u.abs(),
        AnyMerit::Huber(p) if u.abs() <= p.width() => p.weight() * u.powi(2) / (2.0 * p.width()),
        AnyMerit::Huber(p) => p.weight() * (u.abs() - p.width() / 2.0),
    }
}

/// Slopes of the textbook formula, for the independent prox.
fn textbook_slope(phi: &AnyMerit, u: f64) -> f64 {
    match phi {
        AnyMerit::Square(p) => 2.0 * p.weight() * u,
        AnyMerit::DownsideSquare(p) => 2.0 * p.weight() * u.min(0.0),
        AnyMerit::Absolute(p) => p.weight() * u.signum(),
        AnyMerit::Huber(p) if u.abs() <= p.width() => p.weight() * u / p.width(),
        AnyMerit::Huber(p) => p.weight() * u.signum(),
    }
}

/// `prox_{phi/alpha}(z)` by bisection on the slope of `phi(u)/alpha + (u - z)^2 / 2`. Each phi here
/// is least at 0, so the prox lies between 0 and z.
fn prox_of_phi(phi: &AnyMerit, alpha: f64, z: f64) -> f64 {
    let (mut lo, mut hi) = (z.min(0.0), z.max(0.0));
    for _ in 0..2000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if textbook_slope(phi, mid) / alpha + mid - z > 0.0 {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    0.5 * (lo + hi)
}

/// `sup_u u w - phi(u)` over `[-reach, reach]` by golden sections: the function is concave.
fn sup_by_sections(phi: &AnyMerit, w: f64, reach: f64) -> f64 {
    let f = |u: f64| u * w - textbook(phi, u);
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut lo, mut hi) = (-reach, reach);
    for _ in 0..200 {
        let (a, b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        if f(a) < f(b) {
            lo = a;
        } else {
            hi = b;
        }
    }
    f(0.5 * (lo + hi)).max(f(0.0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn value_is_the_textbook_sum_over_coordinates(phi in merit(), [u] in points()) {
        let expected: f64 = u.iter().map(|&u| textbook(&phi, u)).sum();
        prop_assert!((phi.value(0, &u) - expected).abs() <= 1e-12 * expected);
    }

    /// The prox of many duals is that of each; its slopes lie between 0 and 1, and between what
    /// differences to the left and to the right say.
    #[test]
    fn slopes_of_the_prox(phi in merit(), alpha in alpha(), weight in magnitude(-2.0..2.0), [w, again] in points()) {
        fn check(phi: &impl Merit, alpha: f64, w: &[f64], again: &[f64]) {
            let (ell, both) = (w.len(), [w, again].concat());
            let mut moved = both.clone();
            phi.prox_conjugates(0..2, alpha, &mut moved);
            assert_eq!(moved[..ell], prox(phi, alpha, w));
            let mut slopes = vec![f64::NAN; 2 * ell];
            assert!(phi.prox_slopes(0..2, alpha, &both, &mut slopes));
            for ((&w, moved), slope) in both.iter().zip(moved).zip(slopes) {
                let h = 1e-6 * (w.abs() + moved.abs()).max(1e-3);
                let [left, right] = [-h, h].map(|h| (prox(phi, alpha, &[w + h])[0] - moved) / h);
                let (least, most) = (left.min(right), left.max(right));
                assert!((0.0..=1.0).contains(&slope) && least - 1e-5 <= slope && slope <= most + 1e-5, "{least} {slope} {most}");
            }
        }
        check(&phi, alpha, &w, &again);
        check(&Weighted::new(phi, vec![weight; 2]).unwrap(), alpha, &w, &again);
        check(&(Box::new(phi) as Box<dyn Merit>), alpha, &w, &again);
    }

    #[test]
    fn fenchel_young(phi in merit(), [u, v, outside] in points()) {
        // A gradient lies in the domain of phi*; an arbitrary point often does not, and then phi*
        // is +inf.
        for w in [gradient(&phi, &v), outside] {
            let slack = phi.value(0, &u) + phi.conjugate(0, &w) - dot(&u, &w);
            prop_assert!(slack >= -1e-12 * (phi.value(0, &u) + weight_of(&u, &w)), "slack {slack}");
        }
    }

    #[test]
    fn fenchel_young_is_tight_at_the_gradient(phi in merit(), [u] in points()) {
        let w = gradient(&phi, &u);
        let slack = phi.value(0, &u) + phi.conjugate(0, &w) - dot(&u, &w);
        prop_assert!(slack.abs() <= 1e-12 * (phi.value(0, &u) + weight_of(&u, &w)), "slack {slack}");
    }

    /// The conjugate found by search: no formula of the crate but `conjugate` takes part.
    #[test]
    fn conjugate_is_the_supremum(phi in merit(), w in number()) {
        let conjugate = phi.conjugate(0, &[w]);
        if conjugate.is_finite() {
            // The widest maximiser is w/(2c), at most 5e4 here.
            let sup = sup_by_sections(&phi, w, 1e6);
            prop_assert!((sup - conjugate).abs() <= 1e-9 * (1.0 + conjugate), "{sup} {conjugate}");
        } else {
            // Outside the domain the supremum runs away along a straight line.
            let (near, far) = (sup_by_sections(&phi, w, 1e8), sup_by_sections(&phi, w, 2e8));
            prop_assert!(far > 1.5 * near && near > 0.0, "{near} {far}");
        }
    }

    #[test]
    fn moreau(phi in merit(), alpha in alpha(), [w] in points()) {
        for (p, &w) in prox(&phi, alpha, &w).iter().zip(&w) {
            let expected = w - alpha * prox_of_phi(&phi, alpha, w / alpha);
            prop_assert!((p - expected).abs() <= 1e-12 * (1.0 + w.abs()), "{p} {expected}");
        }
    }

    #[test]
    fn prox_beats_its_neighbours(phi in merit(), alpha in alpha(), [w, direction] in points(), size in magnitude(-6.0..1.0)) {
        let objective = |v: &[f64]| phi.conjugate(0, v) + distance(v, &w).powi(2) / (2.0 * alpha);
        let p = prox(&phi, alpha, &w);
        let best = objective(&p);
        prop_assert!(best.is_finite());
        for sign in [-1.0, 1.0] {
            let v: Vec<f64> = p.iter().zip(&direction).map(|(p, d)| p + sign * size * d).collect();
            prop_assert!(best <= objective(&v) * (1.0 + 1e-12));
        }
    }

    /// `(w - p)/alpha` is a subgradient of phi* at p, that is: the pair meets Fenchel-Young with
    /// equality.
    #[test]
    fn prox_satisfies_the_subgradient_condition(phi in merit(), alpha in alpha(), [w] in points()) {
        let p = prox(&phi, alpha, &w);
        let u: Vec<f64> = w.iter().zip(&p).map(|(w, p)| (w - p) / alpha).collect();
        let slack = phi.value(0, &u) + phi.conjugate(0, &p) - dot(&u, &p);
        // w - p loses what w and p have in common: an error of 1e-16 |w| / alpha in u.
        let rounding = weight_of(&p, &w) / alpha + phi.value(0, &u) + phi.conjugate(0, &p);
        prop_assert!(slack.abs() <= 1e-12 * rounding, "slack {slack} rounding {rounding}");
    }

    /// What makes `w_i = phi_i'(fbar_i)` the fixed point of the dual step, for any step size.
    #[test]
    fn the_gradient_is_a_fixed_point_of_the_dual_step(phi in merit(), alpha in alpha(), [u] in points()) {
        let w = gradient(&phi, &u);
        let moved: Vec<f64> = w.iter().zip(&u).map(|(w, u)| w + alpha * u).collect();
        for ((p, w), m) in prox(&phi, alpha, &moved).iter().zip(&w).zip(&moved) {
            prop_assert!((p - w).abs() <= 1e-12 * (w.abs() + m.abs()), "{p} {w}");
        }
    }

    #[test]
    fn gradient_matches_central_differences(phi in merit(), [u] in points()) {
        let kinks = match phi {
            AnyMerit::Square(_) => vec![],
            AnyMerit::DownsideSquare(_) | AnyMerit::Absolute(_) => vec![0.0],
            AnyMerit::Huber(p) => vec![-p.width(), p.width()],
        };
        let slopes = gradient(&phi, &u);
        for (c, &x) in u.iter().enumerate() {
            let step = 1e-5 * (1e-3 + x.abs());
            if kinks.iter().any(|kink| (x - kink).abs() <= 2.0 * step) {
                continue;
            }
            let at = |x: f64| {
                let mut moved = u.clone();
                moved[c] = x;
                phi.value(0, &moved)
            };
            let difference = (at(x + step) - at(x - step)) / (2.0 * step);
            // Other coordinates' share of the value is rounding noise here.
            let noise = 1e-15 * at(x) / step;
            prop_assert!((difference - slopes[c]).abs() <= 1e-6 * slopes[c].abs() + 2.0 * noise);
        }
    }

    /// `|phi'(u) - phi'(v)| <= |u - v| / gamma`, and for no larger gamma.
    #[test]
    fn gamma_is_the_inverse_of_the_largest_curvature(phi in merit(), [u, v] in points(), size in magnitude(-6.0..-2.1)) {
        let gamma = phi.gamma();
        let change = distance(&gradient(&phi, &u), &gradient(&phi, &v));
        prop_assert!(gamma * change <= distance(&u, &v) * (1.0 + 1e-12));
        // The pair below lies where each phi here curves most: left of 0 and within any width.
        let (u, v) = ([-size], [if gamma == 0.0 { size } else { -0.5 * size }]);
        let steepness = distance(&gradient(&phi, &u), &gradient(&phi, &v)) / distance(&u, &v);
        if gamma == 0.0 {
            prop_assert!((steepness - 2.0 * phi.lipschitz(1) / (2.0 * size)).abs() <= 1e-9 * steepness);
        } else {
            prop_assert!((steepness * gamma - 1.0).abs() <= 1e-9);
        }
    }

    /// phi* is gamma-strongly convex: at midpoints, and in how the prox contracts.
    #[test]
    fn conjugate_is_strongly_convex(phi in merit(), alpha in alpha(), [u, v] in points()) {
        let (a, b) = (gradient(&phi, &u), gradient(&phi, &v));
        let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        let ends = 0.5 * (phi.conjugate(0, &a) + phi.conjugate(0, &b));
        let bend = phi.gamma() / 8.0 * distance(&a, &b).powi(2);
        prop_assert!(phi.conjugate(0, &middle) <= ends - bend + 1e-12 * (ends + bend));
        let contracted = distance(&prox(&phi, alpha, &u), &prox(&phi, alpha, &v));
        prop_assert!(contracted * (1.0 + alpha * phi.gamma()) <= distance(&u, &v) * (1.0 + 1e-9) + 1e-12);
    }

    #[test]
    fn lipschitz_bounds_the_slopes_and_no_less_would(phi in merit(), [u, v] in points()) {
        let ell = u.len();
        let bound = phi.lipschitz(ell);
        let (a, b) = (phi.value(0, &u), phi.value(0, &v));
        prop_assert!((a - b).abs() <= bound * distance(&u, &v) + 1e-12 * (a + b) || u == v);
        let (far, farther) = (vec![-1e3; ell], vec![-2e3; ell]);
        let slope = (phi.value(0, &farther) - phi.value(0, &far)) / distance(&far, &farther);
        if bound.is_finite() {
            prop_assert!((slope / bound - 1.0).abs() <= 1e-9);
        } else {
            let (far, farther) = (gradient(&phi, &far)[0], gradient(&phi, &farther)[0]);
            prop_assert!(farther < 1.5 * far && far < 0.0, "the slopes do not grow: {far} {farther}");
        }
    }

    #[test]
    fn any_merit_answers_bit_for_bit_like_what_it_holds(
        c in magnitude(-2.0..2.0), h in magnitude(-2.0..1.0), alpha in alpha(), [u] in points(),
    ) {
        fn compare<S: Merit + Copy>(held: S, alpha: f64, u: &[f64]) where AnyMerit: From<S> {
            let any = AnyMerit::from(held);
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(any.value(7, u).to_bits(), held.value(7, u).to_bits());
            assert_eq!(any.conjugate(7, u).to_bits(), held.conjugate(7, u).to_bits());
            assert_eq!(any.gamma().to_bits(), held.gamma().to_bits());
            assert_eq!(any.lipschitz(u.len()).to_bits(), held.lipschitz(u.len()).to_bits());
            assert_eq!(bits(&gradient(&any, u)), bits(&gradient(&held, u)));
            assert_eq!(bits(&prox(&any, alpha, u)), bits(&prox(&held, alpha, u)));
        }
        compare(Square::new(c).unwrap(), alpha, &u);
        compare(DownsideSquare::new(c).unwrap(), alpha, &u);
        compare(Absolute::new(c).unwrap(), alpha, &u);
        compare(Huber::new(c, h).unwrap(), alpha, &u);
    }

    #[test]
    fn a_merit_survives_being_written_and_read(phi in merit()) {
        let bytes = postcard::to_stdvec(&phi).unwrap();
        prop_assert_eq!(postcard::from_bytes::<AnyMerit>(&bytes).unwrap(), phi);
    }
}
