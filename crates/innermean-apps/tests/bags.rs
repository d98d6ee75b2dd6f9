//! Groups with labels against the library by hand.

use innermean::{Bags, Bernoulli, Groups, Link, Problem, Ridge, solve};
use innermean_apps::Place;
use innermean_apps::bags::{BagData, BagLink, BagLoss, BagSettings, BagTask, GroupLabels};
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
