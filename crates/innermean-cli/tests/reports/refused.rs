//! What cannot be done is said in one sentence, and nothing is written.

use std::fs;

use super::*;

#[test]
fn outputs_that_cannot_be() {
    for (args, words) in [
        ("--report page.pdf", "expected a name that ends in .html"),
        ("--plot plot.pdf", "expected .svg or .png"),
        ("--plot plot", "expected .svg or .png"),
        ("--report no/page.html", "there is no such folder"),
        ("--report folder.html", "is a directory"),
        ("--report a.html --plot a.html", "is the path of --report too"),
        ("--trace a.svg --plot a.svg", "is the path of --trace too"),
        ("--trace a.html --report ./a.html", "is the path of --trace too"),
    ] {
        for command in ["portfolio", "policy", "compare portfolio"] {
            // It has no trace, and looks at endings first.
            if command == "compare portfolio"
                && (args.contains("--trace") || args.contains("--plot a.html"))
            {
                continue;
            }
            let desk = Desk::at(command);
            fs::create_dir(desk.path().join("folder.html")).expect("a folder");
            for args in [args.to_owned(), format!("{args} --json")] {
                let run = desk.run(&args);
                assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{command} {args}");
                assert!(
                    run.err.starts_with("innermean: --") && run.err.contains(words),
                    "{args}: {}",
                    run.err
                );
                assert_eq!(desk.names(), ["folder.html"], "{command} {args}");
            }
        }
    }
}

#[test]
fn an_input_survives() {
    let desk = Desk::at("portfolio");
    desk.file("returns.html", &csv(&small()));
    let run = desk.run("returns.html --report returns.html");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("--report returns.html: is a file that is being read"), "{}", run.err);
    assert_eq!(
        fs::read_to_string(desk.path().join("returns.html")).expect("it is there"),
        csv(&small())
    );
}

#[test]
fn traces_that_are_none() {
    let desk = Desk::at("report");
    store(&desk, "good.jsonl", 5, 3.0);
    desk.file("empty.jsonl", "");
    desk.file("prose.jsonl", "this is no trace\n");
    desk.file("other.jsonl", "{\"calls\":1,\"seconds\":0.5}\n");
    desk.file("words.jsonl", "{\"calls\":\"many\",\"seconds\":0.5,\"objective\":1}\n");
    let good = fs::read_to_string(desk.path().join("good.jsonl")).expect("a trace");
    desk.file("twice.jsonl", &good.repeat(2));
    desk.file("cut.jsonl", &good[..good.len() - 9]);
    fs::create_dir(desk.path().join("nothing")).expect("a folder");
    let before = desk.names();
    for (args, words) in [
        ("missing.jsonl", "missing.jsonl: cannot be read (entity not found)"),
        ("empty.jsonl", "empty.jsonl: is empty; expected one JSON object a line"),
        ("good.jsonl prose.jsonl", "prose.jsonl, line 1: is no line of a trace (not JSON)"),
        (
            "other.jsonl",
            "other.jsonl, line 1: has no objective; expected calls, seconds and objective",
        ),
        ("words.jsonl", "words.jsonl, line 1: is no line of a trace (a value is of another kind)"),
        (
            "twice.jsonl",
            "twice.jsonl, line 6: calls fall from 57920 to 0; expected the trace of one run",
        ),
        ("cut.jsonl", "cut.jsonl, line 5: is no line of a trace (it ends too soon)"),
        ("nothing", "nothing: holds no file that ends in .jsonl"),
        ("good.jsonl --out good.jsonl", "expected a name that ends in .html"),
        ("good.jsonl --out page.html --plot page.txt", "expected .svg or .png"),
    ] {
        let run = desk.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(
            run.err.contains(words) && run.err.starts_with("innermean: "),
            "{args}: {}",
            run.err
        );
        assert_eq!(desk.names(), before, "{args}");
    }
}
