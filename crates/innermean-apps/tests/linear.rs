//! Linear models against the library by hand.

use innermean::problems::linear::predictors;
use innermean::{Logistic, Problem, Ridge, solve};
use innermean_apps::linear::{
    Classes, LinearAnswer, LinearData, LinearFit, LinearSettings, LinearTask, Loss, Rows, Target,
};
use innermean_apps::run::Task;
use innermean_apps::wording::Note;
use innermean_apps::{Error, Place};
use innermean_data::LinearModel;

use crate::{fit, names, refused};

fn drawn(classes: bool) -> innermean_data::TargetedRows {
    LinearModel { rows: 200, features: 3, classes, seed: 2 }.dense()
}

fn answer(data: LinearData, settings: &LinearSettings) -> LinearAnswer {
    fit(&LinearTask::new(data, settings).expect("settings"), 1e-12).answer
}

#[test]
fn without_scaling_the_answer_is_that_of_the_library() {
    let drawn = drawn(true);
    let target = Target::new(drawn.targets.clone(), Loss::Logistic).expect("two classes");
    let labels = target.numbers().to_vec();
    let rows = Rows::dense(drawn.features.clone());
    let data = LinearData::new(names(&["a", "b", "c"]), rows, target).expect("as many");
    let mut settings = LinearSettings::default();
    (settings.loss, settings.intercept, settings.scaling) = (Loss::Logistic, false, false);
    settings.penalty.l2 = 0.01;
    let task = LinearTask::new(data, &settings).expect("settings");
    let found = fit(&task, 1e-6);
    let problem = Problem {
        inner: predictors(3, drawn.features, vec![0.0; 200]).expect("finite"),
        merit: Logistic::new(labels).expect("labels"),
        regularizer: Ridge::from_weight(0.01).expect("positive"),
    };
    assert_eq!(found.solution.theta, solve(&problem, &[0.0; 3]).expect("solved").theta);
    assert_eq!(found.answer.coefficients, found.solution.theta);
    assert_eq!(found.answer.intercept, None);
    assert!(found.chosen.is_some() && found.method == "newton", "{}", found.method);
}

#[test]
fn scaling_changes_no_answer() {
    let drawn = drawn(false);
    let rows: Vec<f64> =
        drawn.features.chunks(3).flat_map(|x| [x[0], 1e5 * x[1] + 3e5, 1e-4 * x[2]]).collect();
    let mut settings = LinearSettings::default();
    let find = |settings: &LinearSettings| {
        let target = Target::Numbers(drawn.targets.clone());
        let data = LinearData::new(names(&["a", "b", "c"]), Rows::dense(rows.clone()), target);
        let task = LinearTask::new(data.expect("as many"), settings).expect("settings");
        (task.notes(), fit(&task, 1e-12).answer)
    };
    let (notes, scaled) = find(&settings);
    assert_eq!(notes, [Note::Scaled]);
    settings.scaling = false;
    let (notes, plain) = find(&settings);
    assert_eq!(notes, []);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs();
    assert!(scaled.coefficients.iter().zip(&plain.coefficients).all(|(a, b)| near(*a, *b)));
    assert!(near(scaled.intercept.expect("one"), plain.intercept.expect("one")));
    let explained = |answer: &LinearAnswer| match answer.fit {
        LinearFit::Numbers { r_squared, .. } => r_squared.expect("targets differ"),
        LinearFit::Classes { .. } => panic!("numbers"),
    };
    assert!(near(explained(&scaled), explained(&plain)) && explained(&plain) > 0.0);
}

#[test]
fn a_weight_of_two_is_the_row_twice_and_sparse_rows_are_dense_ones() {
    let x = [1.0, 0.0, 0.0, 2.0, 0.5, 0.0, 0.0, -1.0, 3.0, 1.0];
    let y = [1.0, 2.0, -1.0, 0.5, 4.0];
    let weights = vec![1.0, 2.0, 0.0, 1.0, 1.0];
    let settings = LinearSettings::default();
    let of = |rows: Rows, y: &[f64]| {
        LinearData::new(names(&["a", "b"]), rows, Target::Numbers(y.to_vec())).expect("as many")
    };
    let twice: Vec<usize> = vec![0, 1, 1, 3, 4];
    let repeated = of(
        Rows::dense(twice.iter().flat_map(|&i| [x[2 * i], x[2 * i + 1]]).collect::<Vec<_>>()),
        &twice.iter().map(|&i| y[i]).collect::<Vec<_>>(),
    );
    let expected = answer(repeated, &settings);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.chunks(2) {
        for (l, value) in (0..).zip(row).filter(|(_, value)| **value != 0.0) {
            indices.push(l);
            values.push(*value);
        }
        indptr.push(values.len());
    }
    for rows in [Rows::dense(x.to_vec()), Rows::Sparse { indptr, indices, values }] {
        let weighted = of(rows, &y).weighted(weights.clone()).expect("weights");
        assert_eq!(weighted.notes(), [Note::NoWeight(1)]);
        let found = answer(weighted, &settings);
        for (a, b) in found.coefficients.iter().zip(&expected.coefficients) {
            assert!((a - b).abs() < 1e-10, "{found:?} {expected:?}");
        }
        assert!((found.intercept.expect("one") - expected.intercept.expect("one")).abs() < 1e-10);
    }
}

#[test]
fn refusals_name_the_parameter_and_the_place() {
    let data = || {
        let target = Target::Numbers(vec![1.0, 2.0]);
        LinearData::new(names(&["a"]), Rows::dense(vec![0.0, 1.0]), target).expect("as many")
    };
    let mut settings = LinearSettings::default();
    settings.hinge_width = Some(1.0);
    assert_eq!(
        refused(LinearTask::new(data(), &settings)).to_string(),
        "`hinge_width` does nothing without `loss=smoothed-hinge`"
    );
    settings = LinearSettings::default();
    settings.loss = Loss::Logistic;
    assert!(refused(LinearTask::new(data(), &settings)).to_string().contains("two classes"));
    let error = refused(data().weighted(vec![1.0, -3.0]));
    assert_eq!(error.place(), Some(Place::Row(1)));
    let error: Error = Classes::of_numbers(&[1.0, 2.0, 3.0]).expect_err("three").into();
    assert_eq!(error.place(), Some(Place::Data));
    let short = LinearData::new(names(&["a"]), Rows::dense(vec![0.0]), Target::Numbers(vec![]));
    assert_eq!(refused(short), Error::Shape { what: "numbers in the rows", found: 1, expected: 0 });
    let none = LinearData::new(names(&["a"]), Rows::dense(vec![]), Target::Numbers(vec![]));
    refused(LinearTask::new(none.expect("as many"), &LinearSettings::default()));
}

#[test]
fn classes_that_are_separated_are_warned_of() {
    let target = Target::new(vec![0.0, 0.0, 1.0, 1.0], Loss::Logistic).expect("two");
    let rows = Rows::dense(vec![-2.0, -1.0, 1.0, 2.0]);
    let data = LinearData::new(names(&["a"]), rows, target).expect("as many");
    let mut settings = LinearSettings::default();
    settings.loss = Loss::Logistic;
    let found = answer(data.clone(), &settings);
    assert_eq!(found.warning, Some(Note::Separated));
    assert_eq!(found.classes.expect("two").positive, "1");
    settings.penalty.l2 = 0.1;
    assert_eq!(answer(data, &settings).warning, None);
}
