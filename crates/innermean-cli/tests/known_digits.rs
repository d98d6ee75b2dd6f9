//! What is printed is known: digits of coefficients, and the word 'solved'.

use std::fmt::Write as _;
use std::fs;

use crate::desk::{Desk, number, numbers};

/// The numbers in the first table of an answer, by name.
fn shown(out: &str, heading: &str) -> Vec<(String, String)> {
    let lines = out.lines().skip_while(|line| !line.trim_start().starts_with(heading)).skip(1);
    let rows = lines.take_while(|line| !line.is_empty());
    rows.filter_map(|line| {
        // A name may have blanks in it.
        let words: Vec<&str> = line.split_whitespace().collect();
        let k = (1..words.len()).find(|&k| words[k].parse::<f64>().is_ok())?;
        Some((words[..k].join(" "), words[k].to_owned()))
    })
    .collect()
}

/// At the default tolerance, every digit in the table is that of a solve to 1e-12.
#[test]
fn digits_at_the_default_tolerance_are_those_of_a_tight_one() {
    for (command, heading) in [
        ("bags --groups 200 --features 5", "feature"),
        ("bags --groups 200 --features 5 --link exp --l2 0.001", "feature"),
        ("bags --groups 200 --features 4 --link identity", "feature"),
        ("bags --groups 200 --features 3 --link softmax --l2 0.01", "feature"),
        ("bags --groups 100 --features 4 --l2 0.001 --method lbfgs", "feature"),
        ("bags --groups 100 --features 4 --l2 0.001 --method svrpda1", "feature"),
        ("linear --l2 0.001", "feature"),
        ("linear --l2 0.01 --loss logistic", "feature"),
        ("linear --l1 0.01 --loss logistic", "feature"),
        ("linear --l2 0.01 --loss huber", "feature"),
        ("linear --l2 0.01 --loss logistic --method lbfgs", "feature"),
        ("portfolio --constraint long-only", "asset"),
        ("portfolio --risk semivariance --constraint long-only", "asset"),
        ("policy", "state"),
    ] {
        let desk = Desk::at(command);
        let usual = desk.run("");
        assert_eq!(usual.code, Some(0), "{command}: {}{}", usual.out, usual.err);
        // By the method that suits, whichever was asked for.
        let by_auto = command.split(" --method ").next().unwrap_or(command);
        let tight = Desk::at(by_auto).run("--tolerance 1e-12 --json").out;
        let tight: serde_json::Value = serde_json::from_str(&tight).expect("JSON");
        let theta = numbers(&tight["theta"]);
        let names: Vec<&str> =
            tight["names"].as_array().expect("names").iter().filter_map(|x| x.as_str()).collect();
        let mut seen = 0;
        for (name, text) in shown(&usual.out, heading) {
            let Some(l) = names.iter().position(|x| *x == name) else { continue };
            // Of several classes, only differences of the intercepts mean anything.
            if command.contains("softmax") && name.ends_with("(intercept)") {
                continue;
            }
            let printed: f64 = text.parse().unwrap_or_else(|_| panic!("{command}: {text}"));
            let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.len());
            // Half a unit is rounding, a tenth what may be off.
            let unit = 0.1_f64.powi(i32::try_from(decimals).expect("few decimals"));
            assert!(
                (printed - theta[l]).abs() <= 0.6 * unit + 1e-12 * theta[l].abs(),
                "{command}: {name} is {text}, and {} at 1e-12\n{}",
                theta[l],
                usual.out
            );
            seen += 1;
        }
        assert!(seen > 0 || command == "policy", "{command}: {}", usual.out);
    }
}

/// Rows that a line parts.
fn apart(desk: &Desk) {
    let mut rows = "x,y,class\n".to_owned();
    for k in 0..40 {
        let x = f64::from(k) / 10.0 - 1.95;
        let _ = writeln!(rows, "{x},{},{}", (k * 7) % 5, if x > 0.0 { "yes" } else { "no" });
    }
    desk.file("apart.csv", &rows);
    desk.file("bags.csv", "group,x,label\na,-2,0\na,-1,0\nb,1,1\nb,3,1\nc,2,1\n");
    desk.file("few.csv", "group,x,y,z,label\na,1,2,1,0.4\na,2,0,3,0.4\nb,3,1,0,0.6\n");
}

/// A warning is the first thing that is said of an answer, on paper and on a page.
#[test]
fn warnings_stand_above_the_answer() {
    for (command, words) in [
        ("linear apart.csv --target class --loss logistic", "nothing holds the coefficients"),
        ("bags bags.csv", "nothing holds the coefficients"),
        ("bags few.csv", "fewer labels than coefficients"),
    ] {
        let desk = Desk::at(command);
        apart(&desk);
        let run = desk.run("--report page.html");
        let flat = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = |what: &str| {
            flat.find(what).unwrap_or_else(|| panic!("{command}: {what} in {}", run.out))
        };
        assert!(place("warning:") < place("coefficient "), "{command}: {}", run.out);
        assert!(place(words) < place("objective"), "{command}: {}", run.out);
        // Of such coefficients no digit is known but the first.
        for (name, text) in shown(&run.out, "feature") {
            let digits = text.split('e').next().unwrap_or_default();
            let digits = digits.trim_start_matches(['-', '0', '.']);
            let is_one = !digits.contains('.') && (digits.len() < 2 || !text.contains('.'));
            assert!(is_one, "{command}: {name} {text}");
        }
        assert!(!flat.contains("status solved"), "{command}: {}", run.out);
        let page = fs::read_to_string(desk.path().join("page.html")).expect("a page");
        let (_, verdict) = page.split_once("<div class=\"verdict").expect("a verdict");
        let verdict = verdict.split_once("</div>").expect("an end").0;
        assert!(!verdict.starts_with(" good"), "{command}: {verdict}");
        assert!(verdict.contains(words) && !verdict.contains("Solved"), "{command}: {verdict}");
        let answer = desk.run("--json").out;
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert!(
            answer["warnings"][0].as_str().is_some_and(|said| said.contains(words)),
            "{answer}"
        );
        // A ridge settles it.
        let run = desk.run("--l2 0.01 --report page.html");
        let flat = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!flat.contains("warning"), "{command}: {}", run.out);
        let page = fs::read_to_string(desk.path().join("page.html")).expect("a page");
        assert!(page.contains("<div class=\"verdict good\""), "{command}");
    }
}

/// Where nothing is proven, the answer is called a stationary point; and a method that stops where
/// the objective is flat is told that it falls further.
#[test]
fn methods_that_stop_at_different_objectives_are_not_both_solved() {
    let desk = Desk::at("bags");
    // Groups of one class each, but for one: coefficients grow and the objective flattens out.
    let mut rows = "group,x,y,label\n".to_owned();
    for k in 0..30 {
        let (group, j) = (k / 3, k % 3);
        let label = if group == 0 {
            "0.6"
        } else if group % 2 == 0 {
            "1"
        } else {
            "0"
        };
        let side = if group % 2 == 0 { 1.0 } else { -1.0 };
        let x = side * (0.2 + 0.1 * f64::from(j)) + 0.02 * f64::from(group);
        let _ = writeln!(rows, "g{group},{x},{},{label}", f64::from((k * 7) % 11) / 5.0 - 1.0);
    }
    desk.file("flat.csv", &rows);
    let said = desk.json("flat.csv", 0)["warnings"].to_string();
    assert!(said.contains("twice as large"), "{said}");
    let mut solved = Vec::new();
    for method in ["auto", "lbfgs", "svrpda1"] {
        let run = desk.run(&format!("flat.csv --method {method} --max-outer 3000"));
        let flat = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!flat.contains("status solved"), "{method}: {}", run.out);
        let answer = desk.run(&format!("flat.csv --method {method} --max-outer 3000 --json")).out;
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        if answer["status"] == "solved" && answer["warnings"].is_null() {
            solved.push(number(&answer["objective"]));
        }
    }
    for objective in &solved {
        assert!((objective - solved[0]).abs() <= 1e-5 * solved[0].abs(), "{solved:?}");
    }
}

/// Where all printed digits are known nobody is told to lower a tolerance, and elsewhere one is.
#[test]
fn no_digits_are_promised_that_are_there() {
    for command in ["bags --groups 60 --features 3 --l2 0.01", "linear --l2 0.01 --rows 200"] {
        let run = Desk::at(command).run("");
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(!run.out.contains("Lower the tolerance"), "{command}: {}", run.out);
    }
    let run = Desk::at("linear --rows 300 --loss logistic --l2 0.01 --method gd").run("");
    assert!(run.out.contains("Lower the tolerance for more digits"), "{}", run.out);
}

/// The same of tables that are not theta: weights of classes, values of states.
#[test]
fn tables_do_not_change_with_the_tolerance() {
    for (command, heading) in [
        ("sequences --classes 4 --generated-steps 2000 --starts 4", "class"),
        ("sequences --classes 3 --generated-steps 1500 --starts 4 --l2 0.01", "class"),
        ("policy --states 30 --features 4", "state"),
        ("policy --states 40 --features 5 --method lbfgs", "state"),
        ("policy --generate walk --states 5 --transitions 400", "state"),
    ] {
        let desk = Desk::at(command);
        let table = |more: &str| -> Vec<String> {
            let run = desk.run(more);
            assert_eq!(run.code, Some(0), "{command}: {}{}", run.out, run.err);
            let lines = run.out.lines().skip_while(|line| !line.trim_start().starts_with(heading));
            // Without the bars.
            let numbers = |line: &str| {
                line.split_whitespace().filter(|word| word.is_ascii()).collect::<Vec<_>>().join(" ")
            };
            lines.take_while(|line| !line.is_empty()).map(numbers).collect()
        };
        let usual = table("");
        assert!(usual.len() > 3, "{command}: {usual:?}");
        assert_eq!(usual, table("--tolerance 1e-12"), "{command}");
    }
}
