//! `innermean reproduce`, as a user runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::browser::Browser;
use super::*;

/// The pieces in the file of a folder, by name.
fn pieces(out: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(out.join("numbers.json")).expect("the numbers");
    serde_json::from_str(&text).expect("they are JSON")
}

#[test]
fn the_page_has_its_pictures_and_opens_without_a_complaint() {
    let desk = Desk::at("reproduce");
    let run = desk.run("--quick --only figure2,table2,theorems");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out.contains("holds:") && run.out.contains("reproduction/index.html"),
        "{}",
        run.out
    );
    let out = desk.path().join("reproduction");
    let markdown = fs::read_to_string(out.join("README.md")).expect("the same as Markdown");
    for name in ["figure2", "theorems"] {
        let svg = fs::read_to_string(out.join(format!("{name}.svg"))).expect("a picture");
        assert!(svg.starts_with("<svg") && svg.len() > 5000, "{name}: {}", svg.len());
        let png = fs::read(out.join(format!("{name}.png"))).expect("a picture");
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}: {}", png.len());
        assert!(markdown.contains(&format!("]({name}.svg)")), "{markdown}");
    }
    // What the tests of the library prove is said here too.
    for said in [
        "**Holds.** Theorem 1, affine f",
        "**Holds.** Theorem 1, convex f",
        "**Holds.** Theorem 2, affine f",
        "**Holds.** Theorem 2, convex f",
        "**Does not hold.** Theorem 3 as printed",
        "**Holds.** Table 2",
    ] {
        assert!(markdown.contains(said), "{said} in {markdown}");
    }

    let Some(mut browser) = Browser::start() else { return };
    browser.open(&out.join("index.html"));
    let shown = "[...document.querySelectorAll('.picture svg')].filter((svg) => svg.getBoundingClientRect().height > 100).length";
    assert_eq!(browser.value(shown), 2);
    browser.size(390, 844);
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true);
}

#[test]
fn an_interrupted_run_goes_on_and_ends_with_the_same_numbers() {
    let desk = Desk::at("reproduce --quick --only figure2,table2");
    assert_eq!(desk.run("--out whole").code, Some(0));
    let mut child = desk
        .command("--out cut --threads 1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let cut = desk.path().join("cut");
    let mut ended = false;
    while !ended && !cut.join("numbers.json").exists() {
        ended = child.try_wait().expect("it is asked").is_some();
        std::thread::sleep(Duration::from_millis(5));
    }
    if !ended {
        let sent =
            std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(sent.expect("there is kill").success());
    }
    let code = child.wait().expect("it ends").code();
    assert!(code == Some(1) || code == Some(0), "{code:?}");
    let kept = pieces(&cut);
    assert!(!cut.join("index.html").exists() || code == Some(0));
    let again = desk.run("--out cut --threads 2");
    assert_eq!(again.code, Some(0), "{}", again.err);
    let (whole, cut) = (desk.path().join("whole"), cut);
    let numbers = |out: &Path| fs::read_to_string(out.join("numbers.json")).expect("the numbers");
    assert_eq!(numbers(&whole), numbers(&cut));
    let now = pieces(&cut);
    assert!(
        kept.iter().all(|(id, piece)| now.get(id) == Some(piece)),
        "what was kept is as it was"
    );
    let page = |out: &Path| fs::read_to_string(out.join("README.md")).expect("a page");
    assert_eq!(page(&whole), page(&cut));
}

/// Figure 1 on one of the paper's 18 sets, with the paper's settings; the tests of the library
/// compare methods on all.
#[test]
fn the_order_of_the_curves_is_the_papers() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/portfolio");
    if !data.is_dir() {
        eprintln!(
            "skipped: Figure 1 on the 18 real data sets (no folder ../shared/data/portfolio)"
        );
        return;
    }
    let desk = Desk::at("reproduce --quick --only figure1");
    fs::create_dir(desk.path().join("sets")).expect("a folder");
    let set = "Europe_ME.csv";
    fs::copy(data.join(set), desk.path().join("sets").join(set)).expect("a set of the paper");
    let run = desk.run("--data sets");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let markdown = fs::read_to_string(desk.path().join("reproduction/README.md")).expect("a page");
    assert!(markdown.contains("**Holds.** The order of the curves in Figure 1"), "{markdown}");
    assert!(markdown.contains("on 1 of 1 set"), "{markdown}");
    let svg =
        fs::read_to_string(desk.path().join("reproduction/figure1-paper.svg")).expect("a picture");
    assert!(svg.contains("SVRPDA-II"), "{svg}");
    let page = fs::metadata(desk.path().join("reproduction/index.html")).expect("the page").len();
    assert!(page < 1_000_000, "{page} bytes");
}

#[test]
fn bad_folders_are_refused_in_a_sentence() {
    let desk = Desk::at("reproduce --quick --only figure1");
    fs::create_dir(desk.path().join("empty")).expect("a folder");
    fs::create_dir(desk.path().join("bad")).expect("a folder");
    desk.file("bad/returns.csv", "day,a\n1,0.5\n2,x\n");
    fs::create_dir(desk.path().join("twins")).expect("a folder");
    desk.file("twins/a.csv", &csv(&small()));
    desk.file("twins/a.txt", &csv(&small()));
    desk.file("file", "no folder");
    let before = desk.names();
    for (args, said) in [
        ("--data nowhere", "--data nowhere: cannot be read"),
        ("--data empty", "--data empty: holds no table"),
        ("--data bad", "bad/returns.csv"),
        ("--data twins", "twins/a.txt: another table of the folder is called 'a' too"),
        ("--out file", "--out file"),
        ("--only figure4", "figure4"),
    ] {
        let run = desk.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(
            run.err.starts_with("innermean: ") && run.err.contains(said),
            "{args}: {}",
            run.err
        );
        assert_eq!(desk.names(), before, "{args}");
    }
}
