//! Two vectors that should be equal, and the usual reasons why they are not.

/// Coordinates that count as equal: relative to the larger of the two vectors' largest numbers.
pub(super) fn equal(got: &[f64], expected: &[f64], tolerance: f64, slack: f64) -> bool {
    let size = largest(got).max(largest(expected));
    got.iter().zip(expected).all(|(g, e)| (g - e).abs() <= tolerance * size + slack)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).fold(0.0, f64::max)
}

/// How `got` differs from `expected`, as the end of a sentence that begins with the call's name:
/// "is 2 times what ... give". `factors` are numbers of the problem that may have been forgotten,
/// with their names.
pub(super) fn describe(
    got: &[f64],
    expected: &[f64],
    source: &str,
    factors: &[(&str, f64)],
    tolerance: f64,
) -> String {
    if got.iter().any(|x| x.is_nan()) {
        let l = got.iter().position(|x| x.is_nan()).unwrap_or(0);
        return format!(
            "leaves coordinate {l} unwritten or makes it NaN, where {source} {}",
            number(expected[l])
        );
    }
    let zero = |x: &[f64]| largest(x) <= tolerance * (largest(got) + largest(expected));
    if zero(got) {
        return format!("is zero where {source} {}", first_large(expected));
    }
    let squares: f64 = expected.iter().map(|e| e * e).sum();
    let ratio = got.iter().zip(expected).map(|(g, e)| g * e).sum::<f64>() / squares;
    let scaled: Vec<f64> = expected.iter().map(|e| ratio * e).collect();
    let proportional =
        !zero(expected) && expected.len() > 1 || expected.len() == 1 && ratio.is_finite();
    if proportional && equal(got, &scaled, 20.0 * tolerance, 0.0) {
        if (ratio + 1.0).abs() <= 20.0 * tolerance {
            return format!("has the opposite sign of what {source}: a sign?");
        }
        let close = |factor: f64| (ratio / factor - 1.0).abs() <= 20.0 * tolerance && factor != 1.0;
        for (name, factor) in factors {
            if close(*factor) {
                return format!(
                    "is {name} = {} times what {source}: a division by {name} left out?",
                    number(*factor)
                );
            }
            if close(1.0 / factor) {
                return format!(
                    "is 1/{name} = {} of what {source}: divided by {name} once too often?",
                    number(1.0 / factor)
                );
            }
        }
        return format!("is {} times what {source}: a factor?", number(ratio));
    }
    let size = largest(got).max(largest(expected));
    let worst = (0..got.len()).max_by(|&a, &b| {
        let miss = |l: usize| (got[l] - expected[l]).abs() / size;
        miss(a).total_cmp(&miss(b))
    });
    let l = worst.unwrap_or(0);
    format!("has {} in coordinate {l}, where {source} {}", number(got[l]), number(expected[l]))
}

/// The first coordinate that is far from zero.
fn first_large(x: &[f64]) -> String {
    let l = (0..x.len()).max_by(|&a, &b| x[a].abs().total_cmp(&x[b].abs())).unwrap_or(0);
    format!("{} in coordinate {l}", number(x[l]))
}

/// Six digits, no more.
pub(super) fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        let text = format!("{x:.6}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    } else {
        format!("{x:.5e}")
    }
}
