//! The normal, Student's t and the chi-squared distribution.

use libm::{erfc, exp, lgamma, log};

/// Steps of Halley's method from a start that is right to three digits: each triples them.
const STEPS: usize = 3;
/// Terms after which a series or a continued fraction is taken as it is.
const MOST_TERMS: usize = 10_000;
/// Degrees of freedom from which on a quantile of t is expanded about that of the normal
/// distribution, with an error of about their inverse cubed.
const MANY_DEGREES: f64 = 1e4;

/// The standard normal distribution function.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The standard normal quantile of p.
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
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = numerator / denominator - t;
    for _ in 0..STEPS {
        let density = exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        let step = (normal_cdf(x) - p) / density;
        // The density's logarithm has slope -x.
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// The distribution function of Student's t with nu degrees of freedom.
///
/// # Panics
/// Unless nu is above 0.
pub fn student_t_cdf(nu: f64, x: f64) -> f64 {
    if x <= 0.0 { student_t_tail(nu, -x) } else { 1.0 - student_t_tail(nu, x) }
}

/// The probability above `x >= 0`: `I_{nu/(nu + x^2)}(nu/2, 1/2) / 2`.
fn student_t_tail(nu: f64, x: f64) -> f64 {
    assert!(nu > 0.0, "{nu} degrees of freedom");
    if nu.is_infinite() {
        return normal_cdf(-x);
    }
    let square = x * x;
    0.5 * incomplete_beta(0.5 * nu, 0.5, nu / (nu + square), square / (nu + square))
}

/// The quantile of p of Student's t with nu degrees of freedom; the normal one if nu is infinite.
///
/// # Panics
/// Unless nu is above 0 and p lies strictly between 0 and 1.
pub fn student_t_quantile(nu: f64, p: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a probability of {p}, expected one between 0 and 1");
    // The smaller of both tails has all its digits.
    if p < 0.5 { -upper_quantile(nu, p) } else { upper_quantile(nu, 1.0 - p) }
}

/// The x above which Student's t lies with probability `tail <= 1/2`.
fn upper_quantile(nu: f64, tail: f64) -> f64 {
    let z = -normal_quantile(tail);
    if nu >= MANY_DEGREES {
        let cube = z * z * z;
        let first = (cube + z) / (4.0 * nu);
        return z + first + (5.0 * cube * z * z + 16.0 * cube + 3.0 * z) / (96.0 * nu * nu);
    }
    // Heavier tails: the quantile lies above z.
    let (mut low, mut high) = (z, 2.0 * z + 1.0);
    while student_t_tail(nu, high) > tail {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if student_t_tail(nu, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability that a chi-squared variable with nu degrees of freedom exceeds x.
pub fn chi_squared_tail(nu: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    upper_gamma(0.5 * nu, 0.5 * x)
}

/// `Q(a, x) = Gamma(a, x) / Gamma(a)`: a series below a + 1, a continued fraction above.
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
    // 1/(b_0 - 1 (1 - a)/(b_1 - 2 (2 - a)/(b_2 - ...))) with b_k = x + 1 - a + 2 k
    let b = |k: usize| x + 1.0 - a + 2.0 * k as f64;
    front / lentz(b(0), |k| (-(k as f64) * (k as f64 - a), b(k)))
}

/// `I_x(a, b)`, the regularised incomplete beta function, with `y = 1 - x` given to all its digits.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if x < (a + 1.0) / (a + b + 2.0) {
        front / (a * beta_fraction(a, b, x))
    } else {
        1.0 - front / (b * beta_fraction(b, a, y))
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    lentz(1.0, |k| {
        let m = (k / 2) as f64;
        let numerator = if k % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        (numerator, 1.0)
    })
}

/// `b_0 + a_1/(b_1 + a_2/(b_2 + ...))` by Lentz's algorithm, with `(a_k, b_k) = term(k)`.
fn lentz(first: f64, term: impl Fn(usize) -> (f64, f64)) -> f64 {
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let away = |x: f64| if x.abs() < tiny { tiny } else { x };
    let mut fraction = away(first);
    let (mut c, mut d) = (fraction, 0.0);
    for k in 1..MOST_TERMS {
        let (a, b) = term(k);
        d = 1.0 / away(b + a * d);
        c = away(b + a / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_probabilities() {
        for p in [1e-12, 1e-6, 0.01, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999_999] {
            let back = normal_cdf(normal_quantile(p));
            assert!((back / p - 1.0).abs() < 1e-12, "{back} is not {p}");
            for nu in [1.0, 2.5, 10.0, 300.0] {
                let back = student_t_cdf(nu, student_t_quantile(nu, p));
                assert!((back / p - 1.0).abs() < 1e-9, "{back} is not {p} for {nu}");
            }
        }
        assert_eq!(student_t_quantile(f64::INFINITY, 0.9), normal_quantile(0.9));
    }

    #[test]
    fn closed_forms_are_met() {
        // 2 degrees of freedom: exp(-x/2); 1: the square of a normal variable.
        for x in [0.1_f64, 1.0, 3.84, 20.0, 300.0] {
            let wanted = (-0.5 * x).exp();
            assert!((chi_squared_tail(2.0, x) / wanted - 1.0).abs() < 1e-12, "2 at {x}");
            let wanted = 2.0 * normal_cdf(-x.sqrt());
            assert!((chi_squared_tail(1.0, x) / wanted - 1.0).abs() < 1e-11, "1 at {x}");
            // Cauchy's distribution.
            let wanted = (1.0 / x).atan() / std::f64::consts::PI;
            assert!((student_t_cdf(1.0, -x) / wanted - 1.0).abs() < 1e-12, "t at {x}");
        }
        assert_eq!(chi_squared_tail(3.0, 0.0), 1.0);
        // The expansion takes over without a step.
        let [below, above] =
            [MANY_DEGREES - 1e-6, MANY_DEGREES].map(|nu| student_t_quantile(nu, 0.975));
        assert!((below / above - 1.0).abs() < 1e-10, "{below} and {above}");
    }
}
