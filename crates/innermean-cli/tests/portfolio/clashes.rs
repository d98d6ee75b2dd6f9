//! Limits that contradict each other, in all combinations: refused by name, and what is said to help
//! does.

use std::fmt::Write as _;

use innermean::draws::Stream;

use super::*;

/// Limits as an analyst gives them.
#[derive(Debug, Default)]
struct Asked {
    constraint: &'static str,
    /// Asset, lower, upper, group.
    assets: Vec<(String, Option<f64>, Option<f64>, String)>,
    /// Group, lower, upper.
    groups: Vec<(String, Option<f64>, Option<f64>)>,
    /// Flags with a number.
    numbers: Vec<(&'static str, f64)>,
    held: Vec<(String, f64)>,
}

fn cell(number: Option<f64>) -> String {
    number.map_or(String::new(), |x| x.to_string())
}

impl Asked {
    /// The flags, with the files written.
    fn flags(&self, desk: &Desk) -> String {
        let mut flags = format!("market.csv --objective min-risk --constraint {}", self.constraint);
        let mut table = |flag: &str, header: &str, rows: Vec<String>| {
            if !rows.is_empty() {
                let name = format!("{}.csv", flag.trim_start_matches('-'));
                desk.file(&name, &format!("{header}\n{}\n", rows.join("\n")));
                let _ = write!(flags, " {flag} {name}");
            }
        };
        let asset = |(name, lo, hi, group): &(String, Option<f64>, Option<f64>, String)| {
            format!("{name},{},{},{group}", cell(*lo), cell(*hi))
        };
        table("--limits", "asset,lower,upper,group", self.assets.iter().map(asset).collect());
        let group = |(name, lo, hi): &(String, Option<f64>, Option<f64>)| {
            format!("{name},{},{}", cell(*lo), cell(*hi))
        };
        table("--group-limits", "group,lower,upper", self.groups.iter().map(group).collect());
        let held = |(name, weight): &(String, f64)| format!("{name},{weight}");
        table("--current", "asset,weight", self.held.iter().map(held).collect());
        for (flag, number) in &self.numbers {
            let _ = write!(flags, " {flag} {number}");
        }
        flags
    }

    /// Does what a message says.
    fn relax(&mut self, message: &str) {
        let (_, remedy) = message.trim_end().rsplit_once("; ").expect("a remedy");
        for step in remedy.split(" and ") {
            let words: Vec<&str> = step.split_whitespace().collect();
            let to: f64 = words.last().expect("a word").parse().expect(step);
            if words[0].starts_with("--") || words[1].starts_with("--") {
                let flag = words[usize::from(!words[0].starts_with("--"))];
                let known = self.numbers.iter_mut().find(|(own, _)| *own == flag);
                known.expect("a flag that was given").1 = to;
                continue;
            }
            assert_eq!((words[1], &words[3..5]), ("the", &["limit", "of"][..]), "{step}");
            let (lower, upper) = if words[5] == "group" {
                let name = words[6].trim_matches('\'');
                let group = self.groups.iter_mut().find(|(own, ..)| own == name);
                group.map(|(_, lower, upper)| (lower, upper)).expect("a group")
            } else {
                let asset = self.assets.iter_mut().find(|(own, ..)| own == words[5]);
                asset.map(|(_, lower, upper, _)| (lower, upper)).expect("an asset")
            };
            let (end, is_less) = if words[2] == "lower" { (lower, true) } else { (upper, false) };
            let before = end.replace(to).expect("a limit that was given");
            assert_eq!(words[0], if is_less { "lower" } else { "raise" }, "{step}");
            assert_eq!(to < before, is_less, "{step}");
        }
    }
}

/// A contradiction of some kind, and words that must name it.
fn contradiction(kind: usize, market: &Returns, draws: &mut Stream) -> (Asked, Vec<&'static str>) {
    let (names, mean) = (&market.names, means(market));
    let d = names.len();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| mean[b].total_cmp(&mean[a]));
    let (best, second) = (mean[order[0]], mean[order[1]]);
    let mut part = |least: f64, most: f64| least + (most - least) * draws.unit();
    let group = |l: usize| if l < d / 2 { "first" } else { "second" };
    let all = |lower: &dyn Fn(usize) -> Option<f64>, upper: &dyn Fn(usize) -> Option<f64>| {
        let row = |l: usize| (names[l].clone(), lower(l), upper(l), group(l).to_owned());
        (0..d).map(row).collect::<Vec<_>>()
    };
    let none = |_: usize| None;
    let mut asked = Asked { constraint: "long-only", ..Asked::default() };
    let words = match kind {
        0 => {
            let upper = part(0.3, 0.9) / d as f64;
            asked.assets = all(&none, &|_| Some(upper));
            vec!["sum 1", "the limits of single assets", "upper limit of"]
        }
        1 => {
            let lower = part(1.1, 2.0) / d as f64;
            asked.constraint = "sum-to-one";
            asked.assets = all(&|_| Some(lower), &none);
            vec!["sum 1", "the limits of single assets", "lower limit of"]
        }
        2 => {
            asked.assets = all(&none, &none);
            asked.groups = vec![
                ("first".to_owned(), Some(part(0.55, 0.7)), None),
                ("second".to_owned(), Some(part(0.5, 0.8)), None),
            ];
            vec!["sum 1", "group 'first' at least", "group 'second' at least"]
        }
        3 => {
            asked.assets = all(&none, &none);
            asked.groups = vec![
                ("first".to_owned(), Some(0.1), Some(part(0.2, 0.4))),
                ("second".to_owned(), None, Some(part(0.2, 0.5))),
            ];
            vec!["sum 1", "group 'first' between 0.1 and", "group 'second' at most"]
        }
        4 => {
            asked.numbers = vec![("--target-return", best + part(1e-4, 1.0))];
            vec!["sum 1", "--target-return"]
        }
        5 => {
            asked.constraint = "sum-to-one=0,0.5";
            asked.numbers = vec![("--target-return", best - 0.4 * (best - second))];
            vec!["sum-to-one=0,0.5", "--target-return"]
        }
        6 => {
            asked.constraint = "sum-to-one";
            asked.numbers = vec![("--gross", part(0.2, 0.99))];
            vec!["sum 1", "--gross"]
        }
        7 => {
            let most = part(0.1, 0.5);
            asked.held = vec![(names[0].clone(), 1.0)];
            asked.assets = vec![(names[0].clone(), None, Some(most), String::new())];
            asked.numbers = vec![("--turnover", part(0.1, 0.9) * (1.0 - most))];
            vec!["sum 1", "--turnover", "the limits of single assets"]
        }
        8 => {
            asked.held = names.iter().map(|name| (name.clone(), 1.0 / d as f64)).collect();
            asked.numbers = vec![("--target-return", best - 1e-3), ("--turnover", part(0.0, 0.2))];
            vec!["sum 1", "--target-return", "--turnover"]
        }
        _ => {
            // A target that neither the group nor the cap of the best asset leaves in reach.
            let of_best = group(order[0]);
            asked.assets = all(&none, &|l| (l == order[1]).then_some(0.2));
            asked.groups = vec![(of_best.to_owned(), None, Some(part(0.02, 0.1)))];
            asked.numbers = vec![("--target-return", best - 0.05 * (best - second))];
            vec!["--target-return", "group", "the limits of single assets"]
        }
    };
    (asked, words)
}

#[test]
fn fifty_contradictions_are_named_and_what_is_said_to_help_does() {
    let mut draws = Stream::new(17, 3);
    let mut steps = 0;
    for round in 0..50 {
        // In percent, and as fractions: remedies have the digits that small returns need.
        let unit = if round % 2 == 0 { 1.0 } else { 0.01 };
        let mut market = generate_factor_model(90, 8, round as u64);
        market.values.iter_mut().for_each(|x| *x *= unit);
        let desk = desk();
        desk.file("market.csv", &csv(&market));
        let (mut asked, words) = contradiction(round % 10, &market, &mut draws);
        let said = desk.refusal(&asked.flags(&desk));
        for word in words {
            assert!(said.contains(word), "{round}: expected {word} in {said}");
        }
        assert!(said.contains("no weights meet these limits together"), "{said}");
        asked.relax(&said);
        // A norm is looked at where the rows are met: it may have to give way, too.
        let again = desk.run(&format!("{} --json", asked.flags(&desk)));
        if again.code == Some(2) {
            asked.relax(&again.err);
            steps += 1;
        }
        let answer = desk.json(&asked.flags(&desk), 0);
        assert_eq!(answer["status"], "solved", "{round}: {said} {answer}");
    }
    assert!(steps <= 5, "{steps} remedies were halves of one");
}
