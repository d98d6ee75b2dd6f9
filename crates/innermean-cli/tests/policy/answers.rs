//! Answers that are known, and how near the closed form is reached.

use super::*;

#[test]
fn every_generated_process_is_solved_to_eight_digits() {
    let desk = desk();
    for args in [
        "",
        "--generate random --states 200 --features 20",
        "--generate random --states 100 --features 30 --feature-kind gaussian --discount 0.99",
        "--generate random --features one-hot --discount 0.99",
        "--generate random --states 300 --successors 4 --discount 0.99",
        "--generate walk",
        "--generate walk --states 5",
        "--generate walk --discount 0.99 --states 100",
        "--generate boyan",
        "--generate boyan --features one-hot",
        "--generate grid",
        "--generate grid --grid 8x5 --policy shortest",
        "--generate grid --grid 10x10 --policy noisy --discount 0.99",
        "--generate grid --features 4",
        "--generate random --transitions 500",
        "--generate random --transitions 500 --features one-hot",
        "--generate walk --transitions 3000",
        "--objective projected",
        "--objective projected --states 50 --features 10 --transitions 5000 --discount 0.99",
        "--objective projected --generate walk",
        "--objective projected --generate boyan --transitions 2000",
        "--objective projected --generate grid --policy noisy",
        "--objective projected --generate boyan --l2 0.01",
        "--l2 0.1",
    ] {
        let answer = desk.json(args, 0);
        assert!(distance(&answer) < 1e-8, "{args}: {}", answer["closed_form"]);
        assert_eq!(answer["method"], "direct", "{args}");
    }
}

#[test]
fn textbook_values_come_out() {
    let desk = desk();
    let walk = desk.json("--generate walk --states 5", 0);
    for k in 1..=5 {
        assert!(close(value_of(&walk, &k.to_string()), f64::from(k) / 6.0), "{}", walk["values"]);
    }
    assert_eq!((value_of(&walk, "left"), value_of(&walk, "right")), (0.0, 0.0));
    let boyan = desk.json("--generate boyan", 0);
    for (theta, known) in numbers(&boyan["theta"]).iter().zip([-24.0, -16.0, -8.0, 0.0]) {
        assert!(close(*theta, known), "{}", boyan["theta"]);
    }
    for s in 0..=12 {
        assert!(close(value_of(&boyan, &s.to_string()), -2.0 * f64::from(s)));
    }
    let grid = desk.json("--generate grid", 0);
    for (cell, known) in
        [("r1c1", 0.0), ("r1c2", -14.0), ("r2c2", -18.0), ("r1c3", -20.0), ("r1c4", -22.0)]
    {
        assert!(close(value_of(&grid, cell), known), "{cell}");
    }
    let shortest = desk.json("--generate grid --grid 3x5 --policy shortest", 0);
    for (cell, known) in [("r1c2", -1.0), ("r1c4", -3.0), ("r3c4", -1.0), ("r2c3", -3.0)] {
        assert!(close(value_of(&shortest, cell), known), "{cell}");
    }
}

/// Whose condition grows with the square of the number of states, undiscounted.
#[test]
fn long_walks_and_large_grids_are_solved() {
    let desk = desk();
    let walk = desk.json("--generate walk --states 300", 0);
    for k in [1, 100, 300] {
        assert!((value_of(&walk, &k.to_string()) - f64::from(k) / 301.0).abs() < 1e-7, "{k}");
    }
    let grid = desk.json("--generate grid --grid 30x30", 0);
    assert!(distance(&grid) < 1e-6, "{}", grid["closed_form"]);
    assert_eq!((&walk["method"], &grid["method"]), (&"direct".into(), &"direct".into()));
}

#[test]
fn svrpda_reaches_the_same_answer() {
    let desk = desk();
    let [first, second] =
        ["svrpda1", "svrpda2"].map(|method| desk.json(&format!("--method {method}"), 0));
    assert!(distance(&first) < 1e-8 && distance(&second) < 1e-8);
    assert_eq!(first["method"], "svrpda1");
    let all = desk.json("--method svrpda1 --seed 3 --trace run.jsonl --trace-every 50", 0);
    assert!(distance(&all) < 1e-8);
    assert!(desk.trace("run.jsonl").len() > 10);
}

#[test]
fn the_same_seed_is_the_same_answer_on_any_number_of_threads() {
    let desk = desk();
    let theta = |args: &str| desk.json(args, 0)["theta"].clone();
    let args = "--states 400 --features 30 --method svrpda1 --tolerance 1e-6";
    assert_eq!(theta(&format!("{args} --threads 1")), theta(&format!("{args} --threads 2")));
    assert_ne!(theta(args), theta(&format!("{args} --data-seed 2")));
    assert_ne!(theta(args), theta(&format!("{args} --seed 2")));
}

#[test]
fn large_tables_are_solved_without_a_closed_form() {
    let answer = desk().json("--states 4000 --successors 5 --discount 0.9", 0);
    assert!(number(&answer["mean_squared_residual"]) < 1e-16);
    let said = answer["closed_form"]["source"].as_str().expect("words");
    assert!(said.contains("not computed for 4000 coordinates"), "{said}");
    assert!(answer["closed_form"]["values_distance"].is_null());
}

#[test]
fn what_was_decided_is_said() {
    let desk = desk();
    let people = desk.run("--generate walk --states 3");
    assert_eq!(people.code, Some(0));
    for words in [
        "Policy evaluation of 5 states with one-hot features, discount 1",
        "generated: random walk, 3 states between two ends",
        "The discount is 1, as none was given (--discount).",
        "closed form",
        "normal equations",
        "squared residual",
    ] {
        assert!(people.out.contains(words), "{words}: {}", people.out);
    }
    assert!(!people.out.contains("sum"), "{}", people.out);
    let answer = desk.json("--generate walk --states 3 --discount 0.5", 0);
    assert_eq!(answer["notes"].as_array().map(Vec::len), Some(0), "{}", answer["notes"]);
    assert_eq!(answer["settings"]["discount"], 0.5);
    assert_eq!(answer["settings"]["objective"], "bellman");
    let penalised = desk.json("--l1 0.1", 0);
    assert!(
        penalised["closed_form"]["source"]
            .as_str()
            .is_some_and(|text| text.contains("none with --l1"))
    );
    let singular = desk.run("--states 3 --features 5 --json");
    let singular: Value = serde_json::from_str(&singular.out).expect("JSON");
    let said = singular["closed_form"]["source"].as_str().expect("words");
    assert!(said.contains("singular") && said.contains("--l2"), "{said}");
}
