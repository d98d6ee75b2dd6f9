//! Every option does what it says.

use innermean_data::{OutColumn, OutTable};

use super::*;

/// With the small market in `small.csv`.
fn small_desk() -> Desk {
    let desk = desk();
    desk.file("small.csv", &csv(&small()));
    desk
}

/// Solves the small market, with `args`.
fn solve(args: &str) -> Value {
    small_desk().json(&format!("small.csv {args}"), 0)
}

fn theta(answer: &Value) -> Vec<f64> {
    numbers(&answer["theta"])
}

#[test]
fn both_methods_find_the_same_point() {
    let (one, two) =
        (solve("--method svrpda1 --tolerance 1e-13"), solve("--method svrpda2 --tolerance 1e-13"));
    assert_eq!(two["method"], "svrpda2");
    assert_ne!(one["calls"], two["calls"]);
    for (a, b) in theta(&one).into_iter().zip(theta(&two)) {
        assert_close(a, b, 1e-5);
    }
}

#[test]
fn steps_given_by_hand_are_used() {
    let answer = solve(
        "--method svrpda1 --alpha-theta 1e-4 --alpha-w 0.5 --inner-iterations 1e3 --reference random --warmup-epochs 2",
    );
    let settings = &answer["settings"];
    assert_eq!(number(&settings["alpha_theta"]), 1e-4);
    assert_eq!(number(&settings["alpha_w"]), 0.5);
    assert_eq!(settings["inner_iterations"], 1000);
    assert_eq!(settings["reference"], "random");
    assert_eq!(settings["warmup_epochs"], 2);
    // An outer iteration, of warm-up too, takes M steps.
    let count = |key: &str| answer[key].as_u64().expect("a count");
    assert_eq!(count("inner"), 1000 * count("outer"));
    assert_eq!(solve("--method svrpda1 --reference last")["settings"]["reference"], "last");
}

#[test]
fn the_theorems_need_strong_convexity() {
    let desk = small_desk();
    for rule in ["theorem1", "theorem2"] {
        let refused = desk.run(&format!("small.csv --method svrpda1 --steps {rule} --json"));
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
        assert!(refused.err.contains("mu = 0") && refused.err.contains("--l2"), "{}", refused.err);
        // The theorems' steps are small: far from the end, but on the way.
        let answer = desk.json(
            &format!("small.csv --method svrpda1 --steps {rule} --l2 1000 --tolerance 0.05"),
            0,
        );
        assert_eq!(answer["settings"]["steps"], rule);
        let reference = if rule == "theorem1" { "last" } else { "random" };
        assert_eq!(answer["settings"]["reference"], reference);
    }
    let refused = desk.run("small.csv --method svrpda1 --steps theorem3");
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(
        refused.err.contains("n_Y = 1") && refused.err.contains("300 samples"),
        "{}",
        refused.err
    );
}

#[test]
fn each_risk_is_reported_with_weight_one() {
    let returns = small();
    let h = 0.7;
    let phis: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("variance", &|u| u * u),
        ("semivariance", &|u| u.min(0.0).powi(2)),
        ("absolute", &f64::abs),
        ("huber", &|u| if u.abs() <= h { u * u / (2.0 * h) } else { u.abs() - h / 2.0 }),
    ];
    for (name, phi) in phis {
        let width = if name == "huber" { "--huber-width 0.7" } else { "" };
        let answer = solve(&format!(
            "--risk {name} {width} --risk-aversion 3 --constraint long-only --tolerance 1e-4"
        ));
        let theta = theta(&answer);
        let value = risk(&returns, &theta, phi);
        assert_eq!(answer["risk_measure"], name);
        assert_close(number(&answer["risk"]), value, 1e-9);
        assert_close(
            number(&answer["objective"]),
            3.0 * value - expected_return(&returns, &theta),
            1e-9,
        );
        assert_eq!(answer["standard_deviation"].is_null(), name != "variance");
        assert_eq!(answer["notes"].as_array().map(Vec::len), Some(usize::from(name == "huber")));
    }
}

#[test]
fn the_huber_function_bends_at_the_mean_absolute_deviation() {
    let returns = small();
    let unit = |l: usize| (0..4).map(|k| f64::from(u8::from(k == l))).collect::<Vec<_>>();
    let typical = (0..4).map(|l| risk(&returns, &unit(l), f64::abs)).sum::<f64>() / 4.0;
    let answer = solve("--risk huber --l2 0.1");
    assert_close(number(&answer["settings"]["huber_width"]), typical, 1e-12);
    let refused = small_desk().run("small.csv --huber-width 1");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("--huber-width 1 ") && refused.err.contains("--risk huber"),
        "{}",
        refused.err
    );
}

#[test]
fn more_risk_aversion_means_less_risk() {
    let (low, high) = (solve("--risk-aversion 1"), solve("--risk-aversion 4"));
    // theta is m / (2 c) times the inverse covariance.
    assert_close(number(&low["risk"]), 16.0 * number(&high["risk"]), 1e-4);
}

#[test]
fn long_only_weights_are_shares() {
    let answer = solve("--constraint long-only --l1 0.3");
    let theta = theta(&answer);
    assert!(theta.iter().all(|&t| t >= 0.0), "{theta:?}");
    assert_close(theta.iter().sum(), 1.0, 1e-9);
    let note = answer["notes"][0].as_str().expect("a note about l1");
    assert!(note.contains("--l1 changes nothing"), "{note}");
    let without = solve("--constraint long-only");
    assert_eq!(answer["theta"], without["theta"]);
}

#[test]
fn a_sum_of_one_allows_shorts_and_caps() {
    let free = theta(&solve("--constraint sum-to-one --risk-aversion 0.02"));
    assert_close(free.iter().sum(), 1.0, 1e-9);
    assert!(free.iter().any(|&t| t < 0.0), "{free:?}");
    let capped = theta(&solve("--constraint sum-to-one=0,0.4"));
    assert_close(capped.iter().sum(), 1.0, 1e-9);
    assert!(capped.iter().all(|t| (0.0..=0.4).contains(t)), "{capped:?}");
    let long_only = theta(&solve("--constraint long-only"));
    assert!(long_only.iter().any(|&t| t > 0.4), "{long_only:?}");
    // Without a cap below 1 it is the simplex.
    for (a, b) in
        theta(&solve("--constraint sum-to-one=0,1 --tolerance 1e-9")).iter().zip(long_only)
    {
        assert_close(*a, b, 1e-4);
    }
}

#[test]
fn a_box_holds() {
    let free = theta(&solve(""));
    let answer = solve("--constraint box=-0.01,0.02");
    let theta = theta(&answer);
    assert!(free.iter().any(|t| !(-0.01..=0.02).contains(t)), "{free:?}");
    assert!(theta.iter().all(|t| (-0.01..=0.02).contains(t)), "{theta:?}");
    assert!(theta.iter().any(|t| *t == -0.01 || *t == 0.02), "{theta:?}");
    assert_eq!(answer["settings"]["constraint"], "box=-0.01,0.02");
    // A box that leaves 0 out, with an l1 norm inside.
    let above = numbers(&solve("--constraint box=0.1,0.2 --l1 10")["theta"]);
    assert_eq!(above, [0.1; 4]);
}

#[test]
fn a_large_l1_makes_zeros_and_a_large_l2_small_weights() {
    assert_eq!(theta(&solve("--l1 100")), [0.0; 4]);
    let size = |args: &str| theta(&solve(args)).into_iter().map(f64::abs).sum::<f64>();
    assert!(size("--l2 100") < 0.1 * size(""));
    assert!(size("--l1 0.01") < size(""));
}

#[test]
fn the_start_is_where_the_trace_begins() {
    let desk = small_desk();
    let first = |start: &str| {
        desk.json(&format!("small.csv --trace run.jsonl --start {start}"), 0);
        number(&desk.trace("run.jsonl")[0]["objective"])
    };
    assert_eq!(first("zeros"), 0.0);
    let uniform = first("uniform");
    assert!(uniform > 0.0);
    assert_eq!(first("uniform"), uniform);
    assert_ne!(first("uniform --seed 1"), uniform);
    let theta = [0.5, -0.25, 0.0, 1.0];
    let names = small().names;
    let lines: Vec<String> =
        names.iter().zip(theta).map(|(name, t)| format!("{name},{t}")).collect();
    desk.file("start.csv", &lines.join("\n"));
    let objective = risk(&small(), &theta, |u| u * u) - expected_return(&small(), &theta);
    assert_close(first("start.csv"), objective, 1e-12);
    // What the constraint does not allow is moved, and said.
    let answer = desk.json("small.csv --start start.csv --constraint long-only", 0);
    assert!(
        answer["notes"][0].as_str().is_some_and(|note| note.contains("not allowed")),
        "{answer}"
    );
}

#[test]
fn limits_end_the_run_with_exit_code_1() {
    let desk = small_desk();
    for (limit, status) in [
        ("--max-calls 1e5", "max_calls"),
        ("--max-outer 3", "max_outer"),
        ("--max-seconds 0.05", "max_seconds"),
    ] {
        let answer = desk.json(&format!("--method svrpda1 --tolerance 1e-300 {limit}"), 1);
        assert_eq!(answer["status"], status);
        let flag = limit.split_whitespace().next().expect("a flag");
        assert!(answer["advice"].as_str().is_some_and(|advice| advice.contains(flag)), "{answer}");
        match status {
            "max_calls" => {
                let total = answer["calls"]["total"].as_u64().expect("a count");
                assert!((100_000..130_000).contains(&total), "{total}");
            }
            "max_outer" => assert_eq!(answer["outer"], 3),
            _ => assert!(answer["outer"].as_u64().is_some_and(|outer| outer < 10_000), "{answer}"),
        }
    }
}

#[test]
fn a_target_objective_and_a_tolerance_are_enough() {
    let solve = |args: &str| solve(&format!("--method svrpda1 {args}"));
    let best = number(&solve("--tolerance 1e-9")["objective"]);
    let answer = solve(&format!("--tolerance 1e-300 --target-objective {:e}", 0.9 * best));
    assert_eq!(answer["status"], "target_reached");
    assert!(number(&answer["objective"]) <= 0.9 * best);
    let rough = solve("--tolerance 1e-2");
    assert!(number(&rough["certificate"]["relative"]) <= 1e-2);
    assert!(rough["inner"].as_u64() < solve("--tolerance 1e-9")["inner"].as_u64());
}

#[test]
fn a_run_that_blows_up_still_answers() {
    let desk = small_desk();
    let answer = desk.json("small.csv --method svrpda1 --alpha-theta 1e6", 1);
    assert_eq!(answer["status"], "diverged");
    assert!(theta(&answer).into_iter().all(f64::is_finite));
    assert!(number(&answer["objective"]).is_finite() && number(&answer["risk"]).is_finite());
    let advice = answer["advice"].as_str().expect("advice");
    assert!(advice.contains("--alpha-theta 100000 "), "{advice}");
    let run = desk.run("small.csv --method svrpda1 --alpha-theta 1e6");
    assert!(run.code == Some(1) && run.out.contains("diverged"), "{}", run.out);
}

#[test]
fn linear_risk_without_a_bound_is_refused_or_noted() {
    for risk in ["absolute", "huber"] {
        let bounded = small_desk().run(&format!("small.csv --risk {risk} --l2 0.1 --max-outer 3"));
        assert!(
            bounded.code != Some(2) && !bounded.out.contains("note: With --risk"),
            "{}",
            bounded.out
        );
    }
    let run = small_desk().run("small.csv --risk huber --max-outer 3");
    assert!(run.code != Some(2) && run.out.contains("note: With --risk"), "{}{}", run.out, run.err);
    assert!(run.out.contains("--l2"), "{}", run.out);
    let run = small_desk().run("small.csv --risk absolute --json --trace t.jsonl");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(
        run.err.contains("--risk absolute") && run.err.contains("--constraint long-only"),
        "{}",
        run.err
    );
}

#[test]
fn returns_come_in_any_format() {
    let desk = small_desk();
    let returns = small();
    let d = returns.assets();
    let column =
        |j: usize| OutColumn::Numbers(returns.values.iter().skip(j).step_by(d).copied().collect());
    let table =
        OutTable { columns: returns.names.iter().cloned().zip((0..d).map(column)).collect() };
    let text = theta(&desk.json("small.csv", 0));
    for name in ["small.csv.gz", "small.tsv", "small.npy"] {
        table.write(&desk.path().join(name)).expect("a file");
        let answer = desk.json(name, 0);
        assert!(answer["source"].as_str().is_some_and(|source| source.contains(name)), "{answer}");
        for (a, b) in theta(&answer).into_iter().zip(&text) {
            assert_close(a, *b, 1e-12);
        }
    }
    let refused = desk.file("t.parquet", "PAR1 and more");
    let run = desk.run(&refused.display().to_string());
    assert_eq!(run.code, Some(2));
    assert!(
        cfg!(feature = "parquet") || run.err.contains("build with --features parquet"),
        "{}",
        run.err
    );
}

#[test]
fn missing_values_are_dropped_only_on_demand() {
    let desk = desk();
    desk.file(
        "gaps.csv",
        "a,b,c\n0.1,0.2,0.3\n0.4,-99.99,0.1\n-0.2,0.1,NA\n0.3,0.5,-0.1\n-0.1,0.2,0.4\n",
    );
    let refused = desk.run("gaps.csv --missing error --json");
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    for words in ["line 3, column 2 (b)", "-99.99", "first of 2", "--missing drop-rows"] {
        assert!(refused.err.contains(words), "{words} in {}", refused.err);
    }
    let rows = desk.json("gaps.csv --missing drop-rows --l2 1", 0);
    assert_eq!((&rows["n_x"], &rows["d"]), (&Value::from(3), &Value::from(3)));
    assert_eq!(rows["dropped"]["rows"], 2);
    assert!(rows["notes"].to_string().contains("missing values: 2"), "{rows}");
    let assets = desk.json("gaps.csv --missing drop-assets --l2 1", 0);
    assert_eq!(assets["names"], serde_json::json!(["a"]));
    assert_eq!(assets["dropped"]["assets"], serde_json::json!(["b", "c"]));
}
