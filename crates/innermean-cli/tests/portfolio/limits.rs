//! Limits of assets and groups, gross exposure, turnover, costs and target returns: feasible,
//! solved with a proof, ordered as they must be; and those that clash are named.

use super::*;

const LIMITS: &str = "asset,lower,upper,group\nS4B4,,0.1,value\nS4B5,,,value\nS5B5,0.05,,value\n\
                      S1B1,,0,growth\n";
const GROUPS: &str = "group,lower,upper\nvalue,0.2,0.3\n";
const LONG_ONLY: &str = "--constraint long-only";

fn with_files() -> Desk {
    let desk = desk();
    desk.file("limits.csv", LIMITS);
    desk.file("groups.csv", GROUPS);
    let held = |l: usize| format!("S{}B{},0.04\n", l / 5 + 1, l % 5 + 1);
    let held: String = (0..25).map(held).collect();
    desk.file("held.csv", &format!("asset,weight\n{held}"));
    desk
}

fn weights(answer: &Value) -> Vec<(String, f64)> {
    let names = answer["names"].as_array().expect("names");
    let theta = answer["theta"].as_array().expect("theta");
    let pair = |(name, x): (&Value, &Value)| {
        (name.as_str().expect("a name").to_owned(), x.as_f64().expect("a weight"))
    };
    names.iter().zip(theta).map(pair).collect()
}

fn objective(answer: &Value) -> f64 {
    answer["objective"].as_f64().expect("a number")
}

#[test]
fn limits_of_assets_and_groups_hold() {
    let desk = with_files();
    for risk in ["variance", "semivariance", "absolute", "huber"] {
        let free = desk.json(&format!("{LONG_ONLY} --risk {risk}"), 0);
        let flags = "--limits limits.csv --group-limits groups.csv --tolerance 1e-9";
        let answer = desk.json(&format!("{LONG_ONLY} --risk {risk} {flags}"), 0);
        let weights = weights(&answer);
        let of = |name: &str| weights.iter().find(|(own, _)| own == name).expect("an asset").1;
        assert!(weights.iter().all(|(_, x)| *x >= 0.0), "{risk}: {weights:?}");
        let sum: f64 = weights.iter().map(|(_, x)| x).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{risk}: {sum}");
        assert_eq!(of("S1B1"), 0.0, "{risk}");
        assert!(of("S4B4") <= 0.1 + 1e-12 && of("S5B5") >= 0.05 - 1e-12, "{risk}: {weights:?}");
        let value = of("S4B4") + of("S4B5") + of("S5B5");
        assert!((0.2 - 1e-9..=0.3 + 1e-9).contains(&value), "{risk}: {value}");
        // Limits cannot help.
        assert!(objective(&answer) >= objective(&free) - 1e-6, "{risk}");
        assert!(
            answer["certificate"]["gap"].as_f64().expect("a proof") <= 1e-7,
            "{risk}: {answer}"
        );
    }
}

#[test]
fn trades_are_limited_and_paid_for() {
    let desk = with_files();
    let turnover = |flags: &str| {
        let answer = desk.json(&format!("{LONG_ONLY} --current held.csv {flags}"), 0);
        (answer["turnover"].as_f64().expect("a number"), objective(&answer))
    };
    let (free, best) = turnover("");
    assert!(free > 0.5, "{free}");
    let (limited, second) = turnover("--turnover 0.3");
    assert!((limited - 0.3).abs() < 1e-9 && second > best, "{limited} {second} {best}");
    let (paid, third) = turnover("--cost 0.05");
    assert!(paid < free && third > best, "{paid} {free}");
    // Where trades cost more than they can gain there are none.
    assert!(turnover("--cost 100").0 < 1e-9);
    assert!(turnover("--turnover 0").0 < 1e-9);
}

#[test]
fn a_target_return_is_met_at_the_least_risk_and_exposure_is_limited() {
    let desk = with_files();
    let least = desk.json(&format!("{LONG_ONLY} --objective min-risk"), 0);
    let earned = |answer: &Value| answer["expected_return"].as_f64().expect("a number");
    let target = earned(&least) + 0.005;
    let flags = format!("{LONG_ONLY} --objective min-risk --target-return {target}");
    let asked = desk.json(&flags, 0);
    assert!((earned(&asked) - target).abs() < 1e-9, "{asked}");
    assert!(objective(&asked) > objective(&least));
    let gross = desk.json("--constraint sum-to-one --objective min-risk --gross 1.2", 0);
    let sum: f64 = weights(&gross).iter().map(|(_, x)| x.abs()).sum();
    assert!(sum <= 1.2 + 1e-9, "{sum}");
}

/// The same limits as in two tables, to the last bit.
#[test]
fn limits_are_read_from_toml() {
    let desk = with_files();
    let assets = "[assets.S4B4]\nupper = 0.1 # a tenth\ngroup = 'value'\n[assets]\n\
                  S4B5.group = \"value\"\n'S5B5' = { lower = 5e-2, group = \"value\" }\n\
                  S1B1 = { upper = 0, group = 'growth' }\n";
    let groups = "[groups.value]\nlower = 0.2\nupper = 0.3\n";
    desk.file("limits.toml", &format!("{assets}{groups}"));
    desk.file("assets.toml", assets);
    desk.file("groups.toml", groups);
    let of = |flags: &str| weights(&desk.json(&format!("{LONG_ONLY} {flags}"), 0));
    let tables = of("--limits limits.csv --group-limits groups.csv");
    assert_eq!(of("--limits limits.toml"), tables);
    assert_eq!(of("--limits assets.toml --group-limits groups.toml"), tables);
    assert_eq!(of("--limits limits.csv --group-limits groups.toml"), tables);
    for (text, words) in [
        ("[asset.S4B4]\nupper = 0.1\n", "line 2: 'asset.S4B4.upper' is no limit; expected"),
        ("upper = 0.1\n", "line 1: 'upper' is no limit; expected [assets.NAME]"),
        ("[assets.S4B4]\nmax = 0.1\n", "'S4B4' has no limit 'max'; expected lower, upper or group"),
        ("[groups.value]\ngroup = 'x'\n", "'value' has no limit 'group'; expected lower or upper"),
        ("[assets.S4B4]\nupper = '0.1'\n", "line 2: 'upper' of 'S4B4' is no number"),
        ("[assets.S4B4]\ngroup = 1\n", "line 2: the group of 'S4B4' is no text"),
        ("[assets.S4B4]\nupper = 10%\n", "bad.toml, line 2: '10%' is no value; expected"),
        ("[assets.S9B9]\nupper = 0.1\n", "no asset is called 'S9B9'"),
        ("[groups.energy]\nupper = 0.1\n", "belongs to the group 'energy'"),
    ] {
        desk.file("bad.toml", text);
        desk.assert_refused(&format!("{LONG_ONLY} --limits bad.toml"), &[words]);
    }
    let twice = "--limits limits.toml --group-limits groups.csv";
    desk.assert_refused(twice, &["--group-limits", "has [groups] already"]);
    let other = "--limits limits.csv --group-limits assets.toml";
    desk.assert_refused(other, &["has limits of assets; give it by --limits"]);
}

#[test]
fn what_clashes_or_is_unknown_is_named() {
    let desk = with_files();
    let target = format!("{LONG_ONLY} --target-return 5");
    desk.assert_refused(&target, &["--target-return 5", "sum 1", "lower --target-return 5 to"]);
    desk.file("tight.csv", "asset,upper\nS1B1,0.5\n");
    let box_of = "--constraint sum-to-one=0,0.041 --limits tight.csv --target-return 0.9";
    desk.assert_refused(box_of, &["no weights meet these limits together", "--target-return"]);
    let trades = format!("{LONG_ONLY} --current held.csv --turnover 0.01 --limits limits.csv");
    desk.assert_refused(&trades, &["--turnover 0.01", "--turnover must be at least 0.08"]);
    desk.file("unknown.csv", "asset,upper\nXYZ,0.5\n");
    desk.assert_refused("--limits unknown.csv", &["no asset is called 'XYZ'", "S1B1"]);
    desk.file("twice.csv", "asset,upper\nS1B1,0.5\nS1B1,0.4\n");
    desk.assert_refused("--limits twice.csv", &["'S1B1' is named twice"]);
    desk.file("crossed.csv", "asset,lower,upper\nS1B1,0.5,0.4\n");
    desk.assert_refused("--limits crossed.csv", &["S1B1", "0.5 is above", "0.4"]);
    desk.file("none.csv", "asset,size\nS1B1,0.5\n");
    desk.assert_refused("--limits none.csv", &["none.csv", "expected a column 'lower', 'upper'"]);
    desk.file("typo.csv", "asset,lower,uper\nS1B1,0,0.5\n");
    desk.assert_refused("--limits typo.csv", &["typo.csv: the column 'uper' is no limit"]);
    desk.file("empty.csv", "group,upper\nenergy,0.5\n");
    let group = "--limits limits.csv --group-limits empty.csv";
    desk.assert_refused(group, &["no asset of --limits belongs to the group 'energy'"]);
    desk.assert_refused("--turnover 0.1", &["--current"]);
}
