//! Folds and paths.

use innermean_apps::penalty::Penalty;
use innermean_apps::validation::{Folds, Path, PathOf, Validation};

#[test]
fn folds_are_drawn_by_the_seed_and_spread_alike() {
    let strata: Vec<u32> = (0..103).map(|k| u32::from(k % 4 == 0)).collect();
    let folds = Folds::draw(&strata, 5, 7).expect("folds");
    assert_eq!((folds.count(), folds.units()), (5, 103));
    assert_eq!(folds, Folds::draw(&strata, 5, 7).expect("folds"));
    assert_ne!(folds, Folds::draw(&strata, 5, 8).expect("folds"));
    for fold in 0..5 {
        let (outside, inside) = folds.parted(fold);
        assert_eq!(outside.len() + inside.len(), 103);
        assert!((20..=21).contains(&inside.len()));
        let ones = inside.iter().filter(|&&unit| strata[unit] == 1).count();
        assert!((5..=6).contains(&ones), "{ones}");
    }
    for count in [0, 1, 104] {
        assert!(Folds::draw(&strata, count, 0).is_err());
    }
    // As many as rows: each is held out once.
    let single = Folds::draw(&[0; 4], 4, 0).expect("folds");
    assert!((0..4).all(|fold| single.parted(fold).1.len() == 1));
}

#[test]
fn folds_of_a_column_are_numbered_without_gaps() {
    let folds = Folds::of_codes(&[7, 2, 7, 5]).expect("folds");
    assert_eq!((folds.count(), folds.parted(2).1), (3, vec![0, 2]));
    assert!(Folds::of_codes(&[3, 3]).is_err());
}

#[test]
fn a_path_is_geometric_and_goes_from_strong_to_weak() {
    let path = Path { of: PathOf::L1, length: 4, ratio: 1e-3, other: 0.5 };
    let penalties = path.from(2.0);
    assert_eq!(penalties.len(), 4);
    for (penalty, weight) in penalties.iter().zip([2.0, 0.2, 0.02, 0.002]) {
        assert!((penalty.l1 / weight - 1.0).abs() < 1e-12 && penalty.l2 == 0.5);
    }
    let folds = Folds::of_codes(&[0, 1]).expect("folds");
    assert!(Validation::new(folds.clone(), Vec::new(), None).is_err());
    let same = [Penalty::default(); 2].to_vec();
    assert!(Validation::new(folds, same, None).is_ok());
}
