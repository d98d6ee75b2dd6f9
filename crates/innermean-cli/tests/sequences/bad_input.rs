//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

fn assert_refused(desk: &Desk, args: &str, words: &[&str]) {
    let before = desk.names();
    let run = desk.run(&format!("{args} --trace fresh.jsonl"));
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
    assert_eq!(desk.names(), before, "{args}");
    assert!(run.err.starts_with("innermean: ") && !run.err.contains("panicked"), "{args}: {}", run.err);
    for word in words {
        assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
    }
}

#[test]
fn tables_of_steps() {
    let desk = Desk::new();
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    let cases: [(&str, &[&str]); 9] = [
        ("", &["bad.csv", "is empty"]),
        ("sequence,step,x\n", &["bad.csv", "no rows"]),
        ("sequence,step,x\nu,1,0\nu,2,zero\n", &["line 3, column 3 (x)", "'zero' is not a number"]),
        ("sequence,step,x\nu,1,0\nu,2\n", &["line 3", "expected 3"]),
        ("sequence,step,x\nu,1,0\nu,2,inf\n", &["line 3", "not a finite number"]),
        ("sequence,step,x\nu,1,0\nu,2,NA\n", &["line 3", "missing value", "--missing drop-rows"]),
        (
            "sequence,step,x\nu,1,0\nv,1,0\nu,1,5\n",
            &["line 4", "step 1 of 'u' stands in bad.csv, line 2 already", "each step of a sequence once"],
        ),
        ("sequence,step,x\nu,1,0\nv,1,0\n", &["no sequence has 2 steps in a row"]),
        ("sequence,step,x\nu,1,0\nv,1,0\nv,1.5,0\nv,9,0\n", &[]),
    ];
    for (text, words) in &cases[..8] {
        desk.file("bad.csv", text);
        assert_refused(&desk, "bad.csv --language-model lm.csv", words);
    }
    desk.file("bad.csv", "sequence,step\nu,1\nu,2\n");
    assert_refused(&desk, "bad.csv --language-model lm.csv", &["bad.csv", "feature"]);
    desk.file("good.csv", "sequence,step,x\nu,1,0\nu,2,1\n");
    assert_refused(&desk, "good.csv --language-model lm.csv --label truth", &["good.csv", "truth"]);
    assert_refused(&desk, "good.csv --language-model lm.csv --columns y", &["good.csv", "y"]);
    assert_refused(&desk, "nowhere.csv --language-model lm.csv", &["nowhere.csv: no such file"]);
    assert_refused(&desk, "good.csv", &["--language-model FILE or --corpus FILE"]);
    assert_refused(&desk, "good.csv --language-model good.csv", &["good.csv", "token1"]);
}

#[test]
fn languages() {
    let desk = Desk::new();
    desk.file("steps.csv", "sequence,step,x\nu,1,0\nu,2,1\nu,3,0\n");
    let cases: [(&str, &[&str]); 8] = [
        ("token1,token2\na,b\n", &["no column probability, and no column count"]),
        ("token1,token2,probability\na,b,0.5\nb,a,0.2\n", &["sum to 0.7", "expected 1", "count"]),
        ("token1,token2,probability\na,b,1.5\nb,a,-0.5\n", &["line 3", "-0.5 is below 0"]),
        (
            "token1,token2,probability\na,b,0.5\nb,a,0.25\na,b,0.25\n",
            &["line 4", "'a b' stands in bad.csv, line 2 already"],
        ),
        ("token1,token2,count\na,b,0\nb,a,0\n", &["all counts are 0"]),
        ("token1,token2,count,probability\na,b,1,1\n", &["both"]),
        ("token1,token2,probability\na,a,1\n", &["one class alone"]),
        ("token1,probability\na,1\n", &["token2"]),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        assert_refused(&desk, "steps.csv --language-model bad.csv", words);
        assert_refused(&desk, "steps.csv --language-model bad.csv", &["bad.csv"]);
    }
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    assert_refused(
        &desk,
        "steps.csv --language-model lm.csv --order 3",
        &["--order 3", "n-grams of 2 tokens"],
    );
    assert_refused(&desk, "steps.csv --language-model lm.csv --order 4", &["--order", "expected 2 or 3"]);
    assert_refused(&desk, "steps.csv --language-model lm.csv --corpus lm.csv", &["--corpus"]);
    desk.file("text.txt", "a b\nb a\n");
    assert_refused(
        &desk,
        "steps.csv --corpus text.txt --order 3",
        &["text.txt", "no line of at least 3 tokens"],
    );
    desk.file("text.txt", "\n\n");
    assert_refused(&desk, "steps.csv --corpus text.txt", &["text.txt", "is empty"]);
    assert_refused(&desk, "steps.csv --corpus nowhere.txt", &["nowhere.txt: no such file"]);
}

#[test]
fn flags_that_do_not_fit() {
    let desk = Desk::with_files();
    let files = "steps.csv --language-model bigrams.csv --label truth";
    assert_refused(&desk, &format!("{files} --classes 4"), &["--classes does nothing with a file"]);
    assert_refused(&desk, "--corpus steps.csv", &["--corpus steps.csv", "give FILE"]);
    assert_refused(&desk, "--label truth", &["--label needs a file"]);
    assert_refused(&desk, "--starts 0", &["--starts", "above 0"]);
    assert_refused(&desk, "--noise -1", &["--noise", "0 or above"]);
    assert_refused(&desk, "--all-probabilities", &["--predictions"]);
    assert_refused(
        &desk,
        &format!("{files} --method spdc"),
        &["spdc does not suit", "f is not affine", "lbfgs"],
    );
    assert_refused(&desk, &format!("{files} --method adam"), &["'adam'", "lbfgs"]);
    assert_refused(&desk, &format!("{files} --alpha-w 1"), &["--alpha-w does nothing with --method lbfgs"]);
    assert_refused(&desk, &format!("{files} --start nowhere.json"), &["nowhere.json", "no such file"]);
    assert_refused(&desk, &format!("{files} --predictions out.txt"), &["--predictions out.txt"]);
    assert_refused(
        &desk,
        &format!("{files} --predictions steps.csv"),
        &["--predictions steps.csv", "being read"],
    );
    assert_refused(&desk, &format!("{files} --gaps close"), &["--gaps", "break", "ignore"]);
}
