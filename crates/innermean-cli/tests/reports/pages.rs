//! What is written.

use std::fs;

use serde_json::Value;

use super::*;

/// The numbers of a page's curves.
fn data(page: &str) -> Value {
    let (_, rest) =
        page.split_once("<script id=\"data\" type=\"application/json\">").expect("numbers");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

fn text(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_command_makes_a_page_and_pictures() {
    for (command, words) in [
        ("portfolio --constraint long-only", "Weight of each asset"),
        ("policy", "Value of each state"),
        ("linear --l2 0.1", "Coefficient of each feature"),
        ("bags --groups 50 --features 3", "Coefficient of each feature"),
        (
            "sequences --generated-steps 600 --classes 3 --features 4 --starts 1 --max-outer 20",
            "Weight of each coordinate",
        ),
        ("compare policy --methods svrpda1,lbfgs --max-seconds 0.2", "Oracle calls to a gap"),
    ] {
        let desk = Desk::at(command);
        let plain = desk.run("");
        let run = desk.run("--report page.html --plot plot.svg");
        assert!(run.code.is_some_and(|code| code < 2), "{command}: {}", run.err);
        assert_eq!(
            run.out.lines().next(),
            plain.out.lines().next(),
            "{command}: the terminal sees the same"
        );
        let page = text(&desk, "page.html");
        for words in [words, "Convergence", "Settings", "innermean 0.", "id=\"command\">innermean "]
        {
            assert!(page.contains(words), "{command}: {words}");
        }
        // The name of SVG is no address.
        let named = page.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !named.contains("http://") && !named.contains("https://"),
            "{command}: a page names no other"
        );
        assert!(!page.contains('\u{1b}'), "{command}: no colours of a terminal");
        let picture = text(&desk, "plot.svg");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{command}");
        desk.run("--plot plot.PNG --json");
        let picture = fs::read(desk.path().join("plot.PNG")).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG"), "{command}");
        assert_eq!(desk.names(), ["page.html", "plot.PNG", "plot.svg"], "{command}");
    }
}

#[test]
fn a_page_says_what_is_proven_and_shows_it() {
    let desk = Desk::at("portfolio");
    let answer =
        desk.json("--constraint long-only --method svrpda1 --report page.html --plot plot.svg", 0);
    let page = text(&desk, "page.html");
    let gap = format!(
        "within {:.1e} of the optimum (quadratic bound",
        number(&answer["certificate"]["gap"])
    );
    assert!(page.contains(&gap), "{gap}");
    assert_eq!(data(&page)["y"][0]["title"], "proven gap");
    let curve = numbers(&data(&page)["panels"][0]["runs"][0]["y"][0]);
    let (last, proven) = (curve[curve.len() - 1], number(&answer["certificate"]["gap"]));
    assert!((last - proven).abs() <= 1e-4 * proven, "{last} {proven}");
    assert!(text(&desk, "plot.svg").contains("proven gap"));

    // Semivariance that nothing holds is proven near the optimum.
    desk.json("--risk semivariance --report page.html --plot plot.svg", 0);
    let page = text(&desk, "page.html");
    assert!(page.contains("is proven to be within"), "the certificate");
}

#[test]
fn a_page_has_the_notes_that_the_terminal_has() {
    let desk = Desk::at("portfolio small.csv --constraint long-only");
    desk.file("small.csv", &csv(&small()));
    let start = vec!["-1"; small().assets()].join("\n");
    desk.file("start.txt", &start);
    let run = desk.run("--start start.txt --report page.html");
    let said = "The start given is not allowed by the constraint";
    assert!(run.out.contains(said), "{}", run.out);
    assert!(text(&desk, "page.html").contains(said));
}

#[test]
fn marks_are_at_the_points_of_a_run() {
    let desk = Desk::at("portfolio");
    desk.run("--method direct --trace run.jsonl --plot plot.svg");
    assert_eq!(text(&desk, "run.jsonl").lines().count(), 2);
    let picture = text(&desk, "plot.svg");
    assert_eq!(picture.matches("<circle").count(), 2, "{picture}");
}

#[test]
fn a_page_from_traces_shows_what_the_comparison_showed() {
    let desk = Desk::at("");
    desk.file("small.csv", &csv(&small()));
    let compare = "compare portfolio small.csv --methods svrpda1,lbfgs --repeat 2 --max-seconds 0.3 --trace-dir traces --report first.html";
    assert_eq!(desk.run(compare).code, Some(0));
    let run = desk.run("report traces --out second.html");
    assert_eq!(
        (run.code, run.out.trim()),
        (Some(0), "Convergence of 4 runs: written to second.html"),
        "{}",
        run.err
    );
    let runs = |name: &str| {
        let data = data(&text(&desk, name));
        let runs = data["panels"][0]["runs"].as_array().expect("runs").clone();
        let mut runs: Vec<String> = runs
            .iter()
            .map(|run| {
                let method = &data["names"][run["name"].as_u64().expect("a place") as usize];
                format!("{method} {} {} {}", run["note"], run["x"], run["y"][0])
            })
            .collect();
        runs.sort();
        runs
    };
    assert_eq!(runs("first.html"), runs("second.html"));
    // A run alone keeps what was proven; beside others, it is seen above the lowest of all.
    desk.run("portfolio small.csv --constraint long-only --method svrpda1 --trace one.jsonl");
    desk.run("portfolio small.csv --constraint long-only --method lbfgs --trace two.jsonl");
    desk.run("report one.jsonl");
    assert_eq!(data(&text(&desk, "report.html"))["y"][0]["title"], "proven gap");
    desk.run("report one.jsonl two.jsonl --plot both.svg");
    let data = data(&text(&desk, "report.html"));
    assert_eq!(
        (&data["y"][0]["title"], &data["y"][1]["title"]),
        (&"objective − lowest found".into(), &"proven gap".into())
    );
    assert_eq!(data["names"], serde_json::json!(["one", "two"]));
}
