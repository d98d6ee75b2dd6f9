//! How fast a table of returns is read: `cargo run --release -p innermean-data --example throughput`.

use std::fmt::Write as _;
use std::time::Instant;

use innermean_data::{ReadOptions, generate_factor_model, parse_returns};

fn main() {
    let returns = generate_factor_model(200_000, 25, 1);
    for (title, places) in [("two decimals", 2), ("seventeen decimals", 17)] {
        let mut text = format!("date,{}\n", returns.names.join(","));
        for i in 0..returns.rows() {
            let _ = write!(text, "{:04}-{:02}-{:02}", 1900 + i / 336 % 200, i / 28 % 12 + 1, i % 28 + 1);
            for value in returns.row(i) {
                let _ = write!(text, ",{:.places$}", if places == 2 { *value } else { value / 97.0 });
            }
            text.push('\n');
        }
        let fastest = (0..5).map(|_| {
            let start = Instant::now();
            let read = parse_returns(text.as_bytes(), "generated", &ReadOptions::default());
            assert!(read.is_ok_and(|read| read.rows() == returns.rows()));
            start.elapsed().as_secs_f64()
        });
        let megabytes = text.len() as f64 / 1e6;
        println!("{title}: {megabytes:.0} MB, {:.0} MB/s", megabytes / fastest.fold(f64::INFINITY, f64::min));
    }
}
