//! What every merit must satisfy, whatever its formulas: the laws that tie phi, phi', phi* and the
//! prox of phi*.

use innermean::merit::{
    Absolute, AnyMerit, DownsideSquare, Huber, Logistic, Merit, ScalarMerit, SmoothedHinge, Square,
    SquaredHinge, Weighted,
};
use proptest::prelude::*;

/// `10^e` for e uniform between the bounds.
fn magnitude(e: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    e.prop_map(|e| 10f64.powf(e))
}

/// A number of either sign and any size that matters, zero among them.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        9 => (magnitude(-3.0..3.0), any::<bool>()).prop_map(|(x, sign)| if sign { x } else { -x }),
    ]
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
fn points<const N: usize>() -> impl Strategy<Value = [Vec<f64>; N]> {
    (1usize..=6).prop_flat_map(|ell| std::array::from_fn(|_| prop::collection::vec(number(), ell)))
}

fn alpha() -> impl Strategy<Value = f64> {
    magnitude(-4.0..4.0)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sum |a_l b_l|`: the size that the rounding of `<a, b>` is measured against.
fn weight_of(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn gradient(phi: &impl Merit, u: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; u.len()];
    phi.gradient(0, u, &mut out);
    out
}

fn prox(phi: &impl Merit, alpha: f64, w: &[f64]) -> Vec<f64> {
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

/// `prox_{phi_i/alpha}(z)` of the logistic loss by bisection: its slope lies between -1 and 1.
fn prox_of_logistic(y: f64, alpha: f64, z: f64) -> f64 {
    let slope = |u: f64| -y / (1.0 + (y * u).exp());
    let (mut lo, mut hi) = (z - 1.0 / alpha, z + 1.0 / alpha);
    for _ in 0..2000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if slope(mid) / alpha + mid - z > 0.0 {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    0.5 * (lo + hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn laws_of_the_logistic_loss(i in 0usize..2, alpha in alpha(), u in number(), v in number()) {
        let phi = Logistic::new(vec![1.0, -1.0]).unwrap();
        let y = phi.labels()[i];
        let at = |u: f64| phi.phi(i, u);
        prop_assert!((at(u) - (-y * u).exp().ln_1p()).abs() <= 1e-12 * (1.0 + u.abs()) || -y * u > 700.0);
        // Fenchel-Young, tight at the gradient.
        let (w, elsewhere) = (phi.slope(i, u), phi.slope(i, v));
        prop_assert!((at(u) + phi.phi_star(i, w) - u * w).abs() <= 1e-12 * (1.0 + u.abs()));
        prop_assert!(at(u) + phi.phi_star(i, elsewhere) - u * elsewhere >= -1e-12 * (1.0 + u.abs()));
        prop_assert!(phi.phi_star(i, y * u.abs()) == f64::INFINITY || u == 0.0);
        // Moreau, against a search that knows no formula of the crate.
        let expected = v - alpha * prox_of_logistic(y, alpha, v / alpha);
        let prox = phi.prox_phi_star(i, alpha, v);
        prop_assert!((prox - expected).abs() <= 1e-12 * (1.0 + v.abs()), "{prox} {expected}");
        prop_assert!(phi.phi_star(i, prox).is_finite());
        // The gradient is a fixed point of the dual step, also where it is tiny.
        let moved = phi.prox_phi_star(i, alpha, w + alpha * u);
        prop_assert!((moved - w).abs() <= 1e-14 * (w + alpha * u).abs() + 1e-13 * w.abs(), "{moved} {w}");
        // Slopes against differences; curvature at most 1/gamma = 1/4, and that at 0.
        let step = 1e-5;
        let difference = (at(u + step) - at(u - step)) / (2.0 * step);
        prop_assert!((difference - w).abs() <= 1e-9 + 1e-10 * u.abs());
        prop_assert!((w - elsewhere).abs() <= 0.25 * (u - v).abs() * (1.0 + 1e-12));
    }
}

/// The hinge losses as functions of the margin `m = y u`, branches and all: value and slope.
fn hinge(width: Option<f64>, m: f64) -> (f64, f64) {
    match width {
        _ if m >= 1.0 => (0.0, 0.0),
        None => ((1.0 - m).powi(2), -2.0 * (1.0 - m)),
        Some(h) if m >= 1.0 - h => ((1.0 - m).powi(2) / (2.0 * h), -(1.0 - m) / h),
        Some(h) => (1.0 - m - h / 2.0, -1.0),
    }
}

/// `argmin over u of phi(u)/alpha + (u - z)^2 / 2` by bisection, for a phi of the label y that
/// falls with the margin, by at most `steepest`.
fn prox_of_hinge(y: f64, width: Option<f64>, alpha: f64, z: f64, steepest: f64) -> f64 {
    let (mut lo, mut hi) = (z - steepest / alpha, z + steepest / alpha);
    for _ in 0..2000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if y * hinge(width, y * mid).1 / alpha + mid - z > 0.0 {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    0.5 * (lo + hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn laws_of_the_hinge_losses(
        i in 0usize..2, smooth in any::<bool>(), h in magnitude(-2.0..0.5), alpha in alpha(), u in number(), v in number(),
    ) {
        fn check(phi: &impl ScalarMerit, y: f64, i: usize, width: Option<f64>, alpha: f64, u: f64, v: f64) {
            let at = |u: f64| phi.phi(i, u);
            let (value, slope) = hinge(width, y * u);
            assert!((at(u) - value).abs() <= 1e-12 * (1.0 + value));
            let (w, elsewhere) = (phi.slope(i, u), phi.slope(i, v));
            assert!((w - y * slope).abs() <= 1e-12 * (1.0 + w.abs()));
            // Fenchel-Young, tight at the gradient.
            let size = 1.0 + at(u) + (u * w).abs() + w.abs() + w * w;
            assert!((at(u) + phi.phi_star(i, w) - u * w).abs() <= 1e-12 * size);
            let size = 1.0 + at(u) + (u * elsewhere).abs() + elsewhere.abs() + elsewhere * elsewhere;
            assert!(at(u) + phi.phi_star(i, elsewhere) - u * elsewhere >= -1e-12 * size);
            assert!(phi.phi_star(i, y * u.abs()) == f64::INFINITY || u == 0.0);
            // Moreau, against a search that knows no formula of the crate.
            let z = v / alpha;
            let steepest = if smooth_bound(width) { 1.0 } else { 2.0 * (1.0 + z.abs()) };
            let expected = v - alpha * prox_of_hinge(y, width, alpha, z, steepest);
            let prox = phi.prox_phi_star(i, alpha, v);
            assert!((prox - expected).abs() <= 1e-12 * (1.0 + alpha + v.abs()), "{prox} {expected}");
            assert!(phi.phi_star(i, prox).is_finite());
            // The gradient is a fixed point of the dual step.
            let moved = phi.prox_phi_star(i, alpha, w + alpha * u);
            assert!((moved - w).abs() <= 1e-12 * (1.0 + w.abs() + alpha * (1.0 + u.abs())), "{moved} {w}");
            // Curvature at most 1/gamma, and that just short of the margin.
            let gamma = phi.gamma();
            assert!(gamma * (w - elsewhere).abs() <= (u - v).abs() * (1.0 + 1e-12) + 1e-15);
            let (a, b) = (y * (1.0 - 1e-3), y * (1.0 - 2e-3));
            assert!((gamma * (phi.slope(i, a) - phi.slope(i, b)).abs() / 1e-3 - 1.0).abs() < 1e-9);
        }
        fn smooth_bound(width: Option<f64>) -> bool {
            width.is_some()
        }
        let labels = vec![1.0, -1.0];
        let y = labels[i];
        if smooth {
            let phi = SmoothedHinge::new(labels, h).unwrap();
            check(&phi, y, i, Some(h), alpha, u, v);
            assert_eq!((phi.gamma(), phi.lipschitz(4)), (1.0 / (1.0 / h), 2.0));
        } else {
            let phi = SquaredHinge::new(labels).unwrap();
            check(&phi, y, i, None, alpha, u, v);
            assert_eq!((phi.gamma(), phi.lipschitz(4)), (0.5, f64::INFINITY));
        }
    }

    /// A weight is a factor: of a merit whose factor is a setting, it is that setting.
    #[test]
    fn a_weighted_merit_is_the_merit_times_its_weight(
        c in magnitude(-2.0..2.0), h in magnitude(-2.0..1.0), weight in magnitude(-2.0..2.0), alpha in alpha(), [u] in points(),
    ) {
        fn compare(weighted: &impl Merit, plain: &impl Merit, alpha: f64, u: &[f64]) {
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (a.abs() + b.abs()) || a == b;
            assert!(close(weighted.value(1, u), plain.value(1, u)));
            assert!(close(weighted.conjugate(1, u), plain.conjugate(1, u)));
            let slopes = |phi: &dyn Merit| {
                let (mut slope, mut w) = (vec![0.0; u.len()], u.to_vec());
                phi.gradient(1, u, &mut slope);
                phi.prox_conjugate(1, alpha, &mut w);
                slope.into_iter().chain(w).collect::<Vec<_>>()
            };
            assert!(slopes(weighted).iter().zip(slopes(plain)).all(|(a, b)| close(*a, b)));
            assert!(close(weighted.gamma(), plain.gamma()) && close(weighted.lipschitz(3), plain.lipschitz(3)));
        }
        let weights = vec![0.5 * weight, weight];
        compare(&Weighted::new(Square::new(c).unwrap(), weights.clone()).unwrap(), &Square::new(c * weight).unwrap(), alpha, &u);
        compare(&Weighted::new(Huber::new(c, h).unwrap(), weights.clone()).unwrap(), &Huber::new(c * weight, h).unwrap(), alpha, &u);
        compare(&Weighted::new(Absolute::new(c).unwrap(), weights).unwrap(), &Absolute::new(c * weight).unwrap(), alpha, &u);
    }
}

#[test]
fn hinge_losses_and_weights_refuse_what_makes_no_sense() {
    assert_eq!(
        SquaredHinge::new(vec![1.0, 0.5]).unwrap_err().to_string(),
        "labels[1] = 0.5, expected -1 or 1"
    );
    assert_eq!(SmoothedHinge::new(vec![2.0], 1.0).unwrap_err().name(), "labels[0]");
    assert_eq!(
        SmoothedHinge::new(vec![1.0], 0.0).unwrap_err().to_string(),
        "width = 0.0, expected a finite number above 0"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Weighted::new(Square::new(1.0).unwrap(), vec![1.0, bad]).unwrap_err();
        assert_eq!(error.name(), "weights[1]");
    }
    let hinge = SmoothedHinge::new(vec![1.0, -1.0], 0.5).unwrap();
    let bytes = postcard::to_stdvec(&hinge).unwrap();
    assert_eq!(postcard::from_bytes::<SmoothedHinge>(&bytes).unwrap(), hinge);
    let bytes = postcard::to_stdvec(&(vec![1.0, -1.0], -0.5)).unwrap();
    assert!(postcard::from_bytes::<SmoothedHinge>(&bytes).is_err());
    let squared = SquaredHinge::new(vec![1.0]).unwrap();
    let merits: [&dyn Merit; 3] =
        [&hinge, &squared, &Weighted::new(squared.clone(), vec![2.0]).unwrap()];
    for phi in merits {
        let (mut slope, mut w) = ([0.0], [f64::NAN]);
        phi.gradient(0, &[f64::NAN], &mut slope);
        phi.prox_conjugate(0, 1.0, &mut w);
        assert!(slope[0].is_nan() && w[0].is_nan() && phi.value(0, &[f64::NAN]).is_nan());
        assert!(!phi.conjugate(0, &[f64::NAN]).is_finite());
    }
}

#[test]
fn the_logistic_loss_knows_its_constants_and_refuses_other_labels() {
    let phi = Logistic::new(vec![1.0, -1.0]).unwrap();
    assert_eq!((phi.gamma(), phi.lipschitz(4)), (4.0, 2.0));
    assert!(((phi.slope(0, 1e-6) - phi.slope(0, -1e-6)) / 2e-6 - 0.25).abs() < 1e-9);
    assert_eq!((phi.conjugate(0, &[-1.0]), phi.conjugate(0, &[0.0])), (0.0, 0.0));
    assert_eq!(
        (phi.conjugate(1, &[-0.1]), phi.conjugate(0, &[-1.1])),
        (f64::INFINITY, f64::INFINITY)
    );
    for (bad, quoted) in [(0.0, "0.0"), (2.0, "2.0"), (f64::NAN, "NaN")] {
        let error = Logistic::new(vec![1.0, bad]).unwrap_err();
        assert_eq!(error.to_string(), format!("labels[1] = {quoted}, expected -1 or 1"));
        let bytes = postcard::to_stdvec(&vec![1.0, bad]).unwrap();
        assert!(postcard::from_bytes::<Logistic>(&bytes).is_err());
    }
    let bytes = postcard::to_stdvec(&phi).unwrap();
    assert_eq!(postcard::from_bytes::<Logistic>(&bytes).unwrap(), phi);
    let u = [1.0, f64::NAN];
    assert!(
        phi.value(0, &u).is_nan()
            && gradient(&phi, &u)[1].is_nan()
            && prox(&phi, 1.0, &u)[1].is_nan()
    );
    assert!(!phi.conjugate(0, &[f64::NAN]).is_finite());
}

/// phi = u^2 has phi* = w^2/4, whose prox divides by 1 + alpha/2. The prox of phi itself would
/// divide by 1 + 2 alpha.
#[test]
fn the_dual_prox_of_the_square_divides_by_one_plus_half_alpha() {
    let phi = Square::new(1.0).unwrap();
    assert_eq!(prox(&phi, 2.0, &[3.0]), [1.5]);
    assert_eq!(prox(&phi, 1.0, &[3.0]), [2.0]);
}

#[test]
fn constants_of_each_merit() {
    let [square, downside] =
        [AnyMerit::from(Square::new(2.0).unwrap()), DownsideSquare::new(2.0).unwrap().into()];
    let [absolute, huber] =
        [AnyMerit::from(Absolute::new(2.0).unwrap()), Huber::new(2.0, 0.5).unwrap().into()];
    assert_eq!([square, downside, absolute, huber].map(|phi| phi.gamma()), [0.25, 0.25, 0.0, 0.25]);
    let inf = f64::INFINITY;
    assert_eq!(
        [square, downside, absolute, huber].map(|phi| phi.lipschitz(9)),
        [inf, inf, 6.0, 6.0]
    );
}

#[test]
fn the_conjugate_is_infinite_outside_its_domain() {
    let inf = f64::INFINITY;
    assert_eq!(DownsideSquare::new(1.0).unwrap().conjugate(0, &[-1.0, 1e-300]), inf);
    assert_eq!(DownsideSquare::new(1.0).unwrap().conjugate(0, &[-2.0, 0.0]), 1.0);
    assert_eq!(Absolute::new(2.0).unwrap().conjugate(0, &[2.0, -2.0]), 0.0);
    assert_eq!(Absolute::new(2.0).unwrap().conjugate(0, &[0.0, -2.1]), inf);
    assert_eq!(Huber::new(2.0, 0.5).unwrap().conjugate(0, &[2.0]), 0.5);
    assert_eq!(Huber::new(2.0, 0.5).unwrap().conjugate(0, &[2.1]), inf);
}

/// A run that diverged must not look like one that reached the optimum.
#[test]
fn a_nan_is_never_answered_with_a_number() {
    let merits = [
        AnyMerit::from(Square::new(1.0).unwrap()),
        DownsideSquare::new(1.0).unwrap().into(),
        Absolute::new(1.0).unwrap().into(),
        Huber::new(1.0, 1.0).unwrap().into(),
    ];
    for phi in merits {
        let u = [1.0, f64::NAN];
        assert!(phi.value(0, &u).is_nan(), "{phi:?}");
        assert!(gradient(&phi, &u)[1].is_nan(), "{phi:?}");
        assert!(prox(&phi, 1.0, &u)[1].is_nan(), "{phi:?}");
        assert!(!phi.conjugate(0, &[-1.0, f64::NAN]).is_finite(), "{phi:?}");
    }
}

/// The scalar functions may depend on `i`, and a merit may be behind `dyn`.
#[test]
fn a_merit_of_ones_own() {
    struct Target([f64; 2]);
    impl ScalarMerit for Target {
        fn phi(&self, i: usize, u: f64) -> f64 {
            0.5 * (u - self.0[i]).powi(2)
        }
        fn slope(&self, i: usize, u: f64) -> f64 {
            u - self.0[i]
        }
        fn phi_star(&self, i: usize, w: f64) -> f64 {
            0.5 * w * w + self.0[i] * w
        }
        fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
            (w - alpha * self.0[i]) / (1.0 + alpha)
        }
        fn max_curvature(&self) -> f64 {
            1.0
        }
        fn max_slope(&self) -> f64 {
            f64::INFINITY
        }
    }
    let phi: &dyn Merit = &Target([3.0, 1.0]);
    let (mut slope, mut w) = ([0.0; 2], [2.0, 4.0]);
    phi.gradient(1, &[2.0, 0.0], &mut slope);
    phi.prox_conjugate(1, 1.0, &mut w);
    assert_eq!((phi.value(1, &[2.0, 0.0]), slope), (1.0, [1.0, -1.0]));
    assert_eq!((phi.value(0, &[2.0, 0.0]), phi.conjugate(0, &[1.0, 1.0])), (5.0, 7.0));
    assert_eq!(w, [0.5, 1.5]);
}

/// A phi that is no sum over coordinates implements `Merit` itself, also around another merit: the
/// lift from `ScalarMerit` is not in the way. That this compiles is the test.
#[test]
fn a_merit_that_does_not_split() {
    fn scale(by: f64, x: &mut [f64]) {
        for x in x {
            *x *= by;
        }
    }
    struct Doubled<P>(P);
    impl<P: Merit> Merit for Doubled<P> {
        fn value(&self, i: usize, u: &[f64]) -> f64 {
            2.0 * self.0.value(i, u)
        }
        fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
            self.0.gradient(i, u, out);
            scale(2.0, out);
        }
        fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
            let half: Vec<f64> = w.iter().map(|w| 0.5 * w).collect();
            2.0 * self.0.conjugate(i, &half)
        }
        fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
            scale(0.5, w);
            self.0.prox_conjugate(i, 0.5 * alpha, w);
            scale(2.0, w);
        }
        fn gamma(&self) -> f64 {
            0.5 * self.0.gamma()
        }
        fn lipschitz(&self, ell: usize) -> f64 {
            2.0 * self.0.lipschitz(ell)
        }
    }
    let (doubled, square) = (Doubled(Square::new(1.0).unwrap()), Square::new(2.0).unwrap());
    assert_eq!(doubled.conjugate(0, &[8.0]), square.conjugate(0, &[8.0]));
    assert_eq!(prox(&doubled, 4.0, &[8.0]), prox(&square, 4.0, &[8.0]));
    // Of one number the slope of the prox is a difference; of several nothing is known.
    let mut slope = [0.0];
    assert!(doubled.prox_slopes(0..1, 4.0, &[8.0], &mut slope));
    assert!((slope[0] - prox(&square, 4.0, &[8.0])[0] / 8.0).abs() < 1e-6);
    assert!(!doubled.prox_slopes(0..1, 4.0, &[8.0, 1.0], &mut [0.0; 2]));
}

#[test]
fn invalid_settings_are_refused_and_quoted() {
    for (bad, quoted) in [
        (f64::NAN, "NaN"),
        (-1.5, "-1.5"),
        (0.0, "0.0"),
        (f64::INFINITY, "inf"),
        (-1e-300, "-1e-300"),
    ] {
        let weights = [
            Square::new(bad).unwrap_err(),
            DownsideSquare::new(bad).unwrap_err(),
            Absolute::new(bad).unwrap_err(),
            Huber::new(bad, 1.0).unwrap_err(),
        ];
        for error in weights {
            assert_eq!(
                error.to_string(),
                format!("weight = {quoted}, expected a finite number above 0")
            );
        }
        let error = Huber::new(1.0, bad).unwrap_err();
        assert_eq!((error.name(), error.value()), ("width", quoted));
        // Reading is no way around the check.
        let bytes = postcard::to_stdvec(&bad).unwrap();
        assert!(postcard::from_bytes::<Square>(&bytes).is_err());
        assert!(postcard::from_bytes::<DownsideSquare>(&bytes).is_err());
        assert!(postcard::from_bytes::<Absolute>(&bytes).is_err());
        assert!(postcard::from_bytes::<Huber>(&postcard::to_stdvec(&(1.0, bad)).unwrap()).is_err());
    }
}
