//! The comparison as one bar chart: how many times as long the other software takes, on a
//! logarithmic axis. One SVG file serves light and dark pages.

use std::fmt::Write as _;

use super::parts::Size;
use super::results::Results;
use super::table::Claim;

const WIDTH: f64 = 760.0;
const ROW: f64 = 26.0;
const TOP: f64 = 34.0;
/// Where the bars begin, and where the axis ends.
const LEFT: f64 = 330.0;
const RIGHT: f64 = 700.0;
/// The ends of the axis.
const LEAST: f64 = 0.5;
const MOST: f64 = 100.0;
const TICKS: [f64; 6] = [0.5, 1.0, 3.0, 10.0, 30.0, 100.0];

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1f2328}\
.peer,.tick{font-size:11px;fill:#59636e}.bar{fill:#2f6feb}.slower{fill:#bc4c00}\
.line{stroke:#d1d9e0}.one{stroke:#59636e}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.peer,.tick{fill:#9198a1}\
.bar{fill:#4493f8}.slower{fill:#db6d28}.line{stroke:#3d444d}.one{stroke:#9198a1}}";

/// One bar.
pub(super) struct Bar<'a> {
    pub(super) problem: &'a str,
    pub(super) peer: &'a str,
    /// Time of the peer over ours.
    pub(super) times: f64,
    /// Whether the peer was stopped before it was done.
    at_least: bool,
}

impl<'a> Bar<'a> {
    /// Of a claim about the time that `auto` takes.
    pub(super) fn of(claim: &'a Claim) -> Option<Self> {
        let peer = claim.what.strip_prefix("auto, ").unwrap_or(&claim.what);
        let peer = peer.strip_prefix("time / ").filter(|peer| !peer.starts_with("innermean"))?;
        let times = 1.0 / claim.value.filter(|ratio| *ratio > 0.0)?;
        Some(Bar { problem: &claim.part, peer, times, at_least: claim.other.starts_with('>') })
    }

    fn label(&self) -> String {
        let digits = usize::from(self.times < 9.95);
        let sign = if self.at_least { "&gt; " } else { "" };
        format!("{sign}{:.digits$}&#215;", self.times)
    }
}

fn x(times: f64) -> f64 {
    let share = (times.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LEFT + share * (RIGHT - LEFT)
}

/// The chart of all claims that compare the time of `auto` with that of other software: of the
/// largest size of each problem.
pub fn chart(results: &Results) -> String {
    let all = || results.parts.iter().flat_map(|part| &part.claims);
    let rank = |claim: &Claim| Size::ALL.iter().position(|size| size.name() == claim.size);
    let largest = |claim: &Claim| {
        all().filter(|other| other.part == claim.part).all(|other| rank(other) <= rank(claim))
    };
    let claims = all().filter(|claim| largest(claim));
    let bars: Vec<Bar<'_>> = claims.filter_map(Bar::of).collect();
    let bottom = TOP + ROW * bars.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
         aria-label=\"Time of other software as a multiple of innermean's\">\
         <style>{STYLE}</style>\n",
        bottom + 10.0
    );
    for tick in TICKS {
        let class = if tick == 1.0 { "one" } else { "line" };
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"24\" text-anchor=\"middle\">{tick}&#215;</text>",
            x = x(tick)
        );
    }
    for (k, bar) in bars.iter().enumerate() {
        let (y, one, end) = (TOP + ROW * k as f64, x(1.0), x(bar.times));
        let class = if bar.times < 1.0 { "slower" } else { "bar" };
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{baseline:.1}\">{problem} <tspan class=\"peer\">{peer}</tspan></text>\
             <rect class=\"{class}\" x=\"{start:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"14\" rx=\"2\"/><text x=\"{after:.1}\" y=\"{baseline:.1}\">{label}</text>",
            baseline = y + 17.5,
            problem = bar.problem,
            peer = bar.peer,
            start = one.min(end),
            top = y + 6.0,
            width = (end - one).abs().max(1.0),
            after = one.max(end) + 6.0,
            label = bar.label(),
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

    #[test]
    fn of_several_sizes_the_largest_has_a_bar() {
        let claim =
            |value, size| Claim::at_most("mdp", "time / numpy", Some(value), None).sized(size);
        let claims = vec![claim(0.5, Size::Small), claim(0.25, Size::Middle)];
        let part = Part { name: "mdp".into(), machine: Value::Null, claims, details: Vec::new() };
        let svg = chart(&Results { parts: vec![part] });
        assert!(svg.matches("<rect").count() == 1 && svg.contains(">4.0&#215;<"), "{svg}");
    }

    #[test]
    fn only_times_of_auto_against_others_have_a_bar() {
        let claim = |what: &str, value| Claim::at_most("mdp", what, Some(value), None);
        let claims = vec![
            claim("time / numpy", 0.25),
            claim("auto, time / scipy", 2.0),
            claim("auto, time / innermean lbfgs", 0.1),
            claim("SVRPDA-I, time / scipy", 0.1),
            claim("memory per doubling", 1.0),
        ];
        let part = Part { name: "mdp".into(), machine: Value::Null, claims, details: Vec::new() };
        let svg = chart(&Results { parts: vec![part] });
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
        assert!(svg.contains(">4.0&#215;<") && svg.contains(">0.5&#215;<"), "{svg}");
        assert_eq!(svg.matches("class=\"slower\"").count(), 1, "{svg}");
    }

    /// `INNERMEAN_BLESS=1 cargo test -p innermean-experiments chart` draws it anew.
    #[test]
    fn the_kept_chart_shows_the_kept_results() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let drawn = chart(&Results::read(&folder.join("bench.json")));
        let kept = folder.join("bench.svg");
        if std::env::var_os("INNERMEAN_BLESS").is_some() {
            fs::write(&kept, &drawn).expect("the folder of results can be written to");
        }
        assert_eq!(fs::read_to_string(&kept).expect("the kept chart"), drawn);
    }
}
