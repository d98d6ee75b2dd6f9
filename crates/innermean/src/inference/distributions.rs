//! The normal and the chi-squared distribution.

use libm::{erfc, exp, lgamma, log};

/// Newton's steps from a start that is right to three digits: each doubles them.
const STEPS: usize = 4;
/// Terms of a series or a fraction after which it is taken as it is.
const MOST_TERMS: usize = 10_000;

/// The probability of a standard normal number below x.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The x below which a standard normal number lies with probability p.
///
/// # Panics
/// Unless p lies strictly between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a probability of {p}, expected one between 0 and 1");
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    // Abramowitz and Stegun (1964), 26.2.23, right to 4.5e-4.
    let t = (-2.0 * log(p)).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = above / below - t;
    for _ in 0..STEPS {
        let density = exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        let step = (normal_cdf(x) - p) / density;
        // Halley's correction, for the density falls by x along the way.
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// The probability of a chi-squared number with so many degrees of freedom above x.
pub fn chi_squared_tail(degrees: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    upper_gamma(0.5 * degrees, 0.5 * x)
}

/// `Q(a, x) = Gamma(a, x) / Gamma(a)`: a series below a + 1, a continued fraction by Lentz's
/// algorithm above.
fn upper_gamma(a: f64, x: f64) -> f64 {
    let front = exp(a * log(x) - x - lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MOST_TERMS {
            term *= x / (a + k as f64);
            sum += term;
            if term < f64::EPSILON * sum {
                break;
            }
        }
        return 1.0 - front * sum;
    }
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    let mut fraction = d;
    for k in 1..MOST_TERMS {
        let k = k as f64;
        let numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::{chi_squared_tail, normal_cdf, normal_quantile};

    #[test]
    fn quantiles_invert_probabilities() {
        for p in [1e-12, 1e-6, 0.01, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999_999] {
            let back = normal_cdf(normal_quantile(p));
            assert!((back / p - 1.0).abs() < 1e-12, "{back} is not {p}");
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
    }

    #[test]
    fn tails_are_those_of_tables() {
        // For 2 degrees exp(-x/2), for 1 that of a square of a normal number.
        for x in [0.1_f64, 1.0, 3.84, 20.0, 300.0] {
            let wanted = (-0.5 * x).exp();
            assert!((chi_squared_tail(2.0, x) / wanted - 1.0).abs() < 1e-12, "2 degrees at {x}");
            let wanted = 2.0 * normal_cdf(-x.sqrt());
            assert!((chi_squared_tail(1.0, x) / wanted - 1.0).abs() < 1e-11, "1 degree at {x}");
        }
        assert!((chi_squared_tail(10.0, 18.307_038_053_275_146) - 0.05).abs() < 1e-14);
        assert_eq!(chi_squared_tail(3.0, 0.0), 1.0);
    }
}
