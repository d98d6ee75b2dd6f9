//! What the tests measure the library against: written from the formulas, sharing no code with it.

pub(crate) mod chain;
pub(crate) mod checks;
pub(crate) mod conic;
pub(crate) mod dense;
pub(crate) mod market;
pub(crate) mod newton;
pub(crate) mod process;
pub(crate) mod regression;
pub(crate) mod sparse;
pub(crate) mod toy;

pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
