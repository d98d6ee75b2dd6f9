//! Drives `innermean sequences` as a user would.

use std::fmt::Write as _;
use std::fs;

use crate::desk::*;
use innermean_data::{LanguageOptions, SpokenLanguage, generate_language};
use serde_json::Value;

mod answers;
mod bad_input;
mod files;
mod options;

fn desk() -> Desk {
    Desk::at("sequences")
}

/// With a small problem in `steps.csv` and `bigrams.csv`.
fn with_files() -> Desk {
    let desk = desk();
    let spoken = spoken();
    desk.file("steps.csv", &steps_csv(&spoken, |t| name(spoken.labels[t])));
    desk.file("bigrams.csv", &language_csv(&spoken, 2));
    desk
}

/// Four classes that are easily told apart.
fn spoken() -> SpokenLanguage {
    let options =
        LanguageOptions { classes: 4, steps: 1500, length: 30, features: 3, noise: 0.15, seed: 5 };
    generate_language(&options)
}

fn name(class: u32) -> String {
    ["ab", "ba", "do", "re"][class as usize].to_owned()
}

/// `sequence,step,truth,x1,x2,x3`, with this truth.
fn steps_csv(spoken: &SpokenLanguage, truth: impl Fn(usize) -> String) -> String {
    let mut text = "sequence,step,truth,x1,x2,x3\n".to_owned();
    for (t, row) in spoken.rows.chunks_exact(3).enumerate() {
        let (sequence, step) = (t / 30, t % 30);
        let _ = writeln!(text, "s{sequence},{step},{},{},{},{}", truth(t), row[0], row[1], row[2]);
    }
    text
}

/// `token1,token2,probability`
fn language_csv(spoken: &SpokenLanguage, order: usize) -> String {
    let (ngrams, probabilities) = spoken.ngrams(order);
    let mut text = ["token1", "token2", "token3"][..order].join(",") + ",probability\n";
    for (ngram, p) in ngrams.chunks_exact(order).zip(probabilities) {
        let tokens: String = ngram.iter().map(|c| name(*c) + ",").collect();
        let _ = writeln!(text, "{tokens}{p}");
    }
    text
}

const USUAL: &str = "steps.csv --language-model bigrams.csv --label truth --starts 6";
