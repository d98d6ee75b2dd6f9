//! Passes against the condition number, on logarithmic axes. One SVG file serves light and dark
//! pages.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 370.0;
const COLOURS: [&str; 6] = ["#2f6feb", "#bc4c00", "#1a7f37", "#8250df", "#9a6700", "#59636e"];

/// A method and its points, kappa and passes.
pub type Line = (String, Vec<(f64, f64)>);

/// The picture.
pub fn picture(lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let least = points().map(of).fold(f64::INFINITY, f64::min);
        let most = points().map(of).fold(0.0, f64::max);
        (least.log10().floor(), most.log10().ceil())
    };
    let (across, up) = (ends(|point| point.0), ends(|point| point.1));
    let x = |kappa: f64| LEFT + (kappa.log10() - across.0) / (across.1 - across.0) * (RIGHT - LEFT);
    let y = |passes: f64| BOTTOM - (passes.log10() - up.0) / (up.1 - up.0) * (BOTTOM - TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Passes to a gap of 1e-6 against the condition number\"><style>\
         text{{font:13px system-ui,sans-serif;fill:#1f2328}}.axis{{stroke:#d1d9e0}}\
         @media(prefers-color-scheme:dark){{text{{fill:#f0f6fc}}.axis{{stroke:#3d444d}}}}\
         </style>\n"
    );
    for power in across.0 as i32..=across.1 as i32 {
        let at = x(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1e{power}</text>",
            BOTTOM + 18.0
        );
    }
    for power in up.0 as i32..=up.1 as i32 {
        let at = y(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            10_f64.powi(power)
        );
    }
    // Names at the right ends, none over another.
    let mut names: Vec<(f64, usize)> = Vec::new();
    for (k, (_, points)) in lines.iter().enumerate().filter(|(_, (_, points))| !points.is_empty()) {
        let path: Vec<String> = points
            .iter()
            .map(|(kappa, passes)| format!("{:.1} {:.1}", x(*kappa), y(*passes)))
            .collect();
        let colour = COLOURS[k % COLOURS.len()];
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        );
        for (kappa, passes) in points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
                x(*kappa),
                y(*passes)
            );
        }
        names.push((y(points[points.len() - 1].1), k));
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::NEG_INFINITY;
    for (at, k) in names {
        let at = at.max(last + 16.0);
        last = at;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{}\">{}</text>",
            RIGHT + 8.0,
            at + 4.0,
            COLOURS[k % COLOURS.len()],
            lines[k].0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">condition number</text>",
        0.5 * (LEFT + RIGHT),
        HEIGHT - 10.0
    );
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_points_and_its_name() {
        let lines =
            [("slow".to_owned(), vec![(1e2, 30.0), (1e4, 200.0)]), ("none".to_owned(), Vec::new())];
        let svg = picture(&lines);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains(">slow<") && !svg.contains(">none<"));
    }
}
