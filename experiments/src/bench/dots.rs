//! The comparison as one row of dots for each problem, one dot for each size: time of ours as part
//! of that of the fastest peer, on a logarithmic axis; left of 1 ours is faster. One SVG file serves
//! light and dark pages.

use std::fmt::Write as _;

use super::chart::Bar;
use super::parts::Size;
use super::results::Results;

const WIDTH: f64 = 760.0;
const ROW: f64 = 24.0;
const TOP: f64 = 56.0;
/// Where the axis begins and ends.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 500.0;
/// The ends of the axis; what is beyond them is drawn at them.
const LEAST: f64 = 0.01;
const MOST: f64 = 10.0;
const TICKS: [f64; 7] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
const RADII: [f64; 3] = [3.0, 4.5, 6.0];

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1f2328}\
.peer,.tick{font-size:11px;fill:#59636e}.ours{fill:#2f6feb}.theirs{fill:#bc4c00}\
circle{fill-opacity:.8}.key{fill:#59636e}.line{stroke:#d1d9e0}.one{stroke:#59636e}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.peer,.tick{fill:#9198a1}.key{fill:#9198a1}\
.ours{fill:#4493f8}.theirs{fill:#db6d28}.line{stroke:#3d444d}.one{stroke:#9198a1}}";

/// A problem with its dots.
struct Row<'a> {
    problem: &'a str,
    /// Size, ratio, peer: against the fastest peer at each size.
    dots: Vec<(usize, f64, &'a str)>,
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for claim in results.parts.iter().flat_map(|part| &part.claims) {
        let Some(bar) = Bar::of(claim) else { continue };
        // What has one size is large.
        let size = Size::ALL.iter().position(|size| size.name() == claim.size).unwrap_or(2);
        let dot = (size, 1.0 / bar.times, bar.peer);
        let known = rows.iter().position(|row| row.problem == bar.problem);
        let at = known.unwrap_or_else(|| {
            rows.push(Row { problem: bar.problem, dots: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[at];
        match row.dots.iter_mut().find(|(own, ..)| *own == size) {
            Some(own) if own.1 < dot.1 => *own = dot,
            Some(_) => {}
            None => row.dots.push(dot),
        }
    }
    rows
}

fn x(ratio: f64) -> f64 {
    let share = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LEFT + share * (RIGHT - LEFT)
}

/// The picture.
pub fn dots(results: &Results) -> String {
    let rows = rows(results);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
         aria-label=\"Time of innermean as part of that of the fastest other software\">\
         <style>{STYLE}</style>\n",
        bottom + 10.0
    );
    for (k, size) in Size::ALL.into_iter().enumerate() {
        let at = LEFT + 90.0 * k as f64;
        let _ = writeln!(
            svg,
            "<circle class=\"key\" cx=\"{at:.1}\" cy=\"14\" r=\"{}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"18\">{}</text>",
            RADII[k],
            at + 12.0,
            size.name()
        );
    }
    for tick in TICKS {
        let class = if tick == 1.0 { "one" } else { "line" };
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"46\" text-anchor=\"middle\">{tick}</text>",
            x = x(tick)
        );
    }
    for (k, row) in rows.iter().enumerate() {
        let middle = TOP + ROW * (k as f64 + 0.5);
        let _ = write!(svg, "<text x=\"0\" y=\"{:.1}\">{}</text>", middle + 4.5, row.problem);
        for &(size, ratio, peer) in &row.dots {
            let class = if ratio > 1.0 { "theirs" } else { "ours" };
            let _ = write!(
                svg,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"{}\">\
                 <title>{}: {ratio:.2} of {peer}</title></circle>",
                x(ratio),
                RADII[size],
                Size::ALL[size].name()
            );
        }
        let worst = row.dots.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (_, ratio, peer) = worst.expect("a row has a dot");
        let _ = writeln!(
            svg,
            "<text class=\"peer\" x=\"{:.1}\" y=\"{:.1}\">at most {ratio:.2} of {peer}</text>",
            RIGHT + 16.0,
            middle + 4.0
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::bench::results::Part;
    use crate::bench::table::Claim;

    #[test]
    fn the_slowest_ratio_of_each_size_has_a_dot_in_the_row_of_its_problem() {
        let claim = |what: &str, value, size: Size| {
            Claim::at_most("mdp", what, Some(value), None).sized(size)
        };
        let claims = vec![
            claim("time / numpy", 0.25, Size::Small),
            claim("time / scipy", 0.5, Size::Small),
            claim("time / scipy", 2.0, Size::Large),
            claim("SVRPDA-I, time / scipy", 9.0, Size::Large),
        ];
        let part = Part { name: "mdp".into(), machine: Value::Null, claims, details: Vec::new() };
        let svg = dots(&Results { parts: vec![part] });
        assert_eq!(svg.matches("class=\"ours\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"theirs\"").count(), 1, "{svg}");
        assert!(svg.contains("small: 0.50 of scipy") && svg.contains("at most 2.00 of scipy"));
        assert!(x(0.5) < x(1.0) && x(1e-9) == LEFT && x(1e9) == RIGHT);
    }

    /// `INNERMEAN_BLESS=1 cargo test -p innermean-experiments dots` draws it anew.
    #[test]
    fn the_kept_picture_shows_the_kept_results() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let drawn = dots(&Results::read(&folder.join("bench.json")));
        let kept = folder.join("bench-dots.svg");
        if std::env::var_os("INNERMEAN_BLESS").is_some() {
            fs::write(&kept, &drawn).expect("the folder of results can be written to");
        }
        assert_eq!(fs::read_to_string(&kept).expect("the kept picture"), drawn);
    }
}
