//! Fewer points that draw the same curve.
//!
//! An axis is cut into strips, and of the points of a strip the first, the last, the lowest and the
//! highest are kept: if a strip is no wider than what an eye tells apart, the line through these
//! covers what the line through all covers.

/// Which of the points to keep, in their order; `x` does not fall. `strips` are those of an axis;
/// as it may be divided equally or in ratios, both are done, so that at most `8 strips + 1` points
/// are left.
pub(crate) fn thinned(x: &[f64], y: &[f64], strips: usize) -> Vec<usize> {
    let n = x.len().min(y.len());
    if n <= 8 * strips {
        return (0..n).collect();
    }
    let last = x[n - 1];
    let first = x.iter().copied().find(|x| *x > 0.0).unwrap_or(1.0);
    let mut keep = vec![false; n];
    keep[0] = true;
    let equal = |x: f64| (x / last * strips as f64) as usize;
    let ratio = |x: f64| {
        if x <= 0.0 { 0 } else { ((x / first).ln() / (last / first).ln() * strips as f64) as usize }
    };
    for strip_of in [&equal as &dyn Fn(f64) -> usize, &ratio] {
        let mut begin = 0;
        while begin < n {
            let strip = strip_of(x[begin]).min(strips - 1);
            let end = begin
                + x[begin..n].iter().take_while(|x| strip_of(**x).min(strips - 1) == strip).count();
            let end = end.max(begin + 1);
            let extremes = [-1.0, 1.0].map(|sign| extreme(y, begin, end, sign));
            for k in [begin, end - 1].into_iter().chain(extremes.into_iter().flatten()) {
                keep[k] = true;
            }
            begin = end;
        }
    }
    (0..n).filter(|k| keep[*k]).collect()
}

/// The place of the highest (or, with a sign of -1, the lowest) number.
fn extreme(y: &[f64], begin: usize, end: usize, sign: f64) -> Option<usize> {
    (begin..end)
        .filter(|k| y[*k].is_finite())
        .max_by(|a, b| (sign * y[*a]).total_cmp(&(sign * y[*b])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_ends_and_every_peak() {
        let n = 100_000;
        let x: Vec<f64> = (0..n).map(|k| 7.0 * f64::from(k)).collect();
        let mut y: Vec<f64> = (0..n)
            .map(|k| (-f64::from(k) / 7000.0).exp() * (1.5 + (f64::from(k) / 3.0).sin()))
            .collect();
        y[54_321] = 1e3;
        y[76_543] = 1e-12;
        let kept = thinned(&x, &y, 200);
        assert!(kept.len() <= 8 * 200 + 1, "{}", kept.len());
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        for k in [0, 54_321, 76_543, n as usize - 1] {
            assert!(kept.contains(&k), "{k}");
        }
        // In every strip of an axis of equal parts, the extremes are those of the curve.
        for strip in 0..200 {
            let all = (strip * 500)..((strip + 1) * 500);
            let most = |of: &mut dyn Iterator<Item = usize>| of.map(|k| y[k]).fold(0.0, f64::max);
            let least =
                |of: &mut dyn Iterator<Item = usize>| of.map(|k| y[k]).fold(f64::MAX, f64::min);
            let ours = || kept.iter().copied().filter(|k| all.contains(k));
            assert_eq!(most(&mut ours()), most(&mut all.clone()), "{strip}");
            assert_eq!(least(&mut ours()), least(&mut all.clone()), "{strip}");
        }
        // So the beginning is seen on an axis of ratios, too.
        assert!(kept.iter().filter(|k| **k < 100).count() > 50);
    }

    #[test]
    fn short_and_odd_curves_are_left_alone() {
        assert_eq!(thinned(&[], &[], 10), [0_usize; 0]);
        assert_eq!(thinned(&[0.0, 1.0, 1.0], &[1.0, f64::NAN, 0.0], 10), [0, 1, 2]);
        let flat = vec![0.0; 1000];
        assert!(thinned(&flat, &flat, 10).len() <= 81);
        let lost = vec![f64::NAN; 1000];
        let x: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(thinned(&x, &lost, 10).len() <= 81);
    }
}
