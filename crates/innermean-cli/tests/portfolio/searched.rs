//! Objectives that are searched for, the frontier, walks, years and weights, as a user drives them.

use std::fmt::Write as _;

use super::*;

const LONG_ONLY: &str = "--constraint long-only";

fn at(answer: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(answer, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path}: {found}"))
}

#[test]
fn the_largest_ratio_beats_what_other_objectives_find() {
    let desk = desk();
    for risk in ["variance", "semivariance", "absolute", "huber"] {
        let flags = format!("{LONG_ONLY} --risk {risk} --objective max-sharpe --risk-free 0.01");
        let best = desk.json(&flags, 0);
        let (value, most) = (at(&best, "sought.value"), at(&best, "sought.at_most"));
        assert!(most >= value && most - value <= 1e-8 * value, "{risk}: {value} {most}");
        for aversion in ["0.01", "0.03", "0.1", "1", "10"] {
            let other =
                desk.json(&format!("{LONG_ONLY} --risk {risk} --risk-aversion {aversion}"), 0);
            let risk_value = at(&other, "risk");
            let unit = if ["variance", "semivariance"].contains(&risk) {
                risk_value.sqrt()
            } else {
                risk_value
            };
            let ratio = (at(&other, "expected_return") - 0.01) / unit;
            assert!(ratio <= most, "{risk}, {aversion}: {ratio} {most}");
        }
        // The weight that was found is an ordinary one.
        let weight = at(&best, "settings.risk_aversion");
        let same = desk.json(&format!("{LONG_ONLY} --risk {risk} --risk-aversion {weight}"), 0);
        let apart = (at(&best, "expected_return") - at(&same, "expected_return")).abs();
        assert!(apart < 1e-6, "{risk}: {apart}");
    }
}

#[test]
fn the_largest_return_keeps_within_its_risk() {
    let desk = desk();
    let mut last = 0.0;
    for most in [1.045, 1.05, 1.06, 1.07] {
        let flags = format!("{LONG_ONLY} --objective max-return --max-risk {most}");
        let answer = desk.json(&flags, 0);
        let risk = at(&answer, "standard_deviation");
        assert!((risk - most).abs() <= 1e-9 * most, "{risk} {most}");
        let earned = at(&answer, "expected_return");
        assert!(earned > last && at(&answer, "sought.at_most") - earned < 1e-9, "{answer}");
        last = earned;
    }
    let free = desk.json(&format!("{LONG_ONLY} --objective max-return"), 0);
    assert!(at(&free, "expected_return") > last);
}

/// Returns of 0.01 or so: a part of each asset's own and one of all, and means that rise.
fn waves(rows: i64, assets: i64, own: i64, common: i64) -> String {
    let names: Vec<String> = (0..assets).map(|l| format!("A{l}")).collect();
    let mut table = names.join(",") + "\n";
    for i in 0..rows {
        let all = (53 * i * i + 29 * i) % 197 - 98;
        let cell = |l: i64| {
            let k = (37 * i + 101 * l * l + 13 * i * i * (l + 1)) % 211 - 100;
            ((own * k + common * all + 15 * l) as f64 / 1e5).to_string()
        };
        table += &((0..assets).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    table
}

#[test]
fn risks_with_kinks_are_solved_at_any_weight_and_within_any_risk() {
    let desk = desk();
    desk.file("wide.csv", &waves(120, 8, 20, 10));
    desk.file("alike.csv", &waves(60, 6, 1, 20));
    desk.file("l.csv", "asset,lower,upper,group\nA0,0.1,,g\nA3,,0.3,\nA5,,0.25,g\nA7,0.05,0.2,\n");
    let (limited, short) = ("long-only --limits l.csv", "box=-0.14,0.43");
    for flags in [
        // Twelve whole periods are the worst tenth: all duals are at corners.
        format!("wide.csv --constraint {limited} --risk cvar --level 0.9 --risk-aversion 0.01"),
        // Curvature that is nothing beside the slopes.
        format!("wide.csv --constraint {limited} --risk absolute --risk-aversion 0.01"),
        // Along the last steps the risk is a straight line.
        "alike.csv --constraint sum-to-one=-0.1,0.7 --risk cvar --l1 0.0001 --risk-aversion 0.5 \
         --target-return 0.0001"
            .to_owned(),
        format!("wide.csv --constraint {limited} --risk cvar --level 0.9 {}", within(0.0125)),
        format!("wide.csv --constraint {limited} --risk absolute {}", within(0.007)),
        // Nothing at all is held where risk weighs much.
        format!(
            "wide.csv --constraint {short} --risk cvar --target-return -0.0002 {}",
            within(0.008)
        ),
        // Squares of losses of assets that hardly differ.
        format!("alike.csv --constraint long-only --risk semivariance {}", within(0.008)),
    ] {
        let answer = desk.json(&format!("{flags} --tolerance 1e-8 --max-seconds 60"), 0);
        assert_eq!(answer["status"], "solved", "{flags}: {answer}");
        let Some(most) = answer["settings"]["max_risk"].as_f64() else { continue };
        let risk = at(&answer, "risk");
        let risk = if flags.contains("semivariance") { risk.sqrt() } else { risk };
        assert!((risk - most).abs() <= 1e-9 * most, "{flags}: {risk} {most}");
        let (value, bound) = (at(&answer, "sought.value"), at(&answer, "sought.at_most"));
        assert!(bound >= value && bound - value <= 1e-10, "{flags}: {value} {bound}");
        // No portfolio between others that are allowed has more.
        let tight = flags.replace(&most.to_string(), &(0.999 * most).to_string());
        assert!(at(&desk.json(&tight, 0), "sought.value") < bound, "{flags}");
    }
    // Without time nothing is claimed.
    let flags = format!("wide.csv --constraint {limited} --risk absolute {}", within(0.007));
    let answer = desk.run(&format!("{flags} --max-seconds 1e-9 --json"));
    assert_ne!(answer.code, Some(0), "{}", answer.out);
}

fn within(risk: f64) -> String {
    format!("--objective max-return --max-risk {risk}")
}

#[test]
fn holding_nothing_is_solved_where_nothing_has_the_least_risk() {
    let desk = desk();
    desk.file("wide.csv", &waves(120, 8, 20, 10));
    desk.file("c.csv", "asset,weight\nA0,0.5\nA1,0.3\nA2,0.2\n");
    for risk in ["absolute --half-life 149", "absolute", "variance"] {
        let flags = format!("wide.csv --constraint box=-0.15,0.7 --risk {risk}");
        let held = "--objective min-risk --current c.csv --turnover 1.5 --tolerance 1e-8";
        let answer = desk.json(&format!("{flags} {held} --max-seconds 60"), 0);
        assert_eq!(answer["status"], "solved", "{flags}: {answer}");
        assert!(at(&answer, "risk") <= 1e-12, "{flags}: {answer}");
    }
}

#[test]
fn a_frontier_is_beside_the_answer_in_every_output() {
    let desk = desk();
    let flags = format!("{LONG_ONLY} --frontier 12 --annualize 252");
    let plain = desk.json(LONG_ONLY, 0);
    let answer = desk.json(&flags, 0);
    assert_eq!(answer["theta"], plain["theta"]);
    let points = answer["frontier"]["points"].as_array().expect("points");
    assert_eq!(points.len(), 12);
    for pair in points.windows(2) {
        assert!(at(&pair[0], "expected_return") < at(&pair[1], "expected_return"));
        assert!(at(&pair[0], "standard_deviation") < at(&pair[1], "standard_deviation"));
    }
    assert!(points.iter().all(|point| at(point, "gap") < 1e-6), "{points:?}");
    let annual = &answer["annual"];
    let (by_year, by_day) = (at(annual, "expected_return"), at(&answer, "expected_return"));
    assert_close(by_year, 252.0 * by_day, 1e-12);
    let text = desk.run(&format!("{flags} --report page.html"));
    let shown = text.out;
    assert!(
        shown.contains("Frontier of 12 portfolios") && shown.contains("by the year"),
        "{shown}"
    );
    let page = fs::read_to_string(desk.path().join("page.html")).expect("a page");
    assert!(page.contains("figure class=\"chart\"") && page.contains("the answer"), "no picture");
}

#[test]
fn a_walk_has_the_same_bits_on_any_number_of_threads() {
    let desk = desk();
    let flags = format!("{LONG_ONLY} --walk-forward 1500,500 --cost 0.05 --annualize 252");
    let walk = |threads: usize| desk.json(&format!("{flags} --threads {threads}"), 0);
    let (one, three) = (walk(1), walk(3));
    assert_eq!(one["walk_forward"], three["walk_forward"]);
    assert_eq!(one["theta"], three["theta"]);
    let windows = one["walk_forward"]["windows"].as_array().expect("windows");
    assert_eq!(windows.len(), 12);
    assert_eq!(one["walk_forward"]["unit"], "percent");
    // What is not held is not held: no rounding in its place.
    let theta = one["theta"].as_array().expect("weights").iter().filter_map(Value::as_f64);
    let theta: Vec<f64> = theta.collect();
    assert!(theta.contains(&0.0) && theta.iter().all(|x| *x == 0.0 || *x > 1e-9), "{theta:?}");
    // The answer turns over what is held at the end.
    assert!(at(&one, "turnover") < 1.0 && at(&windows[0], "turnover") > 0.99);
    let text = desk.run(&format!("{flags} --report page.html"));
    let shown = text.out;
    assert!(shown.contains("Out of sample") && shown.contains("largest fall"), "{shown}");
    let page = fs::read_to_string(desk.path().join("page.html")).expect("a page");
    assert!(page.contains("Turnover by window") && page.contains("Drawdown out"), "no pictures");
}

#[test]
fn an_asset_with_gaps_walks_where_it_has_none() {
    let desk = desk();
    let mut table = "date,a,b,c\n".to_owned();
    for i in 0..40 {
        let wave = f64::from(i % 5) - 2.0;
        let late = if i < 12 { String::new() } else { format!("{}", 0.4 - 0.5 * wave) };
        let (day, other) = (1 + i % 28, 0.1 - wave * 0.7 + f64::from(i % 3));
        let _ = writeln!(table, "2024-{:02}-{day:02},{wave},{other},{late}", 1 + i / 28);
    }
    desk.file("gaps.csv", &table);
    desk.assert_refused("gaps.csv", &["missing"]);
    let answer = desk.json(&format!("gaps.csv {LONG_ONLY} --walk-forward 10,10"), 0);
    let windows = answer["walk_forward"]["windows"].as_array().expect("windows");
    let assets: Vec<u64> =
        windows.iter().map(|window| window["assets"].as_u64().expect("a count")).collect();
    assert_eq!(assets, [2, 2, 3]);
    assert_eq!(answer["names"], serde_json::json!(["a", "b", "c"]));
}

#[test]
fn rows_that_go_back_in_time_are_no_course() {
    let desk = desk();
    desk.file(
        "s.csv",
        "Date,A,B\n2024-01-05,1,0.5\n2024-01-03,2,1\n2024-01-04,1,-1\n2024-01-08,-1,1\n",
    );
    for flag in ["--walk-forward 2,1", "--half-life 2"] {
        let parts = ["s.csv", flag.split(' ').next().expect("a flag"), "'2024-01-03' follows"];
        desk.assert_refused(&format!("s.csv {LONG_ONLY} {flag}"), &parts);
    }
    assert_eq!(desk.run(&format!("s.csv {LONG_ONLY}")).code, Some(0));
}

#[test]
fn weights_are_written_with_trades() {
    let desk = desk();
    let answer = desk.json(&format!("{LONG_ONLY} --weights weights.csv"), 0);
    let written = fs::read_to_string(desk.path().join("weights.csv")).expect("weights");
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!((lines[0], lines.len()), ("asset,weight", 26));
    let theta = answer["theta"].as_array().expect("theta");
    for (line, x) in lines[1..].iter().zip(theta) {
        let weight: f64 = line.split_once(',').expect("two cells").1.parse().expect("a number");
        assert_eq!(Some(weight), x.as_f64());
    }
    // What was written can be held.
    let again =
        desk.json(&format!("{LONG_ONLY} --current weights.csv --cost 0.01 --weights next.csv"), 0);
    assert!(at(&again, "turnover") < 1e-9, "{again}");
    let written = fs::read_to_string(desk.path().join("next.csv")).expect("weights");
    assert!(written.starts_with("asset,weight,current,trade\n"), "{written}");
}

#[test]
fn what_has_no_answer_is_refused() {
    let desk = desk();
    for (flags, parts) in [
        ("--objective max-sharpe", &["--constraint long-only", "fixed sum"][..]),
        (
            "--constraint long-only --objective max-sharpe --risk-free 9",
            &["--risk-free 9", "0.0620207"],
        ),
        ("--constraint sum-to-one --objective max-return", &["nothing bounds", "--max-risk"]),
        ("--constraint long-only --max-risk 1", &["--max-risk 1", "--objective max-return"]),
        (
            "--constraint long-only --objective max-return --max-risk 0.1",
            &["--max-risk 0.1", "1.04365"],
        ),
        ("--frontier 5", &["--frontier", "nothing bounds the weights"]),
        ("--constraint long-only --frontier 1", &["--frontier 1", "at least 2"]),
        (
            "--constraint long-only --walk-forward 8000,20",
            &["--walk-forward 8000,20", "7240 periods"],
        ),
        ("--walk-forward 10", &["--walk-forward", "two whole numbers above 0"]),
        ("--weights nowhere/weights.csv", &["--weights", "no such folder"]),
    ] {
        desk.assert_refused(flags, parts);
    }
}
