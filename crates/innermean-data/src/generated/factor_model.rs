//! Returns without a file: a small market whose statistics resemble those of sorted stock
//! portfolios.
//!
//! With three factors (market, size, value) the return of asset `j` on day `t`, in percent, is
//!
//! ```text
//! r_tj = m_j + sqrt(h_t) tau_t (beta_j' D z_t) + sqrt((1 + h_t) / 2) sigma_j e_tj
//! ```
//!
//! `D` holds the factors' deviations, `z_t` is standard normal, `tau_t` makes it Student t with 5
//! degrees of freedom (one `tau` for all factors: they have their bad days together), `e_tj` is
//! Student t of its own, both of variance one, and the variance `h_t` of the market wanders slowly
//! around one, a GARCH(1,1) with `x_t` the market's shock: `h_{t+1} = 1 - a - b + (a x_t^2 + b)
//! h_t`.
//!
//! The same seed gives the same bits on every machine: only + - * / and the square root are used,
//! which IEEE 754 rounds exactly; logarithms and cosines are left to platforms' libraries, which
//! differ in the last bit.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::tables::missing::Dropped;
use crate::tables::returns::Returns;

/// Standard deviations of the factors, in percent a day.
const FACTOR_DEVIATION: [f64; 3] = [1.05, 0.55, 0.45];
/// Mean returns of the factors, in percent a day.
const FACTOR_PREMIUM: [f64; 3] = [0.035, 0.004, 0.012];
/// How much of a day's squared shock passes on to the variance of the next day.
const SHOCK_TO_VARIANCE: f64 = 0.06;
/// How much of the variance stays.
const VARIANCE_TO_VARIANCE: f64 = 0.92;
/// Days before the first row, in which the variance forgets where it started.
const WARM_UP: usize = 250;

/// What distinguishes one asset.
struct Asset {
    beta: [f64; 3],
    /// Standard deviation of its own noise.
    sigma: f64,
    mean: f64,
}

/// Draws `rows` days of percent returns of `assets` portfolios, rounded to two decimals.
///
/// With 25 assets they are the cells of a 5x5 sort, `S1B1` (small, growth) to `S5B5` (big, value).
/// The size and the spread of the covariance's eigenvalues, the mean returns and the fat tails are
/// those of such portfolios of the last decades; the usual table has 7240 rows. The factors of a
/// seed do not depend on the number of assets.
pub fn generate_factor_model(rows: usize, assets: usize, seed: u64) -> Returns {
    let stream = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        rng
    };
    let (mut common, mut own) = (stream(0), stream(1));
    let market: Vec<Asset> = (0..assets).map(|j| asset(j, assets)).collect();
    let mut values = Vec::with_capacity(rows * assets);
    let mut h = 1.0;
    for day in 0..rows + WARM_UP {
        let tau = student_scale(&mut common);
        let x: [f64; 3] = std::array::from_fn(|_| tau * normal(&mut common));
        if day >= WARM_UP {
            let (factor_volatility, own_volatility) = (f64::sqrt(h), f64::sqrt(0.5 * (1.0 + h)));
            for asset in &market {
                let mut shock = 0.0;
                for k in 0..3 {
                    shock += asset.beta[k] * FACTOR_DEVIATION[k] * x[k];
                }
                let noise = asset.sigma * student_scale(&mut own) * normal(&mut own);
                values.push(to_cents(
                    asset.mean + factor_volatility * shock + own_volatility * noise,
                ));
            }
        }
        h = (1.0 - SHOCK_TO_VARIANCE - VARIANCE_TO_VARIANCE)
            + (SHOCK_TO_VARIANCE * x[0] * x[0] + VARIANCE_TO_VARIANCE) * h;
    }
    Returns {
        names: names(assets),
        dates: None,
        values,
        source: format!("generated: factor model, {rows} rows, {assets} assets, seed {seed}"),
        dropped: Dropped::default(),
        notes: Vec::new(),
    }
}

/// Asset `j` on a square grid of size and value.
fn asset(j: usize, assets: usize) -> Asset {
    let side = (1..=assets).find(|side| side * side >= assets).unwrap_or(1);
    let position = |k: usize| if side > 1 { k as f64 / (side - 1) as f64 } else { 0.5 };
    let (size, value) = (position(j / side), position(j % side));
    // Growth moves a little more with the market; small and value stocks load on their factors.
    let beta = [1.08 - 0.2 * value + 0.08 * value * value, 1.05 - 1.2 * size, -0.5 + 1.1 * value];
    // Scattered over the grid (7 and the usual 25 have no common divisor); many small, a few large.
    let scatter = ((7 * j + 3) % assets) as f64 / assets as f64;
    let sigma = 0.18 + 0.4 * scatter * scatter;
    // Small growth portfolios have always earned less than their factors say.
    let alpha =
        if size < 0.2 && value < 0.2 { -0.012 } else { 0.004 * (0.5 - size) * (value - 0.5) };
    let mean = 0.008 + alpha + (0..3).map(|k| beta[k] * FACTOR_PREMIUM[k]).sum::<f64>();
    Asset { beta, sigma, mean }
}

fn names(assets: usize) -> Vec<String> {
    if assets == 25 {
        return (0..25).map(|j| format!("S{}B{}", j / 5 + 1, j % 5 + 1)).collect();
    }
    let width = assets.to_string().len().max(2);
    (1..=assets).map(|j| format!("A{j:0width$}")).collect()
}

/// Nearly standard normal: the sum of 12 uniforms has variance one, and whole numbers add up
/// without rounding.
///
/// Its tails end at 6 deviations; the fat tails asked for come from [`student_scale`].
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let mut sum = 0_u64;
    for _ in 0..3 {
        let word = rng.next_u64();
        sum += (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
    }
    (sum as f64 - 6.0 * 65535.0) / 65536.0
}

/// What turns a normal into a Student t with 5 degrees of freedom of variance one: `sqrt(3 /
/// chi^2_5)`.
fn student_scale(rng: &mut ChaCha8Rng) -> f64 {
    let mut chi_squared = 0.0;
    for _ in 0..5 {
        let z = normal(rng);
        chi_squared += z * z;
    }
    // At most 17, which one draw in two million would exceed.
    f64::sqrt(3.0 / f64::max(chi_squared, 0.01))
}

/// Two decimals, as in French's files, and no negative zero.
fn to_cents(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}
