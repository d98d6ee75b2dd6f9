//! The page of a portfolio: what it draws, and that it is read on a desk and on a phone.

use std::fmt::Write as _;
use std::fs;

use super::browser::Browser;
use super::*;

/// Five assets over nine years of months, as fractions.
fn months() -> String {
    let returns = innermean_data::generate_factor_model(108, 5, 11);
    let mut text = "date,A,B,C,D,E\n".to_owned();
    for i in 0..108 {
        let cells: Vec<String> = returns.row(i).iter().map(|x| (x / 30.0).to_string()).collect();
        let _ = writeln!(text, "{}-{:02}-28,{}", 2010 + i / 12, i % 12 + 1, cells.join(","));
    }
    text
}

fn page(desk: &Desk) -> String {
    fs::read_to_string(desk.path().join("page.html")).expect("the page")
}

/// The chart with this title, up to the next heading.
fn chart<'a>(page: &'a str, title: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("<h3>{title}</h3>")).expect(title);
    rest.split("<h").next().expect("something")
}

#[test]
fn returns_and_falls_of_one_asset_are_its_own() {
    let desk = Desk::at("portfolio");
    let returns = [0.1, -0.5, 0.2, 0.25, -0.1, 0.3];
    let mut text = "date,A\n".to_owned();
    for (k, x) in returns.iter().enumerate() {
        let _ = writeln!(text, "{}-12-31,{x}", 2001 + k);
    }
    desk.file("one.csv", &text);
    let args = "one.csv --constraint long-only --unit fraction --report page.html";
    let run = desk.run(args);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.out.contains("percent in all"), "a terminal sees what it saw: {}", run.out);
    let page = page(&desk);
    let value: f64 = returns.iter().map(|x| 1.0 + x).product();
    let total = format!("{:.3} percent in all", 100.0 * (value - 1.0));
    let cumulative = chart(&page, "Cumulative return in sample");
    assert!(cumulative.contains(&total), "{total}: {cumulative}");
    for year in 2002..=2006 {
        assert!(cumulative.contains(&format!(">{year}</text>")), "{year}: {cumulative}");
    }
    let falls = chart(&page, "Drawdown in sample");
    // 1.1 x 0.5 after 1.1.
    assert!(falls.contains("The largest is 50.00 percent."), "{falls}");
    let parts = chart(&page, "Contribution of each asset to the variance");
    assert!(parts.contains("<span class=\"number\">1.000"), "{parts}");
}

#[test]
fn a_page_shows_trades_contributions_frontier_and_turnover() {
    let desk = Desk::at("portfolio");
    desk.file("months.csv", &months());
    desk.file("held.csv", "asset,weight\nA,0.5\nB,0.5\n");
    let titles = |args: &str| -> Vec<String> {
        let run = desk.run(&format!("{args} --report page.html"));
        assert_eq!(run.code, Some(0), "{args}: {}", run.err);
        let page = page(&desk);
        let titles = page.split("<h3>").skip(1).filter_map(|part| part.split("</h3>").next());
        titles.map(str::to_owned).collect()
    };
    let base = "months.csv --constraint long-only --objective min-risk";
    let all = titles(&format!("{base} --current held.csv --frontier 5 --walk-forward 60,12"));
    assert_eq!(
        all,
        [
            "Weight of each asset",
            "Contribution of each asset to the variance",
            "Cumulative return in sample",
            "Drawdown in sample",
            "Frontier",
            "Frontier of 5 portfolios",
            "Return out of sample, costs taken off",
            "Drawdown out of sample",
            "Turnover by window",
            "Out of sample",
            "In numbers"
        ]
    );
    let drawn = page(&desk);
    assert!(chart(&drawn, "Weight of each asset").contains("what is held now"));
    // The last 60 months are from 2014 to 2018, and four windows of twelve hold 2015 to 2018.
    let cumulative = chart(&drawn, "Cumulative return in sample");
    assert!(cumulative.contains(">2015</text>") && cumulative.contains(">2018</text>"));
    assert!(!cumulative.contains(">2013</text>"), "{cumulative}");
    let turnover = chart(&drawn, "Turnover by window");
    assert!(turnover.contains(">2017</text>"), "{turnover}");

    // An optimum of CVaR lies on kinks, where no gradient tells contributions.
    let tail = titles(&format!("{base} --risk cvar --level 0.8"));
    assert!(!tail.iter().any(|title| title.starts_with("Contribution")), "{tail:?}");
    let tracked = titles("months.csv --constraint long-only --objective min-risk --benchmark E");
    assert!(tracked.contains(&"Cumulative return in sample".to_owned()), "{tracked:?}");
    assert!(page(&desk).contains("E (benchmark)") && page(&desk).contains("E: "));
}

#[test]
fn moments_have_no_past_on_a_page() {
    let desk = Desk::at("portfolio");
    desk.file("sigma.csv", "asset,A,B\nA,4,1\nB,1,9\n");
    let args = "--covariance sigma.csv --objective min-risk --constraint long-only";
    let run = desk.run(&format!("{args} --report page.html"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let page = page(&desk);
    assert!(page.contains("Contribution of each asset to the variance"));
    assert!(!page.contains("Cumulative return") && !page.contains("Drawdown"));
}

#[test]
fn a_unit_needs_something_to_be_added_up() {
    let desk = Desk::at("portfolio");
    desk.file("months.csv", &months());
    let run = desk.run("months.csv --constraint long-only --unit percent");
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("--report"), "{}", run.err);
}

#[test]
fn charts_are_read_on_a_desk_and_on_a_phone() {
    let desk = Desk::at("portfolio");
    desk.file("months.csv", &months());
    desk.file("held.csv", "asset,weight\nA,0.5\nB,0.5\n");
    let args = "months.csv --constraint long-only --current held.csv --frontier 5 \
                --walk-forward 60,12 --report page.html";
    let run = desk.run(args);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&desk.path().join("page.html"));
    for (width, class) in [(1200, "wide"), (360, "narrow")] {
        browser.size(width, 740);
        assert!(number(&browser.value("document.documentElement.scrollWidth")) <= f64::from(width));
        let shown = browser.value(
            "[...document.querySelectorAll('.chart svg')].filter((svg) => svg.clientWidth > 0).map((svg) => svg.getAttribute('class'))",
        );
        let shown: Vec<&str> =
            shown.as_array().expect("classes").iter().filter_map(|name| name.as_str()).collect();
        assert_eq!(shown, [class; 6], "one of two pictures");
        // Letters can be read, and stay within their picture.
        let texts = browser.value(
            "[...document.querySelectorAll('.chart svg')].filter((svg) => svg.clientWidth > 0).flatMap((svg) => { const frame = svg.getBoundingClientRect(); return [...svg.querySelectorAll('text')].map((text) => { const box = text.getBoundingClientRect(); return [Math.min(box.width, box.height), box.left - frame.left, frame.right - box.right]; }); })",
        );
        for text in texts.as_array().expect("texts") {
            let [size, left, right] = numbers(text)[..] else { panic!("{text}") };
            assert!(left > -1.0 && right > -1.0, "{width}: {text}");
            assert!(size == 0.0 || size > 6.0, "{width}: {text}");
        }
        let letters = browser.value(
            "[...document.querySelectorAll('.chart svg')].filter((svg) => svg.clientWidth > 0).map((svg) => 11 * svg.clientWidth / svg.viewBox.baseVal.width)",
        );
        assert!(numbers(&letters).iter().all(|size| *size >= 9.5), "{width}: {letters}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
