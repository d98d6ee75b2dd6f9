//! Steps in their order, languages with their classes.

use innermean_apps::sequences::{
    Gaps, Language, SequencesError, SequencesSettings, SequencesTask, Steps,
};
use innermean_apps::wording::Note;
use innermean_apps::{Error, Place};

use crate::{fit, keys, names, refused};

fn language(frequencies: &[f64], are_counts: bool) -> Result<Language, Error> {
    let (first, second) = (keys(&["10", "9", "10"]), keys(&["9", "10", "10"]));
    Language::of_columns(&[&first, &second], frequencies, are_counts)
}

#[test]
fn classes_are_ordered_as_numbers_and_frequencies_sum_to_one() {
    let language = language(&[2.0, 1.0, 1.0], true).expect("a language");
    assert_eq!(language.names, names(&["9", "10"]));
    assert_eq!(language.class("10"), Some(1));
    // The first tokens: 9 once, 10 three times; the second: 9 twice.
    let frequencies = language.model.class_frequencies();
    assert!((frequencies.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{frequencies:?}");
}

#[test]
fn languages_that_are_none_are_refused() {
    let error = refused(language(&[0.5, -0.1, 0.6], false));
    assert_eq!(error.place(), Some(Place::Row(1)));
    assert_eq!(refused(language(&[0.0; 3], true)), SequencesError::NoCounts.into());
    assert_eq!(refused(language(&[1.0, 1.0, 1.0], false)), SequencesError::Sum(3.0).into());
    let (first, second) = (keys(&["a", "b", "a"]), keys(&["b", "a", "b"]));
    let twice = Language::of_columns(&[&first, &second], &[1.0; 3], true);
    let ngram = "a b".to_owned();
    assert_eq!(refused(twice), SequencesError::NgramTwice { ngram, first: 0, row: 2 }.into());
}

#[test]
fn steps_are_ordered_and_broken_at_gaps() {
    let sequence = keys(&["s", "t", "s", "t", "s", "s"]);
    let numbers = [3.0, 1.0, 1.0, 2.0, 2.0, 6.0];
    let features = [30.0, 100.0, 10.0, 200.0, 20.0, 60.0];
    let new = |numbers: &[f64], gaps| {
        Steps::new(names(&["x"]), features.to_vec(), Some(&sequence), Some(numbers), None, gaps)
    };
    let steps = new(&numbers, Gaps::Break).expect("steps");
    assert_eq!((&steps.places[..], steps.sequences), (&[2, 4, 0, 5, 1, 3][..], 2));
    assert_eq!((&steps.lengths[..], steps.notes()), (&[3, 1, 2][..], &[Note::Gaps(1)][..]));
    let whole = new(&numbers, Gaps::Ignore).expect("steps");
    assert_eq!((&whole.lengths[..], whole.notes()), (&[4, 2][..], &[][..]));
    let error = refused(new(&[3.0, 1.0, 1.0, 2.0, 3.0, 6.0], Gaps::Break));
    assert_eq!(error.place(), Some(Place::Row(4)));
    assert!(error.to_string().starts_with("step 3 of 's' is in row 1 already"), "{error}");
    // Without numbers a jump of lines is a gap.
    let lines = [1, 2, 3, 5, 6, 7];
    let counted =
        Steps::new(names(&["x"]), features.to_vec(), None, None, Some(&lines), Gaps::Break);
    let counted = counted.expect("steps");
    assert_eq!((&counted.lengths[..], &counted.numbers[..2]), (&[3, 3][..], &[1.0, 2.0][..]));
}

#[test]
fn labels_score_and_teach_nothing() {
    let features: Vec<f64> = (0..60).map(|t| if t % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let labels: Vec<&str> = (0..60).map(|t| if t % 3 == 0 { "9" } else { "10" }).collect();
    let task = |labelled: bool| {
        let language = language(&[1.0, 1.0, 1.0], true).expect("a language");
        let steps = Steps::new(names(&["x"]), features.clone(), None, None, None, Gaps::Break);
        let mut steps = steps.expect("steps");
        if labelled {
            steps = steps.labelled(&keys(&labels), &language).expect("as many");
        }
        SequencesTask::new(steps, language, &SequencesSettings::default()).expect("a task")
    };
    let (with, without) = (fit(&task(true), 1e-6), fit(&task(false), 1e-6));
    assert_eq!(with.solution.theta, without.solution.theta);
    assert!(without.answer.scores.is_none());
    let scores = with.answer.scores.expect("labels");
    assert_eq!(scores.labelled_steps, 60);
    let best = task(true).accuracy_with_labels(None).expect("it is fitted");
    assert_eq!(best, Some(1.0));
    let right = with.answer.probabilities.chunks(2).enumerate();
    let right = right.filter(|(t, p)| (p[1] > p[0]) == (t % 3 != 0)).count();
    assert_eq!(scores.accuracy, right as f64 / 60.0);
    assert_eq!(scores.clone().beside(best).ratio, Some(scores.accuracy));
}
