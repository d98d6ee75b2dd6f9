//! What tables, language models and corpora may look like.

use super::*;

fn notes(answer: &Value) -> String {
    answer["notes"].to_string()
}

#[test]
fn a_corpus_is_counted_and_trigrams_are_read() {
    let desk = with_files();
    let spoken = spoken();
    let lines: Vec<String> = spoken
        .labels
        .chunks(30)
        .map(|line| line.iter().map(|c| name(*c)).collect::<Vec<_>>().join(" "))
        .collect();
    desk.file("text.txt", &lines.join("\n"));
    let answer = desk.json("steps.csv --corpus text.txt --label truth --starts 6", 0);
    assert!(
        number(&answer["scores"]["ratio"]) > 0.95 && notes(&answer).contains("1,450 n-grams"),
        "{answer}"
    );
    let answer = desk.json("steps.csv --corpus text.txt --order 3 --label truth --starts 6", 0);
    assert!(number(&answer["scores"]["ratio"]) > 0.95 && answer["order"] == 3);
    desk.file("trigrams.csv", &language_csv(&spoken, 3));
    let answer = desk.json("steps.csv --language-model trigrams.csv --label truth --starts 6", 0);
    assert!(number(&answer["scores"]["ratio"]) > 0.95 && answer["order"] == 3);
}

#[test]
fn counts_are_divided_by_their_sum_and_classes_are_sorted_as_numbers() {
    let desk = desk();
    desk.file("steps.csv", "step,x\n1,0\n2,1\n3,0\n4,1\n5,0.1\n6,0.9\n");
    desk.file("counts.csv", "token1,token2,count\n10,9,3\n9,10,3\n10,10,0\n");
    let answer = desk.json("steps.csv --language-model counts.csv --starts 2", 0);
    assert_eq!(
        (&answer["classes"], &answer["ngrams"]),
        (&serde_json::json!(["9", "10"]), &2.into())
    );
    assert!(notes(&answer).contains("divided by their sum, 6"), "{answer}");
    assert!(notes(&answer).contains("all rows are one sequence"), "{answer}");
    desk.file("rounded.csv", "token1,token2,probability\na,b,0.333\nb,a,0.333\na,a,0.333\n");
    let answer = desk.json("steps.csv --language-model rounded.csv --starts 2", 0);
    assert!(notes(&answer).contains("sum to 0.999"), "{answer}");
}

#[test]
fn rows_may_come_in_any_order_and_predictions_follow_the_file() {
    let desk = with_files();
    let text = fs::read_to_string(desk.path().join("steps.csv")).expect("the steps");
    let (header, rows) = text.split_once('\n').expect("a header");
    let mut turned: Vec<&str> = rows.lines().collect();
    turned.reverse();
    desk.file("turned.csv", &format!("{header}\n{}\n", turned.join("\n")));
    let straight = desk.json(&format!("{USUAL} --predictions a.csv"), 0);
    let args = USUAL.replace("steps.csv", "turned.csv");
    let answer = desk.json(&format!("{args} --predictions b.csv"), 0);
    assert!((number(&answer["objective"]) - number(&straight["objective"])).abs() < 1e-6);
    let predicted = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(desk.path().join(file)).expect("predictions");
        text.lines()
            .skip(1)
            .map(|line| line.split(',').take(3).collect::<Vec<_>>().join(","))
            .collect()
    };
    let mut b = predicted("b.csv");
    assert!(b[0].starts_with("s49,29,"), "{}", b[0]);
    b.reverse();
    assert_eq!(predicted("a.csv"), b);
}

#[test]
fn gaps_break_a_sequence_and_short_ones_are_said() {
    let desk = desk();
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    let text = "id,time,x\nu,1,0\nu,2,1\nu,3,0\nu,7,1\nv,5,1\nv,6,0\nw,1,1\n";
    desk.file("gap.csv", text);
    let args = "gap.csv --language-model lm.csv --sequence id --step time --starts 2";
    let answer = desk.json(args, 0);
    // Windows: u 1-2, u 2-3, v 5-6.
    assert_eq!((&answer["n_y"], &answer["sequences"]), (&3.into(), &3.into()));
    assert!(notes(&answer).contains("Gaps between steps: 1"), "{answer}");
    assert!(notes(&answer).contains("fewer than 2 steps: 2"), "{answer}");
    let answer = desk.json(&format!("{args} --gaps ignore"), 0);
    assert_eq!(answer["n_y"], 4);
    assert!(!notes(&answer).contains("Gaps"), "{answer}");
}

#[test]
fn labels_beyond_the_language_are_not_scored() {
    let desk = with_files();
    let spoken = spoken();
    let text =
        steps_csv(&spoken, |t| if t % 10 == 0 { "xy".to_owned() } else { name(spoken.labels[t]) });
    desk.file("steps.csv", &text);
    let answer = desk.json(USUAL, 0);
    assert_eq!(answer["scores"]["labelled_steps"], 1350);
    assert!(notes(&answer).contains("'xy' in 150 rows"), "{answer}");
    // Some without a label at all.
    desk.file("steps.csv", &text.replace(",xy,", ",,"));
    let blank = desk.json(USUAL, 0);
    assert_eq!((&blank["scores"], &blank["theta"]), (&answer["scores"], &answer["theta"]));
    assert!(!notes(&blank).contains("no class"), "{blank}");
    // A column called label is taken for labels, not for a feature.
    desk.file("steps.csv", &text.replacen("truth", "label", 1));
    let answer = desk.json("steps.csv --language-model bigrams.csv --starts 6", 0);
    assert_eq!(
        (&answer["scores"]["labelled_steps"], &answer["features"]),
        (&1350.into(), &serde_json::json!(["x1", "x2", "x3"]))
    );
}

#[test]
fn a_constant_feature_is_said() {
    let desk = desk();
    desk.file("steps.csv", "step,x,one\n1,0,7.1\n2,1,7.1\n3,0,7.1\n4,1,7.1\n");
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    let answer = desk.json("steps.csv --language-model lm.csv --starts 2", 0);
    assert!(notes(&answer).contains("say nothing: one."), "{answer}");
}

#[test]
fn a_column_called_label_is_never_a_feature() {
    let desk = with_files();
    let text = fs::read_to_string(desk.path().join("steps.csv")).expect("the steps");
    let usual = desk.json(USUAL, 0);
    // Numbers, texts and nothing at all.
    for cell in ["7", "ab", ""] {
        let mut lines = text.lines();
        let mut other = lines.next().expect("a header").to_owned() + ",Label\n";
        for (t, line) in lines.enumerate() {
            let _ = writeln!(other, "{line},{}", if t % 3 == 0 { cell } else { "1" });
        }
        desk.file("other.csv", &other);
        let args = USUAL.replace("steps.csv", "other.csv");
        let answer = desk.json(&args, 0);
        assert_eq!(answer["features"], serde_json::json!(["x1", "x2", "x3"]));
        assert_eq!(answer["theta"], usual["theta"]);
        assert!(notes(&answer).contains("no features: 'Label'"), "{answer}");
        assert_eq!(desk.json(&format!("{args} --except label"), 0)["theta"], usual["theta"]);
    }
    desk.file("other.csv", "step,x,truth,label\n1,0,a,0\n2,1,b,1\n3,0,a,0\n");
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    let args = "other.csv --language-model lm.csv --label truth --columns x,label";
    desk.assert_refused(args, &["other.csv", "'label'", "never features"]);
}

#[test]
fn rows_that_were_left_out_break_a_sequence_in_the_order_of_the_file() {
    let desk = desk();
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    // Two sequences, turn by turn; of u the third step is missing, so that v has lost nothing but
    // cannot know it.
    desk.file("steps.csv", "sequence,x\nu,0\nv,1\nu,1\nv,0\nu,\nv,1\nu,1\nv,0\nu,0\nv,1\n");
    let args = "steps.csv --language-model lm.csv --starts 2 --missing drop-rows";
    let answer = desk.json(args, 0);
    assert!(
        notes(&answer).contains("Gaps between steps: 2; no n-gram lies across one"),
        "{answer}"
    );
    let joined = desk.json(&format!("{args} --gaps ignore"), 0);
    assert!(!notes(&joined).contains("Gaps"), "{joined}");
    assert_ne!(answer["objective"], joined["objective"]);
    // Nothing left out, nothing broken, not even by an empty line.
    desk.file("steps.csv", "x\n0\n1\n\n0\n1\n0\n");
    assert!(!notes(&desk.json(args, 0)).contains("Gaps"));
}
