//! The generated market: its bits, and its likeness to real ones.

use innermean_data::generate_factor_model;

#[test]
fn bits_are_pinned() {
    let returns = generate_factor_model(7240, 25, 1);
    let checksum = returns
        .values
        .iter()
        .fold(0_u64, |sum, x| sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x.to_bits());
    assert_eq!(returns.row(0)[..5], [-0.13, 0.1, -0.31, -0.03, -0.08]);
    assert_eq!(checksum, 0xfcf8_03e0_d109_493a, "{checksum:#x}");
}

#[test]
fn shape_names_and_source() {
    let returns = generate_factor_model(7240, 25, 1);
    assert_eq!((returns.rows(), returns.assets()), (7240, 25));
    assert_eq!((returns.names[0].as_str(), returns.names[24].as_str()), ("S1B1", "S5B5"));
    assert_eq!(returns.source, "generated: factor model, 7240 rows, 25 assets, seed 1");
    let small = generate_factor_model(3, 7, 1);
    assert_eq!((small.rows(), small.names[6].as_str()), (3, "A07"));
    assert_eq!(generate_factor_model(1, 100, 1).names[0], "A001");
    assert_eq!(generate_factor_model(0, 0, 1).rows(), 0);
    assert_eq!(generate_factor_model(5, 1, 1).values.len(), 5);
    assert_ne!(generate_factor_model(3, 7, 2).values, small.values);
}

#[test]
fn values_have_two_decimals() {
    let returns = generate_factor_model(500, 10, 3);
    assert!(
        returns.values.iter().all(|&x| x == format!("{x:.2}").parse::<f64>().unwrap()
            && (x != 0.0 || x.is_sign_positive()))
    );
}

#[test]
fn statistics_are_those_of_sorted_portfolios() {
    for seed in 1..4 {
        let returns = generate_factor_model(7240, 25, seed);
        let n = returns.rows() as f64;
        for j in 0..25 {
            let column = || returns.values.iter().skip(j).step_by(25);
            let mean = column().sum::<f64>() / n;
            let moment = |power: i32| column().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
            let (deviation, kurtosis) = (moment(2).sqrt(), moment(4) / moment(2).powi(2));
            assert!((0.0..0.1).contains(&mean), "mean {mean}");
            assert!((0.8..1.6).contains(&deviation), "deviation {deviation}");
            assert!((4.0..60.0).contains(&kurtosis), "kurtosis {kurtosis}");
        }
    }
}

#[test]
fn condition_of_the_covariance_is_that_of_real_files() {
    let returns = generate_factor_model(7240, 25, 1);
    let (largest, smallest) = extreme_eigenvalues(&covariance(&returns.values, 25), 25);
    let condition = largest / smallest;
    // 140 to 1300 for 25 sorted portfolios of six regions.
    assert!((140.0..1300.0).contains(&condition), "{condition}");
}

fn covariance(values: &[f64], d: usize) -> Vec<f64> {
    let n = (values.len() / d) as f64;
    let mean: Vec<f64> =
        (0..d).map(|j| values.iter().skip(j).step_by(d).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; d * d];
    for row in values.chunks_exact(d) {
        for j in 0..d {
            for k in 0..d {
                covariance[j * d + k] += (row[j] - mean[j]) * (row[k] - mean[k]) / n;
            }
        }
    }
    covariance
}

/// By power iteration on the matrix `c`, then on `largest - c`.
fn extreme_eigenvalues(c: &[f64], d: usize) -> (f64, f64) {
    let power = |shift: f64| {
        let mut v: Vec<f64> = (0..d).map(|j| 1.0 + (j * j % 7) as f64).collect();
        let mut eigenvalue = 0.0;
        for _ in 0..20_000 {
            let product: Vec<f64> = (0..d)
                .map(|j| {
                    let cv: f64 = (0..d).map(|k| c[j * d + k] * v[k]).sum();
                    if shift > 0.0 { shift * v[j] - cv } else { cv }
                })
                .collect();
            eigenvalue = product.iter().map(|x| x * x).sum::<f64>().sqrt();
            v = product.iter().map(|x| x / eigenvalue).collect();
        }
        eigenvalue
    };
    let largest = power(0.0);
    (largest, largest - power(largest))
}
