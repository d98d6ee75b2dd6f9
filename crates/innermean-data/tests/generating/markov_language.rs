//! Generated sequences and corpora: their bits, that they are what was asked for, and that n-grams
//! are counted.

use innermean_data::{LanguageOptions, generate_language, parse_corpus};

fn checksum(values: &[f64]) -> u64 {
    values
        .iter()
        .fold(0_u64, |sum, x| sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x.to_bits())
}

#[test]
fn shapes_are_those_asked_for_and_parts_have_streams_of_their_own() {
    let options = LanguageOptions { steps: 1050, ..LanguageOptions::default() };
    let language = generate_language(&options);
    assert_eq!((language.classes, language.features, language.labels.len()), (10, 10, 1050));
    assert_eq!(
        (language.lengths.len(), language.lengths[10], language.rows.len()),
        (11, 50, 10_500)
    );
    let again = generate_language(&options);
    assert_eq!(checksum(&again.rows), checksum(&language.rows));
    // More noise leaves the language and what is said alone; another seed does not.
    let louder = generate_language(&LanguageOptions { noise: 1.0, ..options });
    assert_eq!((&louder.labels, &louder.transitions), (&language.labels, &language.transitions));
    assert_ne!(generate_language(&LanguageOptions { seed: 2, ..options }).labels, language.labels);
    assert_eq!(
        language.source,
        "generated: 1050 steps of 10 classes, 10 features, noise 0.25, seed 1"
    );
}

#[test]
fn probabilities_are_those_of_the_chain_and_of_what_is_said() {
    let language =
        generate_language(&LanguageOptions { steps: 40_000, ..LanguageOptions::default() });
    for row in language.transitions.chunks_exact(10) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14 && row.iter().all(|p| *p >= 0.0));
    }
    // Frequencies are kept by the transitions.
    for c in 0..10 {
        let next: f64 =
            (0..10).map(|b| language.frequencies[b] * language.transitions[b * 10 + c]).sum();
        assert!((next - language.frequencies[c]).abs() < 1e-12);
    }
    for order in [2, 3] {
        let (ngrams, p) = language.ngrams(order);
        assert!(ngrams.len() == order * p.len() && p.iter().all(|p| *p > 0.0));
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    // Of 39 600 bigrams one of probability p occurs so often, give or take five deviations
    // (neighbours depend on each other: doubled).
    let (bigrams, p) = language.ngrams(2);
    for (pair, p) in bigrams.chunks_exact(2).zip(p) {
        let windows = language.labels.windows(2).enumerate().filter(|(t, _)| t % 100 != 99);
        let seen = windows.filter(|(_, w)| *w == pair).count() as f64 / 39_600.0;
        assert!((seen - p).abs() <= 10.0 * (p / 39_600.0).sqrt() + 1e-4, "{pair:?}: {seen} {p}");
    }
}

#[test]
fn features_stand_around_class_means_about_one_apart() {
    let options = LanguageOptions { features: 50, noise: 0.1, ..LanguageOptions::default() };
    let language = generate_language(&options);
    let mut means = vec![0.0; 10 * 50];
    let mut counts = [0.0; 10];
    for (row, &c) in language.rows.chunks_exact(50).zip(&language.labels) {
        counts[c as usize] += 1.0;
        means[c as usize * 50..][..50].iter_mut().zip(row).for_each(|(m, x)| *m += x);
    }
    let mean = |c: usize, k: usize| means[c * 50 + k] / counts[c];
    for c in 1..10 {
        let square: f64 = (0..50).map(|k| (mean(c, k) - mean(0, k)).powi(2)).sum();
        assert!((0.5..1.6).contains(&square.sqrt()), "{square}");
    }
    let spread: f64 = language
        .rows
        .chunks_exact(50)
        .zip(&language.labels)
        .map(|(row, &c)| (row[7] - mean(c as usize, 7)).powi(2))
        .sum();
    assert!((spread / 20_000.0 / 0.01 - 1.0).abs() < 0.05);
}

#[test]
fn a_corpus_is_counted_line_by_line() {
    let corpus = parse_corpus(b"b a  a\n\n#\tb a\na\n", "text").expect("a corpus");
    assert_eq!(corpus.names, ["b", "a", "#"]);
    assert_eq!(corpus.lines, [vec![0, 1, 1], vec![2, 0, 1], vec![1]]);
    assert_eq!(corpus.ngrams(2), (vec![0, 1, 1, 1, 2, 0], vec![2, 1, 1]));
    assert_eq!(corpus.ngrams(3), (vec![0, 1, 1, 2, 0, 1], vec![1, 1]));
    let error = parse_corpus(b" \n\n", "text").expect_err("no tokens").to_string();
    assert_eq!(
        error,
        "text: is empty; expected tokens with blanks between them, one sequence a line"
    );
}
