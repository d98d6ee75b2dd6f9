//! Pictures of made-up curves.

use super::*;

/// Falls by a factor in each of its steps.
fn curve(name: &str, rate: f64, steps: usize) -> Curve {
    Curve {
        name: name.to_owned(),
        points: (0..steps).map(|k| (1e3 * k as f64, 0.7 * (-rate * k as f64).exp())).collect(),
    }
}

fn figure(panels: Vec<Panel>, columns: usize) -> Figure {
    Figure {
        title: "Made-up <curves> & more".to_owned(),
        x: "oracle calls".to_owned(),
        y: "objective − optimum".to_owned(),
        panels,
        columns,
        by_ratios: false,
    }
}

fn panel(curves: Vec<Curve>) -> Panel {
    Panel { title: "a panel".to_owned(), curves }
}

const NAMES: [&str; 8] =
    ["svrpda1", "svrpda2", "comp-svrg1", "comp-svrg2", "gd", "ascvrg", "lbfgs", "spdc"];

/// Where the folder `INNERMEAN_PICTURES` is named, pictures are written there to be looked at.
fn keep(name: &str, figure: &Figure) {
    if let Some(folder) = std::env::var_os("INNERMEAN_PICTURES") {
        let folder = std::path::Path::new(&folder);
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg()).expect("a picture");
        std::fs::write(folder.join(format!("{name}.png")), figure.png().expect("drawn"))
            .expect("a picture");
    }
}

#[test]
fn the_example_in_the_documentation() {
    let panel = |title: &str| Panel {
        title: title.to_owned(),
        curves: vec![curve("svrpda1", 0.1, 200), curve("gd", 0.01, 200)],
    };
    let figure = figure(vec![panel("first"), panel("second")], 2);
    keep("two", &figure);
    let svg = figure.svg();
    for words in ["oracle calls", "objective − optimum", "first", "second", "svrpda1", "gd", "10⁻⁸"]
    {
        assert!(svg.contains(words), "{words}");
    }
    let png = figure.png().expect("drawn");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert!(png.len() > 10_000 && &png[png.len() - 8..png.len() - 4] == b"IEND");
}

#[test]
fn a_panel_alone_names_its_curves_where_they_end() {
    let curves = NAMES.iter().enumerate();
    let curves =
        curves.map(|(k, name)| curve(name, 0.23 / (1.0 + k as f64), 100 + 45 * k)).collect();
    let figure = figure(vec![panel(curves)], 1);
    keep("alone", &figure);
    let svg = figure.svg();
    assert!(NAMES.iter().all(|name| svg.matches(&format!(">{name}</text>")).count() == 1), "{svg}");
    assert!(svg.contains("Made-up &lt;curves&gt; &amp; more") && !svg.contains("<curves>"));
}

#[test]
fn curves_that_end_together_at_the_floor_are_named_too() {
    let curves = NAMES.iter().enumerate().map(|(k, name)| {
        let mut curve = curve(name, 0.2, 110);
        for point in &mut curve.points {
            point.0 *= 1.0 + 0.3 * k as f64;
        }
        curve
    });
    keep("together", &figure(vec![panel(curves.collect())], 1));
}

#[test]
fn eighteen_panels_share_a_legend() {
    let panels = (0..18).map(|p| {
        let curves = NAMES.iter().enumerate();
        let curves = curves.map(|(k, name)| curve(name, 0.2 / (1.0 + (k + p) as f64 % 8.0), 200));
        Panel { title: format!("Asia Pacific ex Japan {p}"), curves: curves.collect() }
    });
    let figure = figure(panels.collect(), 6);
    keep("eighteen", &figure);
    let svg = figure.svg();
    assert!(NAMES.iter().all(|name| svg.matches(&format!(">{name}</text>")).count() == 1));
    assert!(svg.matches("Asia Pacific").count() >= 18);
}

#[test]
fn odd_numbers_make_a_picture_too() {
    let odd = |points: Vec<(f64, f64)>| Curve { name: "odd".to_owned(), points };
    let diverged =
        (0..50).map(|k| (f64::from(k), 10_f64.powi(k - 2))).chain([(50.0, f64::INFINITY)]);
    let to_zero = (0..30).map(|k| (f64::from(k), if k < 20 { 10_f64.powi(-k / 2) } else { 0.0 }));
    for (name, points) in [
        ("empty", vec![]),
        ("one", vec![(0.0, 1.0)]),
        ("zeros", vec![(0.0, 0.0), (1.0, 0.0)]),
        ("lost", vec![(0.0, f64::NAN), (1.0, f64::NAN)]),
        ("diverged", diverged.collect()),
        ("zero", to_zero.collect()),
        ("far", vec![(0.0, 1.0), (1e15, 1e-300)]),
    ] {
        let mut figure = figure(vec![panel(vec![odd(points), curve("plain", 0.2, 30)])], 1);
        keep(name, &figure);
        for figure in [figure.clone(), {
            figure.panels[0].curves.pop();
            figure
        }] {
            let svg = figure.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
            figure.png().expect(name);
        }
    }
    figure(Vec::new(), 3).png().expect("a picture without panels");
}

#[test]
fn a_curve_of_many_points_stays_small() {
    let long = Curve {
        name: "long".to_owned(),
        points: (0..200_000)
            .map(|k| (f64::from(k), (-f64::from(k) / 1e4).exp() * (1.2 + f64::from(k).sin())))
            .collect(),
    };
    let svg = figure(vec![panel(vec![long])], 1).svg();
    assert!(svg.len() < 200_000, "{}", svg.len());
}

#[test]
fn many_and_long_names_fall_back_on_a_legend() {
    let curves = (0..40).map(|k| {
        curve(
            &format!("a method with a very long name, number {k}"),
            0.1 + 0.01 * f64::from(k),
            100,
        )
    });
    let figure = figure(vec![panel(curves.collect())], 1);
    keep("crowd", &figure);
    assert!(figure.svg().contains("number"), "a name is shown");
}
