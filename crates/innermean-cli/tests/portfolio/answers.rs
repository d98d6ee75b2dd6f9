//! The answer is right, whatever the data.

use super::*;

#[test]
fn without_a_file_a_generated_market_is_solved_and_labelled() {
    let run = desk().run("");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("generated: factor model"), "{}", run.out);
    for words in ["S1B1", "S5B5", "expected return", "variance", "objective", "solved"] {
        assert!(run.out.contains(words), "{words} in {}", run.out);
    }
    for words in ["oracle calls", "time", "█", "│", "auto: direct (a quadratic with 25"] {
        assert!(run.out.contains(words), "{words} in {}", run.out);
    }
    // No terminal: no colours, no progress.
    assert!(!run.out.contains('\u{1b}') && run.err.is_empty(), "{}", run.err);
}

#[test]
fn json_has_all_keys_and_its_numbers_can_be_computed_again() {
    let answer = desk().json("", 0);
    for key in ["n_x", "n_y", "d", "outer", "inner", "seed"] {
        assert!(answer[key].is_u64(), "{key}: {}", answer[key]);
    }
    for key in ["objective", "expected_return", "risk", "seconds", "standard_deviation"] {
        assert!(answer[key].is_f64(), "{key}: {}", answer[key]);
    }
    for key in ["version", "problem", "method", "status", "advice", "source", "risk_measure"] {
        assert!(answer[key].is_string(), "{key}: {}", answer[key]);
    }
    for key in ["theta", "names", "notes"] {
        assert!(answer[key].is_array(), "{key}: {}", answer[key]);
    }
    assert_eq!(answer["problem"], "portfolio");
    assert_eq!((&answer["method"], &answer["chosen_by"]), (&"direct".into(), &"auto".into()));
    assert!(
        answer["reason"].as_str().is_some_and(|reason| reason.contains("25 coordinates")),
        "{answer}"
    );
    assert_eq!(answer["fallbacks"], serde_json::json!([]));
    assert_eq!(answer["status"], "solved");
    assert_eq!(answer["generated"], true);
    let calls = &answer["calls"];
    let count = |key: &str| calls[key].as_u64().expect("a count");
    assert_eq!(count("f") + count("jacobian") + count("merit"), count("total"));
    let automatic = desk().json("--method svrpda1 --max-outer 1", 1);
    assert_eq!(automatic["settings"]["steps"], "automatic");
    assert!(
        automatic["settings"]["alpha_theta"].is_null(),
        "it changes: {}",
        automatic["settings"]
    );
    let asked = desk().json("--method svrpda1 --steps scaled --max-outer 1", 1);
    assert_eq!((&asked["method"], &asked["chosen_by"]), (&"svrpda1".into(), &"user".into()));
    for key in [
        "alpha_theta",
        "alpha_w",
        "inner_iterations",
        "reference",
        "steps",
        "tolerance",
        "max_outer",
    ] {
        assert!(!asked["settings"][key].is_null(), "{key}: {}", asked["settings"]);
    }

    let returns = generate_factor_model(7240, 25, 1);
    let theta = numbers(&answer["theta"]);
    assert_eq!(theta.len(), answer["names"].as_array().expect("names").len());
    let (reward, variance) = (expected_return(&returns, &theta), risk(&returns, &theta, |u| u * u));
    assert_close(number(&answer["expected_return"]), reward, 1e-9);
    assert_close(number(&answer["risk"]), variance, 1e-9);
    assert_close(number(&answer["standard_deviation"]), variance.sqrt(), 1e-9);
    assert_close(number(&answer["objective"]), variance - reward, 1e-9);
}

/// `-<m, theta> + <theta, C theta>` has its minimum where `2 C theta = m`.
#[test]
fn two_assets_with_header_and_dates_have_the_closed_form() {
    let desk = desk();
    let returns = generate_factor_model(500, 2, 3);
    desk.file("two.csv", &csv(&returns));
    let answer = desk.json("two.csv --tolerance 1e-10", 0);
    assert_eq!(answer["names"], serde_json::json!(returns.names));
    assert_eq!(answer["n_x"], 500);
    let covariance = |a: &[f64], b: &[f64]| {
        deviations(&returns, a).iter().zip(deviations(&returns, b)).map(|(a, b)| a * b).sum::<f64>()
            / 500.0
    };
    let (e, f) = ([1.0, 0.0], [0.0, 1.0]);
    let (a, b, c) = (covariance(&e, &e), covariance(&e, &f), covariance(&f, &f));
    let m = means(&returns);
    let determinant = 2.0 * (a * c - b * b);
    let best = [(c * m[0] - b * m[1]) / determinant, (a * m[1] - b * m[0]) / determinant];
    let theta = numbers(&answer["theta"]);
    assert_close(theta[0], best[0], 1e-7);
    assert_close(theta[1], best[1], 1e-7);
    // The start of the trace knows nothing of this: an answer is also a start.
    desk.file("answer.json", &answer.to_string());
    let again = desk.json("two.csv --tolerance 1e-9 --start answer.json", 0);
    assert_eq!(again["inner"], 0, "solved where it begins");
    assert_eq!(again["theta"], answer["theta"]);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let desk = desk();
    let one = desk.json("--method svrpda1 --threads 1 --seed 5", 0);
    let two = desk.json("--method svrpda1 --threads 2 --seed 5", 0);
    assert_eq!(one["settings"]["threads"], 1);
    assert_eq!(two["settings"]["threads"], 2);
    let bits = |answer: &Value| {
        numbers(&answer["theta"]).into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(&one), bits(&two));
    assert_ne!(bits(&one), bits(&desk.json("--method svrpda1 --seed 6", 0)));
    // What draws nothing is the same for every seed.
    assert_eq!(bits(&desk.json("--threads 1", 0)), bits(&desk.json("--threads 2 --seed 6", 0)));
}

/// The paper's portfolios, where they are at hand.
#[test]
fn a_real_file_is_solved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/portfolio");
    let file = folder.join("Europe_OP.csv");
    if !file.is_file() {
        println!("skipped: {} is not there", file.display());
        return;
    }
    let desk = desk();
    fs::copy(&file, desk.path().join("returns.csv")).expect("the file can be copied");
    let answer = desk.json("returns.csv", 0);
    assert_eq!((&answer["n_x"], &answer["d"]), (&Value::from(7240), &Value::from(25)));
    let returns = innermean_data::read_returns(&file, &innermean_data::ReadOptions::default())
        .expect("the file can be read");
    let theta = numbers(&answer["theta"]);
    let objective = risk(&returns, &theta, |u| u * u) - expected_return(&returns, &theta);
    assert_close(number(&answer["objective"]), objective, 1e-9);
}
