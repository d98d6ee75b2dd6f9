//! Risks of losses, budgets of risk, weights of periods, benchmarks and moments: what is printed,
//! and what is refused.

use super::*;

const LONG_ONLY: &str = "--constraint long-only";

fn gap(answer: &Value) -> f64 {
    answer["certificate"]["gap"].as_f64().expect("a proof")
}

#[test]
fn risks_of_losses_are_those_of_the_weights_that_are_printed() {
    let desk = desk();
    let returns = small();
    desk.file("small.csv", &csv(&returns));
    let earned = |theta: &[f64]| -> Vec<f64> {
        let of = |i: usize| returns.row(i).iter().zip(theta).map(|(x, t)| x * t).sum();
        (0..returns.rows()).map(of).collect()
    };
    let flags = format!("small.csv {LONG_ONLY} --tolerance 1e-8");
    let answer = desk.json(&format!("{flags} --risk cvar --level 0.9"), 0);
    let theta = numbers(&answer["theta"]);
    assert_eq!(theta.len(), 4);
    let mut r = earned(&theta);
    r.sort_by(f64::total_cmp);
    let worst = -r[..30].iter().sum::<f64>() / 30.0;
    assert_close(number(&answer["risk"]), worst, 1e-9);
    assert_close(number(&answer["value_at_risk"]), -r[30], 1e-1);
    let expected = worst - expected_return(&returns, &theta);
    assert_close(number(&answer["objective"]), expected, 1e-8);
    assert!(gap(&answer) < 1e-6);
    assert_eq!(answer["settings"]["level"], 0.9);
    let answer = desk.json(&format!("{flags} --risk entropic --exponent 0.5"), 0);
    let r = earned(&numbers(&answer["theta"]));
    let mean = r.iter().map(|r| (-0.5 * r).exp()).sum::<f64>() / 300.0;
    assert_close(number(&answer["risk"]), mean.ln() / 0.5, 1e-9);
    let answer = desk.json(&format!("{flags} --risk kelly --percent --objective min-risk"), 0);
    let r = earned(&numbers(&answer["theta"]));
    let mean = -r.iter().map(|r| (1.0 + r / 100.0).ln()).sum::<f64>() / 300.0;
    assert_close(number(&answer["objective"]), mean, 1e-9);
    let text = desk.run(&format!("{flags} --risk cvar")).out;
    for words in ["CVaR", "at 0.95; value at risk", "-return + CVaR(0.95)"] {
        assert!(text.contains(words), "{text}");
    }
    // An answer is a start, though the run has one coordinate more.
    desk.file("answer.json", &answer.to_string());
    desk.json(&format!("{flags} --risk cvar --start answer.json"), 0);
}

#[test]
fn risk_budgets_are_met_and_go_with_nothing_else() {
    let desk = desk();
    let answer = desk.json("--risk-budget equal", 0);
    for part in numbers(&answer["risk_contributions"]) {
        assert_close(part, 0.04, 1e-9);
    }
    assert_close(numbers(&answer["theta"]).iter().sum(), 1.0, 1e-12);
    assert!(gap(&answer) < 1e-9);
    desk.file("small.csv", &csv(&small()));
    let names = small().names;
    let budget = |parts: &[f64]| -> String {
        let row = |(name, part): (&String, &f64)| format!("{name},{part}\n");
        "asset,budget\n".to_owned() + &names.iter().zip(parts).map(row).collect::<String>()
    };
    desk.file("budget.csv", &budget(&[4.0, 3.0, 2.0, 1.0]));
    let answer = desk.json("small.csv --risk-budget budget.csv", 0);
    for (part, wanted) in numbers(&answer["risk_contributions"]).iter().zip([0.4, 0.3, 0.2, 0.1]) {
        assert_close(*part, wanted, 1e-9);
    }
    for (flag, word) in [
        ("--risk cvar", "--risk variance"),
        ("--constraint box=0,0.3", "--constraint box=0,0.3"),
        ("--target-return 0.1", "--target-return"),
        ("--l2 0.1", "--l2"),
        ("--gross 2", "--gross"),
        ("--benchmark S1B1", "--benchmark"),
    ] {
        desk.assert_refused(&format!("--risk-budget equal {flag}"), &["--risk-budget", word]);
    }
    desk.file("zero.csv", &budget(&[4.0, 0.0, 2.0, 1.0]));
    desk.assert_refused("small.csv --risk-budget zero.csv", &["--risk-budget: 0 for"]);
    desk.file("short.csv", &budget(&[4.0, 3.0]));
    desk.assert_refused("small.csv --risk-budget short.csv", &["has none"]);
    desk.assert_refused("--risk-budget nowhere.csv", &["nowhere.csv: no such file"]);
}

#[test]
fn periods_are_weighed_by_a_column_a_file_or_their_age() {
    let desk = desk();
    let returns = small();
    let names = returns.names.join(",");
    let row = |i: usize| returns.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let weight = |i: usize| 0.5_f64.powf((299 - i) as f64 / 40.0);
    let table: String = (0..300).map(|i| weight(i).to_string() + "," + &row(i) + "\n").collect();
    desk.file("weighted.csv", &format!("w,{names}\n{table}"));
    let table: String = (0..300).map(|i| row(i) + "\n").collect();
    desk.file("plain.csv", &format!("{names}\n{table}"));
    let list: String = (0..300).map(|i| weight(i).to_string() + "\n").collect();
    desk.file("list.txt", &list);
    desk.file("column.csv", &format!("weight\n{list}"));
    for risk in ["variance", "absolute", "cvar", "entropic", "kelly --percent"] {
        let theta = |flags: &str| {
            let flags = format!("{flags} {LONG_ONLY} --risk {risk} --tolerance 1e-9");
            let answer = desk.json(&flags, 0);
            assert_eq!(answer["names"].as_array().expect("names").len(), 4);
            number(&answer["objective"])
        };
        let by_age = theta("plain.csv --half-life 40");
        for flags in [
            "weighted.csv --weight w",
            "plain.csv --weight list.txt",
            "plain.csv --weight column.csv",
        ] {
            assert_close(theta(flags), by_age, 1e-7);
        }
    }
    let text = desk.run(&format!("plain.csv {LONG_ONLY} --half-life 40")).out;
    assert!(text.contains("count as much as"), "{text}");
    desk.assert_refused("plain.csv --weight w", &["--weight w", "neither a column", "nor a file"]);
    desk.file("few.txt", "1\n2\n");
    desk.assert_refused("plain.csv --weight few.txt", &["few.txt", "300"]);
    desk.assert_refused("plain.csv --half-life 0.001", &["--half-life 0.001", "fewer than two"]);
    desk.assert_refused(
        "plain.csv --benchmark SPY",
        &["--benchmark SPY", "no column is called 'SPY'"],
    );
}

#[test]
fn a_benchmark_makes_a_tracking_error() {
    let desk = desk();
    let returns = small();
    desk.file("small.csv", &csv(&returns));
    let name = &returns.names[2];
    let flags = format!("small.csv {LONG_ONLY} --objective min-risk --benchmark {name}");
    let answer = desk.json(&flags, 0);
    let theta = numbers(&answer["theta"]);
    let others = [0, 1, 3];
    let gaps: Vec<f64> = (0..300)
        .map(|i| {
            let held: f64 = others.iter().zip(&theta).map(|(&l, t)| returns.row(i)[l] * t).sum();
            held - returns.row(i)[2]
        })
        .collect();
    let mean = gaps.iter().sum::<f64>() / 300.0;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 300.0;
    assert_close(number(&answer["risk"]), variance, 1e-9);
    assert_close(number(&answer["standard_deviation"]), variance.sqrt(), 1e-9);
    let beyond = number(&answer["expected_return"]) - number(&answer["benchmark_return"]);
    assert_close(beyond, mean, 1e-8);
}

#[test]
fn moments_take_the_place_of_returns() {
    let desk = desk();
    desk.file("covariance.csv", "asset,a,b\na,0.04,0.01\nb,0.01,0.09\n");
    desk.file("mean.csv", "asset,mean\nb,0.2\na,0.1\n");
    let flags = "--covariance covariance.csv --mean mean.csv --constraint sum-to-one";
    let answer = desk.json(flags, 0);
    // With theta = (1 - x, x): -0.1 - 0.1 x + 0.04 (1-x)^2 + 0.02 x (1-x) + 0.09 x^2.
    let x = (0.1 + 0.08 - 0.02) / (2.0 * (0.04 - 0.02 + 0.09));
    assert_close(numbers(&answer["theta"])[1], x, 1e-9);
    let text = desk.run(flags).out;
    assert!(
        text.contains("Portfolio of 2 assets by mean and covariance\ncovariance.csv\n"),
        "{text}"
    );
    // Without a mean, the least risk; pandas leaves the corner empty.
    desk.file("corner.csv", ",a,b\na,0.04,0.01\nb,0.01,0.09\n");
    let least =
        desk.json("--covariance corner.csv --constraint sum-to-one --objective min-risk", 0);
    assert_close(numbers(&least["theta"])[1], 0.03 / 0.11, 1e-9);
    let parity = desk.json("--covariance corner.csv --risk-budget equal", 0);
    assert_close(numbers(&parity["theta"])[1], 0.4, 1e-9);
    // b b' f + D is the same matrix.
    desk.file("loadings.csv", "asset,market\na,1\nb,1\n");
    desk.file("factor.csv", "factor,market\nmarket,0.01\n");
    desk.file("specific.csv", "asset,variance\na,0.03\nb,0.08\n");
    let model = "--factors loadings.csv --factor-covariance factor.csv --specific specific.csv";
    let found = desk.json(&format!("{model} --mean mean.csv --constraint sum-to-one"), 0);
    assert_close(numbers(&found["theta"])[1], x, 1e-9);

    let min_risk = "--objective min-risk --constraint long-only";
    desk.assert_refused("--covariance covariance.csv", &["covariance.csv", "expected --mean FILE"]);
    desk.file("skew.csv", "asset,a,b\na,0.04,0.02\nb,0.01,0.09\n");
    let skew = format!("--covariance skew.csv {min_risk}");
    desk.assert_refused(&skew, &["--covariance is not symmetric", "row b, column a"]);
    desk.file("wild.csv", "asset,a,b\na,0.04,0.1\nb,0.1,0.09\n");
    let wild = format!("--covariance wild.csv {min_risk}");
    desk.assert_refused(&wild, &["--covariance is not positive semidefinite"]);
    desk.file("other.csv", "asset,a,c\na,0.04,0.1\nb,0.1,0.09\n");
    let other = format!("--covariance other.csv {min_risk}");
    desk.assert_refused(&other, &["other.csv, line 3", "'b' is no column"]);
    let risk = format!("--covariance covariance.csv {min_risk} --risk cvar");
    desk.assert_refused(&risk, &["--risk cvar", "expected --risk variance"]);
    let aged = format!("--covariance covariance.csv {min_risk} --half-life 3");
    desk.assert_refused(&aged, &["--half-life"]);
    desk.file("small.csv", &csv(&small()));
    let both = format!("small.csv --covariance covariance.csv {min_risk}");
    desk.assert_refused(&both, &["exclude each other"]);
    desk.assert_refused("small.csv --mean mean.csv", &["--mean", "--covariance"]);
    desk.assert_refused("--factors loadings.csv", &["--factor-covariance"]);
}

#[test]
fn percent_and_fractions_are_told_apart() {
    let desk = desk();
    let flags = format!("{LONG_ONLY} --risk kelly --objective min-risk");
    desk.assert_refused(&flags, &["--risk kelly", "percent", "S1B1 has -11.69 in period 6588"]);
    desk.assert_refused(&format!("{LONG_ONLY} --percent"), &["--percent", "--risk kelly"]);
    desk.assert_refused("--risk cvar", &["--risk cvar needs a bound"]);
    desk.assert_refused(&format!("{LONG_ONLY} --level 0.9"), &["--level 0.9", "--risk cvar"]);
    for level in ["1", "-0.1", "x"] {
        desk.assert_refused(&format!("{LONG_ONLY} --risk cvar --level {level}"), &["--level"]);
    }
}
