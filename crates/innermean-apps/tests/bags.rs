//! Groups with labels against the library by hand.

use std::sync::Arc;

use innermean::{Bags, Bernoulli, FreeTail, Groups, Link, Problem, Ridge, solve};
use innermean_apps::Place;
use innermean_apps::bags::{
    BagAnswer, BagData, BagLink, BagLoss, BagSettings, BagTask, GroupLabels, LabelWeights,
    Memberships, RowScores,
};
use innermean_apps::wording::Note;

use crate::{fit, keys, names, refused};

const ROWS: [f64; 7] = [-1.0, 0.5, 0.25, 1.0, 2.0, -0.5, 0.75];

fn labels(values: &[f64]) -> GroupLabels {
    let groups = names(&["a", "b", "c"][..values.len()]);
    GroupLabels {
        names: names(&["share"]),
        groups,
        values: values.to_vec(),
        ..GroupLabels::default()
    }
}

#[test]
fn the_answer_is_that_of_the_library() {
    let groups = keys(&["a", "a", "b", "b", "b", "c", "c"]);
    let mut settings = BagSettings::default();
    (settings.intercept, settings.scaling) = (false, false);
    settings.penalty.l2 = 0.01;
    let shares = [0.3, 0.8, 0.4];
    let data = BagData::new(names(&["x"]), &groups, labels(&shares), settings.link);
    let task = BagTask::new(data.expect("labels"), ROWS.to_vec(), &settings).expect("settings");
    let found = fit(&task, 1e-6);
    let groups = Groups::new(1, ROWS.to_vec(), vec![0, 2, 5, 7], false).expect("groups");
    let problem = Problem {
        inner: Bags::new(groups, Link::Logistic),
        merit: Bernoulli::new(shares.to_vec()).expect("proportions"),
        regularizer: Ridge::from_weight(0.01).expect("positive"),
    };
    assert_eq!(found.solution.theta, solve(&problem, &[0.0]).expect("solved").theta);
    assert_eq!(found.answer.predictions, problem.inner.predictions(&found.solution.theta));
}

/// Rows of more than 16 MB stay where they are, in any order of their groups, with the same answer.
#[test]
fn many_rows_are_not_copied() {
    let (width, count) = (64, 3);
    let rows = (1 << 21) / width + 1;
    let drawn = innermean_data::LinearModel { rows, features: width, classes: false, seed: 4 };
    let features = drawn.dense().features;
    let weight = |row: usize| [1.0, 0.5, 2.0, 0.0][row % 4];
    let mut groups = keys(&["a", "b", "c"]);
    groups.codes = (0..rows).map(|row| (row % 5 % count) as u32).collect();
    let mut settings = BagSettings::default();
    (settings.intercept, settings.scaling) = (true, false);
    settings.penalty.l2 = 0.01;
    let shares = [0.3, 0.8, 0.4];
    let columns = (0..width).map(|l| format!("x{l}")).collect();
    let shared = Arc::new(features.clone());
    let data = BagData::new(columns, &groups, labels(&shares), settings.link)
        .and_then(|data| data.weighted((0..rows).map(weight).collect()))
        .expect("labels");
    let task = BagTask::new(data, Arc::clone(&shared), &settings).expect("settings");
    assert!(Arc::strong_count(&shared) > 1);
    let found = fit(&task, 1e-12);
    let (mut sorted, mut weights, mut starts) = (Vec::new(), Vec::new(), vec![0]);
    for group in 0..count as u32 {
        let own = (0..rows).filter(|&row| groups.codes[row] == group && weight(row) > 0.0);
        for row in own {
            sorted.extend_from_slice(&features[row * width..(row + 1) * width]);
            weights.push(weight(row));
        }
        starts.push(weights.len());
    }
    let groups = Groups::new(width, sorted, starts, true).expect("groups");
    let inner = Bags::new(groups.with_weights(&weights).expect("weights"), Link::Logistic);
    let problem = Problem {
        inner,
        merit: Bernoulli::new(shares.to_vec()).expect("proportions"),
        regularizer: FreeTail::new(Ridge::from_weight(0.01).expect("positive"), width),
    };
    let expected = problem.objective(&found.solution.theta);
    assert!((found.solution.objective - expected).abs() < 1e-12);
    assert_eq!(found.answer.predictions.len(), rows);
}

#[test]
fn groups_on_one_side_alone_are_left_out_and_predicted() {
    let groups = keys(&["z", "a", "b", "b", "a", "z", "z"]);
    let data = BagData::new(names(&["x"]), &groups, labels(&[0.3, 0.8, 0.4]), BagLink::Logistic)
        .expect("two groups are labelled");
    assert_eq!(data.group_names(), names(&["a", "b", "z"]));
    assert_eq!(
        data.notes(),
        [
            Note::Unlabelled { groups: 1, example: "z".to_owned(), rows: 3 },
            Note::WithoutRows { groups: 1, example: "c".to_owned() }
        ]
    );
    let mut settings = BagSettings::default();
    settings.penalty.l2 = 0.1;
    let task = BagTask::new(data, ROWS.to_vec(), &settings).expect("settings");
    let answer = fit(&task, 1e-6).answer;
    assert_eq!((answer.groups, answer.rows, answer.predictions.len()), (2, 4, 7));
    assert!(fit(&task.without_rows(), 1e-6).answer.predictions.is_empty());
}

#[test]
fn rows_with_labels_of_their_own_are_scored() {
    let groups = keys(&["a", "a", "b", "b", "b", "c", "c"]);
    let data = BagData::new(names(&["x"]), &groups, labels(&[0.5, 0.9, 0.5]), BagLink::Logistic)
        .and_then(|data| {
            data.with_row_texts(&keys(&["0", "1", "", "1", "1", "0", "1"]), BagLink::Logistic)
        });
    let mut settings = BagSettings::default();
    settings.penalty.l2 = 0.01;
    let task = BagTask::new(data.expect("labels"), ROWS.to_vec(), &settings).expect("settings");
    let scores = fit(&task, 1e-6).answer.row_scores.expect("labels of rows");
    // Positive rows have the larger features.
    assert_eq!((scores.rows, scores.auc), (6, Some(1.0)));
}

#[test]
fn refusals_name_the_parameter_and_the_place() {
    let groups = keys(&["a", "b"]);
    let new = |link, labels| refused(BagData::new(names(&["x"]), &groups, labels, link));
    let error = new(BagLink::Logistic, labels(&[0.3, 80.0]));
    assert_eq!(error.place(), Some(Place::Group(1)));
    assert!(error.to_string().contains("divided by 100"), "{error}");
    let error = new(BagLink::Exp, labels(&[3.0, -1.0]));
    assert!(error.to_string().contains("expected a count"), "{error}");
    assert_eq!(new(BagLink::Softmax, labels(&[0.3, 0.8])).place(), Some(Place::Data));
    let mut settings = BagSettings::default();
    (settings.link, settings.loss) = (BagLink::Exp, Some(BagLoss::Square));
    assert_eq!(
        refused(settings.loss()).to_string(),
        "`loss=square`: does not go with `link=exp`; expected poisson"
    );
    let data = BagData::new(names(&["x"]), &groups, labels(&[0.3, 0.8]), BagLink::Logistic);
    let error =
        refused(data.expect("labels").with_row_texts(&keys(&["1", "x"]), BagLink::Logistic));
    assert_eq!(error.place(), Some(Place::Row(1)));
}

/// A settled fit: coefficients to 1e-12.
fn settled(data: BagData, rows: &[f64], l2: f64) -> innermean_apps::run::Fit<BagAnswer> {
    let mut settings = BagSettings::default();
    settings.penalty.l2 = l2;
    fit(&BagTask::new(data, rows.to_vec(), &settings).expect("settings"), 1e-14)
}

fn assert_same(a: &innermean_apps::run::Fit<BagAnswer>, b: &innermean_apps::run::Fit<BagAnswer>) {
    let (x, y) = (&a.solution, &b.solution);
    assert!((x.objective - y.objective).abs() <= 1e-12 * y.objective, "{x:?}\n{y:?}");
    for (x, y) in x.theta.iter().zip(&y.theta) {
        assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{x} {y}");
    }
    let (x, y) = (&a.answer.group_fit, &b.answer.group_fit);
    assert!((x.mean_absolute_error - y.mean_absolute_error).abs() <= 1e-12);
}

/// A census table: a row is a cell of persons who are alike.
#[test]
fn cells_with_counts_are_persons() {
    let cells = keys(&["a", "a", "b", "b", "b", "c", "c"]);
    let counts = [3.0, 1.0, 2.0, 4.0, 1.0, 5.0, 2.0];
    let truth = ["0", "1", "0", "1", "1", "0", "1"];
    let of = |groups: &innermean_data::Keys| {
        BagData::new(names(&["x"]), groups, labels(&[0.3, 0.8, 0.4]), BagLink::Logistic)
            .expect("labels")
    };
    let data = of(&cells).weighted(counts.to_vec()).expect("weights");
    let data = data.with_row_texts(&keys(&truth), BagLink::Logistic).expect("labels of rows");
    let data = data.averaged_by(keys(&["m", "w", "m", "w", "m", "w", "m"])).expect("a column");
    let weighted = settled(data, &ROWS, 0.01);
    let each = |k: usize| std::iter::repeat_n(k, counts[k] as usize);
    let persons: Vec<usize> = (0..7).flat_map(each).collect();
    let of_persons = |texts: &[&'static str]| -> Vec<&'static str> {
        persons.iter().map(|&k| texts[k]).collect()
    };
    let groups = keys(&of_persons(&["a", "a", "b", "b", "b", "c", "c"]));
    let rows: Vec<f64> = persons.iter().map(|&k| ROWS[k]).collect();
    let data = of(&groups).with_row_texts(&keys(&of_persons(&truth)), BagLink::Logistic);
    let data = data.expect("labels of rows");
    let data = data.averaged_by(keys(&of_persons(&["m", "w", "m", "w", "m", "w", "m"])));
    let repeated = settled(data.expect("a column"), &rows, 0.01);
    assert_same(&weighted, &repeated);
    let scores = |found: &innermean_apps::run::Fit<BagAnswer>| {
        let scores = found.answer.row_scores.clone().expect("scores");
        [scores.accuracy.expect("classes"), scores.auc.expect("both classes")]
    };
    for (a, b) in scores(&weighted).into_iter().zip(scores(&repeated)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    let (a, b) = (&weighted.answer.averages[0].values, &repeated.answer.averages[0].values);
    for (a, b) in a.iter().zip(b) {
        assert_eq!((&a.value, a.weight), (&b.value, b.rows as f64));
        assert!((a.prediction[0] - b.prediction[0]).abs() < 1e-12);
    }
    // By size, a group of 7 persons counts as one of 7 rows.
    let by_size = |groups: &innermean_data::Keys| {
        let given = GroupLabels { weights: LabelWeights::Size, ..labels(&[0.3, 0.8, 0.4]) };
        BagData::new(names(&["x"]), groups, given, BagLink::Logistic).expect("labels")
    };
    let weighted = by_size(&cells).weighted(counts.to_vec()).expect("weights");
    assert_same(&settled(weighted, &ROWS, 0.01), &settled(by_size(&groups), &rows, 0.01));
}

/// A row in two groups is two rows.
#[test]
fn rows_of_several_groups_are_copies() {
    let columns =
        [keys(&["a", "a", "b", "b", "", "b", "a"]), keys(&["c", "", "c", "", "c", "", "b"])];
    let (groups, members) = Memberships::of_columns(&columns, None);
    let given = || labels(&[0.3, 0.8, 0.4]);
    let data = BagData::of_members(names(&["x"]), &groups, members, given(), BagLink::Logistic);
    let shared = settled(data.expect("labels"), &ROWS, 0.01);
    let (mut of, mut rows) = (Vec::new(), Vec::new());
    for column in &columns {
        for (row, x) in ROWS.iter().enumerate().filter(|(row, _)| !column.text(*row).is_empty()) {
            of.push(column.text(row));
            rows.push(*x);
        }
    }
    let data = BagData::new(names(&["x"]), &keys(&of), given(), BagLink::Logistic);
    let copies = settled(data.expect("labels"), &rows, 0.01);
    assert_same(&shared, &copies);
    assert_eq!((shared.answer.rows, copies.answer.rows), (7, of.len()));
}

/// A row with a label of its own is a group of one, beside the group that it is in.
#[test]
fn single_labels_are_groups_of_one() {
    let groups = keys(&["a", "a", "b", "b", "b", "", ""]);
    let own = [f64::NAN, 1.0, f64::NAN, 0.0, f64::NAN, 0.0, 1.0];
    let (names_of, members) = Memberships::of_columns(std::slice::from_ref(&groups), None);
    let with = |weight: f64| {
        let given = labels(&[0.3, 0.8]);
        let members = members.clone();
        BagData::of_members(names(&["x"]), &names_of, members, given, BagLink::Logistic)
            .and_then(|data| {
                let name = |row| format!("row {}", row + 1);
                data.with_single_labels("own", &own, weight, BagLink::Logistic, name)
            })
            .expect("labels")
    };
    let singles = settled(with(1.0), &ROWS, 0.01);
    let ones = keys(&["a", "a", "b", "b", "b", "r2", "r4", "r6", "r7"]);
    let rows = [-1.0, 0.5, 0.25, 1.0, 2.0, 0.5, 1.0, -0.5, 0.75];
    let explicit = |weights: LabelWeights| {
        let given = GroupLabels {
            names: names(&["share"]),
            groups: names(&["a", "b", "r2", "r4", "r6", "r7"]),
            values: vec![0.3, 0.8, 1.0, 0.0, 0.0, 1.0],
            weights,
        };
        BagData::new(names(&["x"]), &ones, given, BagLink::Logistic).expect("labels")
    };
    assert_same(&singles, &settled(explicit(LabelWeights::Equal), &rows, 0.01));
    assert_eq!((singles.answer.groups, singles.answer.single_rows), (6, 4));
    let weights = vec![1.0, 1.0, 0.25, 0.25, 0.25, 0.25];
    let light = settled(explicit(LabelWeights::Given(weights)), &rows, 0.01);
    assert_same(&settled(with(0.25), &ROWS, 0.01), &light);
    assert!(with(1.0).refuse_overlap("bootstrap").is_err(), "rows 2 and 4 are in two groups");
}

/// Weights of labels are repeated groups, variances their inverses, and 0 holds a label out.
#[test]
fn labels_count_by_weight_variance_or_not_at_all() {
    let groups = keys(&["a", "a", "b", "b", "b", "c", "c"]);
    let of = |weights: LabelWeights, values: &[f64]| {
        let given = GroupLabels { weights, ..labels(values) };
        BagData::new(names(&["x"]), &groups, given, BagLink::Logistic).expect("labels")
    };
    let shares = [0.3, 0.8, 0.4];
    let given = settled(of(LabelWeights::Given(vec![2.0, 1.0, 1.0]), &shares), &ROWS, 0.01);
    let variances = LabelWeights::Variances(vec![0.05, 0.1, 0.1]);
    assert_same(&given, &settled(of(variances, &shares), &ROWS, 0.01));
    let twice = keys(&["a", "a", "b", "b", "b", "c", "c", "a2", "a2"]);
    let four = GroupLabels {
        names: names(&["share"]),
        groups: names(&["a", "b", "c", "a2"]),
        values: vec![0.3, 0.8, 0.4, 0.3],
        ..GroupLabels::default()
    };
    let data = BagData::new(names(&["x"]), &twice, four, BagLink::Logistic).expect("labels");
    let rows: Vec<f64> = ROWS.iter().copied().chain([-1.0, 0.5]).collect();
    assert_same(&given, &settled(data, &rows, 0.01));
    // Held out: as if it were not there, but for its score.
    let truth = keys(&["0", "1", "0", "1", "1", "0", "1"]);
    let data = of(LabelWeights::Given(vec![1.0, 1.0, 0.0]), &shares);
    assert_eq!(data.notes(), [Note::HeldOutGroups { groups: 1, example: "c".to_owned() }]);
    let data = data.with_row_texts(&truth, BagLink::Logistic).expect("labels of rows");
    let held = settled(data, &ROWS, 0.01);
    let without = settled(of(LabelWeights::Equal, &shares[..2]), &ROWS, 0.01);
    assert_same(&held, &without);
    assert!(without.answer.held_out_groups.is_none());
    let out = held.answer.held_out_groups.expect("c is held out");
    let mean = f64::midpoint(held.answer.predictions[5], held.answer.predictions[6]);
    assert!((out.fit.mean_absolute_error - (mean - 0.4).abs()).abs() < 1e-15);
    let rows = |scores: &Option<RowScores>| scores.as_ref().map(|scores| scores.rows);
    assert_eq!(
        (rows(&held.answer.row_scores), rows(&held.answer.held_out_rows)),
        (Some(5), Some(2))
    );
}

#[test]
fn bad_weights_and_labels_of_rows_are_refused() {
    let groups = keys(&["a", "b", "b"]);
    let of = |weights: LabelWeights, link| {
        let given = GroupLabels { weights, ..labels(&[0.3, 0.8]) };
        BagData::new(names(&["x"]), &groups, given, link)
    };
    let plain = || of(LabelWeights::Equal, BagLink::Logistic).expect("labels");
    let error = refused(of(LabelWeights::Variances(vec![1.0, 0.0]), BagLink::Logistic));
    assert_eq!(error.to_string(), "group 'b' has the variance 0; expected a finite number above 0");
    assert_eq!(error.place(), Some(Place::Group(1)));
    let error = refused(of(LabelWeights::Given(vec![-1.0, 1.0]), BagLink::Logistic));
    assert!(error.to_string().contains("0 or above"), "{error}");
    let error = refused(of(LabelWeights::Given(vec![0.0, 0.0]), BagLink::Logistic));
    assert!(error.to_string().contains("all groups have the weight 0"), "{error}");
    let error = refused(of(LabelWeights::Size, BagLink::Exp));
    assert!(error.to_string().contains("`by_size` changes nothing"), "{error}");
    let error = refused(plain().weighted(vec![1.0, -2.0, 1.0]));
    assert_eq!(error.place(), Some(Place::Row(1)));
    let error = refused(plain().weighted(vec![1.0, 0.0, 0.0]));
    assert!(error.to_string().contains("group 'b'"), "{error}");
    let single = |labels: &[f64]| {
        plain().with_single_labels("own", labels, 1.0, BagLink::Logistic, |row| row.to_string())
    };
    let error = refused(single(&[f64::NAN, 1.5, 1.0]));
    assert_eq!(error.to_string(), "the own is 1.5; expected a proportion from 0 to 1");
}
