//! The answers, and that labels have no part in them.

use super::*;

#[test]
fn a_classifier_is_found_without_labels() {
    let desk = with_files();
    let answer = desk.json(&format!("{USUAL} --predictions out.csv --all-probabilities"), 0);
    assert_eq!(
        (answer["problem"].as_str(), answer["status"].as_str()),
        (Some("sequences"), Some("solved"))
    );
    assert_eq!(answer["classes"], serde_json::json!(["ab", "ba", "do", "re"]));
    let scores = &answer["scores"];
    assert!(number(&scores["accuracy"]) > 0.9 && number(&scores["ratio"]) > 0.95, "{scores}");
    assert_eq!(scores["labelled_steps"], 1500);
    // The objective is the divergence and the ridge; the cross-entropy is above the entropy by the
    // divergence.
    let theta = numbers(&answer["theta"]);
    let ridge = 1e-4 / 2.0 * theta.iter().map(|t| t * t).sum::<f64>();
    let divergence = number(&answer["divergence"]);
    assert!((number(&answer["objective"]) - divergence - ridge).abs() < 1e-12);
    let above = number(&answer["cross_entropy"]) - number(&answer["entropy"]);
    assert!((above - divergence).abs() < 1e-12 && divergence > 0.0);
    assert_eq!(answer["search"]["starts"].as_array().map(Vec::len), Some(6));
    assert!(number(&answer["search"]["best"]) >= number(&answer["objective"]) - 1e-9);
    // What is written agrees: a row for each of the file, in its order.
    let written = fs::read_to_string(desk.path().join("out.csv")).expect("predictions");
    let rows: Vec<Vec<&str>> = written.lines().map(|line| line.split(',').collect()).collect();
    let header = [
        "sequence",
        "step",
        "predicted",
        "probability",
        "label",
        "p(ab)",
        "p(ba)",
        "p(do)",
        "p(re)",
    ];
    assert_eq!((rows[0].as_slice(), rows.len()), (&header[..], 1501));
    let spoken = spoken();
    let mut right = 0;
    for (t, row) in rows[1..].iter().enumerate() {
        assert_eq!((row[0], row[1]), (&*format!("s{}", t / 30), &*(t % 30).to_string()));
        assert_eq!(row[4], name(spoken.labels[t]));
        right += usize::from(row[2] == row[4]);
        let p: Vec<f64> = row[5..].iter().map(|p| p.parse().expect("a number")).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(p.iter().all(|p| *p <= row[3].parse::<f64>().expect("a number")));
    }
    assert!((right as f64 / 1500.0 - number(&scores["accuracy"])).abs() < 1e-12);
}

/// With other labels, and without any, all but the scores is the same to the last bit.
#[test]
fn labels_score_and_do_nothing_else() {
    let desk = with_files();
    let spoken = spoken();
    let mut answers = Vec::new();
    for truth in [0_u32, 1, 7] {
        let text = steps_csv(&spoken, |t| name((spoken.labels[t] * truth + truth) % 4));
        desk.file("steps.csv", &text);
        answers.push(desk.json(USUAL, 0));
    }
    let unlabelled = steps_csv(&spoken, |t| name(spoken.labels[t]));
    let without: String = unlabelled
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [&cells[..2], &cells[3..]].concat().join(",") + "\n"
        })
        .collect();
    desk.file("steps.csv", &without);
    let answer = desk.json("steps.csv --language-model bigrams.csv --starts 6", 0);
    assert_eq!(answer["scores"], Value::Null);
    answers.push(answer);
    for other in &answers[1..] {
        for field in ["theta", "objective", "divergence", "predicted_frequencies", "calls"] {
            assert_eq!(other[field], answers[0][field], "{field}");
        }
        let tried = |answer: &Value| answer["search"]["starts"].clone();
        assert_eq!(tried(other), tried(&answers[0]));
    }
    assert_ne!(answers[0]["scores"], answers[1]["scores"]);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let desk = with_files();
    let [one, three] = [1, 3].map(|threads| desk.json(&format!("{USUAL} --threads {threads}"), 0));
    assert_eq!(one["theta"], three["theta"]);
    assert_eq!(one["search"]["starts"], three["search"]["starts"]);
    let other = desk.json(&format!("{USUAL} --seed 1"), 0);
    assert_ne!(other["search"]["starts"], one["search"]["starts"]);
    assert!(
        (number(&other["objective"]) - number(&one["objective"])).abs() < 1e-6,
        "the same minimum"
    );
}

#[test]
fn without_a_file_a_language_is_generated() {
    let desk = desk();
    let args = "--generated-steps 1200 --length 40 --classes 3 --features 2 --noise 0.1 --data-seed 4 --starts 4";
    let run = desk.run(args);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for words in [
        "Classifier of 3 classes for 1,200 steps in 30 sequences",
        "(no FILE was given)",
        "best of 4 (2 from clusters, 2 random)",
        "its entropy",
        "accuracy",
    ] {
        assert!(run.out.contains(words), "{words} in {}", run.out);
    }
    let trigrams = desk.json(&format!("{args} --order 3"), 0);
    assert_eq!(trigrams["order"], 3);
    assert!(number(&trigrams["scores"]["ratio"]) > 0.95, "{}", trigrams["scores"]);
}
