//! `log sum_c e^(u_c) - u_{c_i}`

use std::ops::Range;

use super::Merit;
use crate::linalg::elementary::Elementary;
use crate::linalg::exponential::exp;
use crate::linalg::vector::dispatch;
use crate::model::setting::InvalidSetting;

/// The multinomial logistic loss of the scores u of several classes, ell of them, for the class
/// `c_i`: minus the logarithm of its probability `p_{c_i}`, with `p = softmax(u)`.
///
/// ```text
/// phi_i(u)               = log sum_c e^(u_c) - u_{c_i}
/// phi_i'(u)              = p - e_{c_i},  p_c = e^(u_c) / sum_k e^(u_k)
/// phi_i''(u)             = diag(p) - p p'
/// phi_i*(w)              = sum_c v_c log v_c  with  v = w + e_{c_i},  if v >= 0 and sum_c v_c = 1;  inf otherwise
/// prox_{alpha phi_i*}(w) = v - e_{c_i}  for the roots of  alpha log v_c + v_c = w_c + e_{c_i},c - m,  sum_c v_c = 1
/// gamma                  = 2
/// B_w                    = sqrt(2)
/// ```
///
/// `phi_i` does not change where the same number is added to all scores, so that `phi_i*` lives on
/// the coordinates that add up to 0. In double precision they do so up to rounding: duals that are
/// off by that stand for those next to them, whose largest `v_c` takes the difference.
///
/// For every multiplier m each `v_c` is the root of a rising function, and their sum is convex and
/// falls with m: Newton's steps from the left meet 1 without a safeguard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multinomial {
    ell: usize,
    classes: Vec<u32>,
}

/// What rounding may leave of a sum of ell duals, for each of them, and of a `v_c` below 0.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// More steps than either root ever takes.
const MOST_STEPS: usize = 100;

impl Multinomial {
    /// One of `ell` classes, counted from 0, for each outer term.
    ///
    /// # Errors
    /// Unless there are at least two classes, and every term has one of them.
    pub fn new(ell: usize, classes: Vec<u32>) -> Result<Self, InvalidSetting> {
        if ell < 2 {
            return Err(InvalidSetting::new("classes", ell.to_string(), "two or more"));
        }
        if let Some(i) = classes.iter().position(|&class| class as usize >= ell) {
            let (name, given) = (format!("classes[{i}]"), classes[i].to_string());
            return Err(InvalidSetting::new(name, given, format!("one of 0 to {}", ell - 1)));
        }
        Ok(Multinomial { ell, classes })
    }

    /// `c_i`
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    #[inline(always)]
    fn own(&self, i: usize) -> usize {
        self.classes[i] as usize
    }

    /// `out = p - e_own`, whose coordinates keep their digits next to 0, and `phi(u)`.
    #[inline(always)]
    fn value_and_slope(own: usize, u: &[f64], out: &mut [f64]) -> f64 {
        let largest =
            u.iter().fold(f64::NEG_INFINITY, |most, u| if *u <= most { most } else { *u });
        let mut sum = 0.0;
        for (out, u) in out.iter_mut().zip(u) {
            *out = exp(*u - largest);
            sum += *out;
        }
        let share = 1.0 / sum;
        let mut others = 0.0;
        for (c, out) in out.iter_mut().enumerate() {
            *out *= share;
            others += if c == own { 0.0 } else { *out };
        }
        out[own] = -others;
        // By the smaller of p and 1 - p, which has all its digits.
        if others < 0.5 {
            -(-others).natural_log_1p()
        } else {
            sum.natural_log() + (largest - u[own])
        }
    }
}

/// The root t of `alpha t + e^t = b`.
#[inline(always)]
fn root(alpha: f64, b: f64) -> f64 {
    // The left side is convex and rises: Newton's steps from the right of the root stay there.
    let most = (b / alpha).min(if b < 1.0 { 0.0 } else { b.natural_log() });
    let mut t = if b > 0.0 { b.natural_log().min(most) } else { most };
    for _ in 0..MOST_STEPS {
        let v = t.exponential();
        let step = (alpha * t + v - b) / (alpha + v);
        let next = (t - step).min(most);
        if next.is_nan() || (next - t).abs() <= f64::EPSILON * t.abs() {
            break;
        }
        t = next;
    }
    t
}

impl Merit for Multinomial {
    fn terms(&self) -> Option<usize> {
        Some(self.classes.len())
    }

    fn value(&self, i: usize, u: &[f64]) -> f64 {
        let own = self.own(i);
        let others = u.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, u)| *u);
        let largest = others.clone().fold(f64::NEG_INFINITY, |a, b| if b <= a { a } else { b });
        let (ahead, sum) = (u[own] - largest, others.map(|u| exp(u - largest)).sum::<f64>());
        // log(1 + sum e^(-ahead))
        if ahead > 0.0 {
            (sum * exp(-ahead)).natural_log_1p()
        } else {
            (sum + exp(ahead)).natural_log() - ahead
        }
    }

    #[inline(always)]
    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        Self::value_and_slope(self.own(i), u, out);
    }

    fn values_and_gradients(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
        let ell = self.ell;
        dispatch(
            #[inline(always)]
            || {
                let each = u.chunks_exact(ell).zip(out.chunks_exact_mut(ell));
                let mut sum = 0.0;
                for (i, (u, out)) in terms.zip(each) {
                    sum += Self::value_and_slope(self.own(i), u, out);
                }
                sum
            },
        )
    }

    fn diagonal_less_rank_one(
        &self,
        terms: Range<usize>,
        u: &[f64],
        diagonal: &mut [f64],
        across: &mut [f64],
    ) -> bool {
        let parts = diagonal.chunks_exact_mut(self.ell).zip(across.chunks_exact_mut(self.ell));
        for ((i, u), (diagonal, across)) in terms.zip(u.chunks_exact(self.ell)).zip(parts) {
            Self::value_and_slope(self.own(i), u, diagonal);
            diagonal[self.own(i)] += 1.0;
            across.copy_from_slice(diagonal);
        }
        true
    }

    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        let own = self.own(i);
        let (mut sum, mut excess) = (0.0, 0.0);
        for (c, w) in w.iter().enumerate() {
            let v = if c == own { 1.0 + w } else { *w };
            excess += w;
            if v > 0.0 {
                sum += v * v.natural_log();
            } else if v.is_nan() || v < -ROUNDING {
                return f64::INFINITY;
            }
        }
        if excess.abs() <= ROUNDING * w.len() as f64 { sum } else { f64::INFINITY }
    }

    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        let own = self.own(i);
        w[own] += 1.0;
        let largest =
            w.iter().fold(f64::NEG_INFINITY, |most, w| if *w <= most { most } else { *w });
        if largest.is_nan() {
            return;
        }
        // There the largest v is 1, and the others are above 0.
        let mut m = largest - 1.0;
        for _ in 0..MOST_STEPS {
            let (mut excess, mut slope) = (-1.0, 0.0);
            for w in &*w {
                let v = root(alpha, w - m).exponential();
                excess += v;
                slope += v / (alpha + v);
            }
            let next = m + excess / slope;
            if excess <= w.len() as f64 * f64::EPSILON || next.is_nan() || next <= m {
                break;
            }
            m = next;
        }
        let mut others = 0.0;
        for (c, w) in w.iter_mut().enumerate() {
            *w = root(alpha, *w - m).exponential();
            others += if c == own { 0.0 } else { *w };
        }
        w[own] = -others;
    }

    /// Its coordinates are tied by their sum.
    fn prox_slopes(&self, _: Range<usize>, _: f64, _: &[f64], _: &mut [f64]) -> bool {
        false
    }

    fn gamma(&self) -> f64 {
        2.0
    }

    fn lipschitz(&self, _: usize) -> f64 {
        std::f64::consts::SQRT_2
    }

    fn class_of(&self, i: usize) -> Option<(usize, f64)> {
        Some((self.own(i), 1.0))
    }
}
