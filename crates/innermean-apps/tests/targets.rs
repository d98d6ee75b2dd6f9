//! Targets of numbers and texts, and models that were kept.

use innermean_apps::linear::{LinearError, Loss, Target};
use innermean_apps::model::{ModelError, match_columns};
use innermean_data::Keys;

fn keys(texts: &[&str]) -> Keys {
    let mut keys = Keys::default();
    for text in texts {
        let at = keys.names.iter().position(|name| name == text).unwrap_or_else(|| {
            keys.names.push((*text).to_owned());
            keys.names.len() - 1
        });
        keys.codes.push(at as u32);
    }
    keys
}

#[test]
fn classes_are_ordered_by_name_or_number() {
    let of = |texts: &[&str]| Target::of_texts(&keys(texts), Loss::Logistic).expect("classes");
    let target = of(&["pear", "fig", "", "apple", "fig"]);
    assert_eq!(target.class_names(), ["apple", "fig", "pear"]);
    let places: Vec<Option<usize>> = target.numbers().iter().map(|y| target.class(*y)).collect();
    assert_eq!(places, [Some(2), Some(1), None, Some(0), Some(1)]);
    let target = of(&["10", "9", "2", "9.0"]);
    assert_eq!(target.class_names(), ["2", "9", "10"]);
    assert_eq!(target.numbers(), [2.0, 1.0, 0.0, 1.0]);
    let target = Target::new(vec![0.0, -0.0, f64::NAN, 5.0, 3.0], Loss::Logistic).expect("three");
    assert_eq!(target.class_names(), ["0", "3", "5"]);
    assert!(target.numbers()[2].is_nan() && target.numbers()[1] == 0.0);
    // Two are two, and other losses take no more.
    assert!(of(&["no", "", "yes"]).classes().is_some());
    let three = keys(&["a", "b", "c"]);
    assert!(matches!(
        Target::of_texts(&three, Loss::SquaredHinge),
        Err(LinearError::NotTwoClasses(names)) if names.len() == 3
    ));
    assert!(Target::of_texts(&keys(&["a", "", "a"]), Loss::Logistic).is_err());
}

#[test]
fn columns_are_matched_by_name() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let columns = names(&["Age", "height", "id", "HEIGHT"]);
    assert_eq!(match_columns(&names(&["height", "age"]), &columns), Ok(vec![1, 0]));
    for missing in ["Height", "1", "weight"] {
        let refused = match_columns(&names(&[missing]), &columns);
        assert!(matches!(refused, Err(ModelError::MissingColumn { name, .. }) if name == missing));
    }
}
