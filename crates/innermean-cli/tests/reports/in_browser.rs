//! What a page does in a browser.

use std::fs;

use super::browser::Browser;
use super::*;

/// How many curves are drawn.
const CURVES: &str = "document.querySelectorAll('#panels path.curve').length";
/// The numbers at the axes.
const TICKS: &str =
    "[...document.querySelectorAll('#panels svg text')].map((text) => text.textContent).join(' ')";

/// Where the curve of `name` ends, in the window.
fn end_of(name: &str) -> String {
    format!(
        "(() => {{ const path = document.querySelector('path.curve[data-name=\"{name}\"]'); path.ownerSVGElement.scrollIntoView({{ block: 'center' }}); \
         const at = path.getPointAtLength(path.getTotalLength()).matrixTransform(path.getScreenCTM()); return [at.x, at.y]; }})()"
    )
}

/// A number behind a label in what is read.
fn reading(text: &str, label: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{label}: ")));
    line.unwrap_or_else(|| panic!("{label} in {text}")).replace(',', "").parse().expect("a number")
}

#[test]
fn curves_are_switched_read_and_zoomed_without_a_complaint() {
    let desk = Desk::at("compare portfolio");
    desk.file("small.csv", &csv(&small()));
    let answer =
        desk.json("small.csv --methods svrpda1,lbfgs,gd --max-seconds 0.3 --report page.html", 0);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&desk.path().join("page.html"));
    assert_eq!(browser.value(CURVES), 3);

    // A curve is switched off and on again by the legend.
    browser.click("#legend button[data-name=gd]");
    assert_eq!(browser.value(CURVES), 2);
    let pressed =
        "document.querySelector('#legend button[data-name=gd]').getAttribute('aria-pressed')";
    assert_eq!(browser.value(pressed), "false");
    browser.click("#legend button[data-name=gd]");
    assert_eq!((browser.value(CURVES), browser.value(pressed)), (3.into(), "true".into()));

    // What is read at the end of a curve is what the run ended with.
    let end = browser.spot(&end_of("lbfgs"));
    browser.point((end.0 + 2.0, end.1));
    let text = browser.value("document.getElementById('reading').innerText");
    let text = text.as_str().expect("a text");
    let run = &answer["methods"].as_array().expect("methods")[1]["runs"][0];
    assert!(text.starts_with("lbfgs, seed 0"), "{text}");
    for (label, expected) in [("oracle calls", &run["calls"]), ("objective − optimum", &run["gap"])]
    {
        let (read, expected) = (reading(text, label), number(expected));
        assert!((read - expected).abs() <= 5e-3 * expected.abs(), "{label}: {read} and {expected}");
    }

    // A drag zooms, a double click goes back.
    let before = browser.value(TICKS);
    browser.mouse("mousePressed", (end.0 - 60.0, end.1 - 90.0), 1);
    browser.mouse("mouseMoved", (end.0 - 20.0, end.1 - 40.0), 0);
    browser.mouse("mouseReleased", (end.0 - 20.0, end.1 - 40.0), 1);
    assert_ne!(browser.value(TICKS), before);
    for clicks in [1, 2] {
        browser.mouse("mousePressed", end, clicks);
        browser.mouse("mouseReleased", end, clicks);
    }
    assert_eq!(browser.value(TICKS), before);

    // Seconds instead of calls, and axes of equal parts.
    browser.click("#controls span:nth-child(1) button:nth-of-type(2)");
    assert!(browser.value(TICKS).as_str().is_some_and(|ticks| ticks.contains("seconds")));
    browser.click("#controls span:nth-child(2) button:nth-of-type(2)");
    browser.click("#controls span:nth-child(3) button:nth-of-type(2)");
    assert!(!browser.value(TICKS).as_str().expect("texts").contains("⁻"));

    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    let elsewhere =
        browser.requests.iter().find(|url| !url.starts_with("file:") && !url.starts_with("data:"));
    assert_eq!(elsewhere, None);
}

#[test]
fn a_page_is_read_on_a_phone_and_in_the_dark() {
    let desk = Desk::at("portfolio");
    let answer = desk.json("--constraint long-only --method svrpda1 --report page.html", 0);
    let Some(mut browser) = Browser::start() else { return };
    let background = "getComputedStyle(document.body).backgroundColor";
    browser.dark(true);
    browser.open(&desk.path().join("page.html"));
    let dark = browser.value(background);
    browser.click("#theme");
    let light = browser.value(background);
    assert_eq!(
        (dark.as_str(), light.as_str()),
        (Some("rgb(21, 24, 28)"), Some("rgb(255, 255, 255)"))
    );
    browser.click("#theme");
    assert_eq!(browser.value(background), dark);
    browser.size(360, 740);
    let widths = browser.value(
        "[document.documentElement.scrollWidth, document.querySelector('#panels svg').clientWidth]",
    );
    assert!(number(&widths[0]) <= 360.0 && number(&widths[1]) > 250.0, "{widths}");
    // The answer is on the first screen: names and bars, the longest for the largest weight.
    let bars = browser.value(
        "[...document.querySelector('.bars').querySelectorAll('.track')].map((track) => track.firstChild ? track.firstChild.getBoundingClientRect().width : 0)",
    );
    // Zeros share the last row.
    let mut weights = numbers(&answer["theta"]);
    weights.retain(|weight| *weight != 0.0);
    weights.push(0.0);
    let bars = numbers(&bars);
    let largest = |of: &[f64]| (0..of.len()).max_by(|&a, &b| of[a].total_cmp(&of[b]));
    assert_eq!((bars.len(), largest(&bars)), (weights.len(), largest(&weights)));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn what_users_write_is_text() {
    let desk = Desk::at("portfolio");
    let name = "<img src=x onerror=alert(1)>";
    let text = csv(&small()).replacen(&small().names[0], name, 1);
    let file = "it's <b>&amp;.csv";
    desk.file(file, &text);
    let run =
        desk.command("--report page.html --plot plot.svg").arg(file).output().expect("it runs");
    assert!(run.status.success(), "{run:?}");
    for output in ["page.html", "plot.svg"] {
        let text = fs::read_to_string(desk.path().join(output)).expect(output);
        assert!(!text.contains("<img") && !text.contains("<b>"), "{output}");
    }
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&desk.path().join("page.html"));
    assert_eq!(browser.value("document.querySelector('.bars .name').textContent"), name);
    assert_eq!(browser.value("document.querySelectorAll('img, b').length"), 0);
    let again =
        "document.getElementById('command').textContent.endsWith(\"'it'\\\\''s <b>&amp;.csv'\")";
    assert_eq!(browser.value(again), true);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn eighteen_panels_share_a_legend() {
    let desk = Desk::at("report");
    for panel in 0..18 {
        for (k, name) in NAMES.iter().enumerate() {
            store(
                &desk,
                &format!("portfolio-{panel}/{name}-seed0.jsonl"),
                1500,
                30.0 / (1.0 + k as f64),
            );
        }
    }
    let folders: Vec<String> = (0..18).map(|panel| format!("portfolio-{panel}")).collect();
    let run = desk.run(&format!("{} --out page.html --plot plot.png", folders.join(" ")));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let size = fs::metadata(desk.path().join("page.html")).expect("the page").len();
    assert!((500_000..3_000_000).contains(&size), "{size} bytes");
    let Some(mut browser) = Browser::start() else { return };
    let mut times = Vec::new();
    for _ in 0..3 {
        browser.open(&desk.path().join("page.html"));
        times.push(number(
            &browser.value("performance.getEntriesByType('navigation')[0].domComplete"),
        ));
    }
    assert_eq!(
        (
            browser.value(CURVES),
            browser.value("document.querySelectorAll('#panels figure').length")
        ),
        (144.into(), 18.into())
    );
    // One legend for all.
    assert_eq!(browser.value("document.querySelectorAll('#legend button').length"), 8);
    browser.click("#legend button[data-name=gd]");
    assert_eq!(browser.value(CURVES), 126);
    // How long that takes is the machine's; less than a second on an idle one.
    println!("18 panels: {size} bytes, opened in {times:.0?} ms");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
