//! The f of sequence classification: its products, its passes, and what it refuses.

use innermean::draws::Stream;
use innermean::{Fused, Inner, LanguageModel, Merit, Passes, Sequences, Unregularized};

/// Random steps in sequences of these lengths, and a language of every `keep`-th n-gram.
fn sequences(classes: u32, order: usize, keep: usize, lengths: &[usize], seed: u64) -> Sequences {
    let mut draws = Stream::new(seed, 0);
    let all = (classes as usize).pow(order as u32);
    let kept: Vec<usize> = (0..all).filter(|k| k % keep == 0).collect();
    let mut ngrams = Vec::new();
    for k in &kept {
        let digits =
            (0..order).map(|place| (k / (classes as usize).pow(place as u32)) as u32 % classes);
        ngrams.extend(digits.collect::<Vec<_>>().into_iter().rev());
    }
    let weights: Vec<f64> = kept.iter().map(|_| 0.1 + draws.unit()).collect();
    let total: f64 = weights.iter().sum();
    let probabilities: Vec<f64> = weights.iter().map(|w| w / total).collect();
    let language = LanguageModel::new(classes as usize, order, &ngrams, &probabilities).unwrap();
    let steps: usize = lengths.iter().sum();
    let rows: Vec<f64> = (0..3 * steps).map(|_| 2.0 * draws.unit() - 1.0).collect();
    Sequences::new(3, rows.clone(), lengths, language).unwrap()
}

fn theta(f: &Sequences, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, 1);
    (0..f.d()).map(|_| 4.0 * draws.unit() - 2.0).collect()
}

/// Bigrams and trigrams; sequences of every length, too short ones among them, and more than a
/// stretch and a block.
fn cases() -> Vec<Sequences> {
    vec![
        sequences(3, 2, 1, &[5, 1, 2, 7], 1),
        sequences(4, 2, 3, &[1, 300, 2, 290], 2),
        sequences(3, 3, 2, &[2, 3, 9, 1, 4], 3),
        sequences(5, 3, 4, &[700, 2, 3, 3], 4),
    ]
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

/// The product as a textbook writes it, for the steps from t on.
fn textbook(
    f: &Sequences,
    theta: &[f64],
    row: impl Fn(usize) -> Vec<f64>,
    i: usize,
    t: usize,
) -> f64 {
    let ngram = f.language().ngram(i);
    let factors = ngram.iter().enumerate().map(|(k, &class)| {
        let mut x = row(t + k);
        x.push(1.0);
        let odds: Vec<f64> = theta
            .chunks(f.width())
            .map(|c| c.iter().zip(&x).map(|(c, x)| c * x).sum::<f64>().exp())
            .collect();
        odds[class as usize] / odds.iter().sum::<f64>()
    });
    factors.product::<f64>() * (f.n_x() as f64 / f.language().probabilities()[i]).sqrt()
}

#[test]
fn values_are_products_of_class_probabilities_within_a_sequence() {
    let language = LanguageModel::new(2, 2, &[0, 1, 1, 1], &[0.25, 0.75]).unwrap();
    let rows = [0.5, -1.0, 2.0, 0.1, 0.3];
    let f = Sequences::new(1, rows.to_vec(), &[2, 3], language).unwrap();
    assert_eq!((f.n_x(), f.n_y(0), f.n_y(1), f.d(), f.ell()), (2, 3, 3, 4, 1));
    let theta = [0.7, -0.2, -0.4, 0.3];
    // No window holds the second and the third step.
    for (j, t) in [0, 2, 3].into_iter().enumerate() {
        for i in 0..2 {
            let mut value = [0.0];
            f.value(&theta, i, j, &mut value);
            let expected = textbook(&f, &theta, |t| vec![rows[t]], i, t);
            assert!((value[0] - expected).abs() < 1e-14, "{value:?} {expected}");
        }
    }
}

#[test]
fn products_match_central_differences() {
    for (case, f) in cases().iter().enumerate() {
        let theta = theta(f, 5);
        for (i, j) in [(0, 0), (f.n_x() - 1, f.n_y(0) - 1), (f.n_x() / 2, f.n_y(0) / 3)] {
            let mut slope = vec![0.0; f.d()];
            f.add_jac_t(&theta, i, j, &[2.0], 1.5, &mut slope);
            let at = |l: usize, step: f64| {
                let (mut moved, mut value) = (theta.clone(), [0.0]);
                moved[l] += step;
                f.value(&moved, i, j, &mut value);
                3.0 * value[0]
            };
            let differences: Vec<f64> =
                (0..f.d()).map(|l| (at(l, 1e-5) - at(l, -1e-5)) / 2e-5).collect();
            assert!(close(&slope, &differences, 1e-8), "case {case}: {slope:?} {differences:?}");
        }
    }
}

#[test]
fn passes_are_the_sums_over_pairs() {
    for (case, f) in cases().iter().enumerate() {
        let (d, n_x, n_y) = (f.d(), f.n_x(), f.n_y(0));
        let theta = theta(f, 6);
        let mut draws = Stream::new(9, 2);
        let w: Vec<f64> = (0..n_x).map(|_| 2.0 * draws.unit() - 1.0).collect();
        let (mut means, mut jacobians, mut weighted) =
            (vec![0.0; n_x], vec![0.0; n_x * d], vec![0.0; d]);
        for i in 0..n_x {
            for j in 0..n_y {
                let mut value = [0.0];
                f.value(&theta, i, j, &mut value);
                means[i] += value[0] / n_y as f64;
                f.add_jac_t(
                    &theta,
                    i,
                    j,
                    &[1.0],
                    1.0 / n_y as f64,
                    &mut jacobians[i * d..(i + 1) * d],
                );
                f.add_jac_t(&theta, i, j, &w[i..=i], 1.0 / (n_x * n_y) as f64, &mut weighted);
            }
        }
        let mut out = vec![7.0; n_x];
        f.means(&theta, &mut out).unwrap();
        assert!(close(&out, &means, 1e-12), "case {case}");
        for i in 0..n_x {
            f.mean(&theta, i, &mut [0.0], &mut out[i..=i]);
        }
        assert!(close(&out, &means, 1e-12), "case {case}");
        let largest = jacobians
            .chunks(d)
            .map(|row| row.iter().map(|x| x * x).sum::<f64>())
            .fold(0.0, f64::max);
        let estimate = f.f().mean_jacobian_size(&theta).unwrap();
        assert!(
            estimate <= largest.sqrt() * 1.01 && estimate >= 0.5 * largest.sqrt(),
            "case {case}"
        );
        let mut out = vec![7.0; n_x * d];
        f.mean_jacobians(&theta, &mut out).unwrap();
        assert!(close(&out, &jacobians, 1e-11), "case {case}");
        let mut out = vec![0.0; d];
        f.add_mean_jac_t(&theta, n_x - 1, &[-0.5], 2.0, &mut out);
        let expected: Vec<f64> = jacobians[(n_x - 1) * d..].iter().map(|x| -x).collect();
        assert!(close(&out, &expected, 1e-11), "case {case}");
        let mut out = vec![1.0; d];
        f.add_weighted_jac_t(&theta, &w, &mut out).unwrap();
        let expected: Vec<f64> = weighted.iter().map(|x| 1.0 + x).collect();
        assert!(close(&out, &expected, 1e-11), "case {case}");
        let (mut f_bar, mut u) = (vec![0.0; n_x], vec![3.0; d]);
        f.snapshot(&theta, &w, &mut f_bar, &mut u).unwrap();
        assert!(close(&f_bar, &means, 1e-12) && close(&u, &weighted, 1e-11), "case {case}");
    }
}

#[test]
fn the_check_of_a_problem_finds_nothing() {
    for f in [sequences(3, 2, 1, &[5, 1, 2, 7], 1), sequences(3, 3, 2, &[2, 3, 9, 1, 4], 3)] {
        let problem = f.problem(innermean::Ridge::from_weight(0.1).unwrap()).unwrap();
        let report = innermean::check_problem(&problem, &innermean::CheckOptions::default());
        assert!(report.is_ok(), "{report}");
    }
}

#[test]
fn passes_have_the_same_bits_on_any_number_of_threads() {
    let f = sequences(6, 3, 5, &[999, 2, 1500, 700], 8);
    let theta = theta(&f, 3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut f_bar, mut u) = (vec![0.0; f.n_x()], vec![0.0; f.d()]);
            let w: Vec<f64> = (0..f.n_x()).map(|i| 1.0 - i as f64).collect();
            f.snapshot(&theta, &w, &mut f_bar, &mut u).unwrap();
            (f_bar, u, f.probabilities(&theta))
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn class_probabilities_are_those_of_the_softmax_also_for_scores_out_of_range() {
    let f = sequences(4, 2, 1, &[3, 400], 4);
    for scale in [1.0, 1e3, 1e6] {
        let theta: Vec<f64> = theta(&f, 2).iter().map(|t| scale * t).collect();
        let p = f.probabilities(&theta);
        assert_eq!(p.len(), 4 * 403);
        for row in p.chunks_exact(4) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14 && row.iter().all(|p| *p >= 0.0));
        }
    }
}

/// The cost is the Kullback-Leibler divergence: 0 where every n-gram is predicted as often as it
/// should be.
#[test]
fn a_perfect_classifier_has_no_cost() {
    // Labels a b a b ... with features that tell: bigrams (0, 1) four times in seven, (1, 0) three
    // times.
    let rows: Vec<f64> = (0..8).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let language =
        LanguageModel::new(2, 2, &[1, 0, 0, 1, 1, 1], &[3.0 / 7.0, 4.0 / 7.0, 0.0]).unwrap();
    assert_eq!(
        (language.len(), language.ngram(0)),
        (2, &[0, 1][..]),
        "no n-gram of probability 0 is kept"
    );
    assert_eq!(language.class_frequencies(), [0.5, 0.5]);
    let problem =
        Sequences::new(1, rows.clone(), &[8], language).unwrap().problem(Unregularized).unwrap();
    assert!(problem.objective(&[50.0, 0.0, -50.0, 0.0]).abs() < 1e-14);
    // With the classes the other way round, three windows of seven where four are expected.
    let swapped: f64 = 4.0 / 7.0 * (4.0_f64 / 3.0).ln() + 3.0 / 7.0 * (3.0_f64 / 4.0).ln();
    assert!((problem.objective(&[-50.0, 0.0, 50.0, 0.0]) - swapped).abs() < 1e-14);
    // A classifier that knows nothing says each of the four bigrams a quarter of the time.
    let entropy = problem.inner.language().entropy();
    assert!((problem.objective(&[0.0; 4]) - (4.0_f64.ln() - entropy)).abs() < 1e-14);
    assert!(problem.merit.gamma() > 0.0 && problem.merit.is_exact_at(&[1.0, 1.0]));
    // At best all phi are equally curved, with slopes -s_i.
    let units = [8.0_f64 / 7.0, 6.0 / 7.0].map(f64::sqrt);
    for (i, s) in units.into_iter().enumerate() {
        let mut slope = [0.0; 3];
        for (slope, u) in slope.iter_mut().zip([s - 1e-6, s, s + 1e-6]) {
            problem.merit.gradient(i, &[u], std::slice::from_mut(slope));
        }
        assert!((slope[1] + s).abs() < 1e-12 && ((slope[2] - slope[0]) / 2e-6 - 1.0).abs() < 1e-6);
    }
}

/// Where the origin is stationary by symmetry, an ordinary point is not.
#[test]
fn a_language_of_equal_classes_has_a_measure_too() {
    use innermean::evaluate::{Evaluator, Known};
    let language = LanguageModel::new(3, 2, &[0, 1, 1, 2, 2, 0], &[1.0 / 3.0; 3]).unwrap();
    let rows: Vec<f64> = (0..300).map(|t| [1.0, 0.2, -1.2][t % 3]).collect();
    let problem =
        Sequences::new(1, rows.clone(), &[300], language).unwrap().problem(Unregularized).unwrap();
    let mut gradient = vec![0.0; 6];
    problem.gradient(&[0.0; 6], &mut gradient);
    assert!(gradient.iter().all(|g| g.abs() < 1e-2), "{gradient:?}");
    let mut evaluator = Evaluator::new(&problem);
    let ordinary = problem.inner.ordinary_point().unwrap();
    let mut stationarity = |theta: &[f64]| {
        let certificate = evaluator.evaluate(theta, Known::default()).certificate;
        assert_eq!(certificate.reason, Some(innermean::Reason::NotConvex));
        certificate.relative.unwrap()
    };
    assert!(stationarity(&ordinary) > 0.1);
    assert!(stationarity(&[0.0; 6]) < 0.1);
}

#[test]
fn what_makes_no_sense_is_refused_and_quoted() {
    let language = |order, ngrams: &[u32], p: &[f64]| {
        LanguageModel::new(3, order, ngrams, p).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(language(4, &[], &[]), "order = 4, expected 2 or 3");
    assert_eq!(
        language(2, &[0, 1, 2], &[1.0]),
        "ngrams = 3 classes for 1 probabilities, expected 2 classes for each"
    );
    assert_eq!(language(2, &[0, 1, 0, 3], &[0.5, 0.5]), "ngrams[1] = 3, expected classes below 3");
    assert_eq!(
        language(2, &[0, 1, 0, 1], &[0.5, 0.5]),
        "ngrams[1] = [0, 1], expected each n-gram once"
    );
    assert_eq!(
        language(2, &[0, 1, 0, 0], &[1.5, -0.5]),
        "probabilities[1] = -0.5, expected a number from 0 to 1"
    );
    assert_eq!(language(2, &[0, 1], &[0.5]), "probabilities = a sum of 0.5, expected a sum of 1");
    let model = LanguageModel::new(2, 2, &[0, 1], &[1.0]).unwrap();
    let refused = |features, rows: &[f64], lengths: &[usize]| {
        Sequences::new(features, rows.to_vec(), lengths, model.clone()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(2, &[1.0; 5], &[3]),
        "rows = 5 numbers for 3 steps of 2 features, expected at least one feature, and all for each step"
    );
    assert_eq!(
        refused(1, &[1.0, f64::NAN], &[2]),
        "rows = NaN at step 1, feature 0, expected finite numbers"
    );
    assert_eq!(
        refused(1, &[1.0, 2.0], &[1, 1]),
        "lengths = at most 1, expected a sequence of at least 2 steps, as the n-grams have"
    );
}
