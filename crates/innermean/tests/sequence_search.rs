//! The search finds the right classifier: generated languages of 10 classes, bigrams, 20 000 steps.

use innermean::problems::sequences::search::{Found, Origin, Search};
use innermean::{
    AnyMethod, Choice, Driver, Inner, LanguageModel, Objective, Passes, Problem, Ridge, Sequences,
    Solution, Stop,
};
use innermean_data::{LanguageOptions, generate_language};

/// A generated problem, the features brought to deviation 1, and the labels.
fn generated(options: &LanguageOptions) -> (Sequences, Vec<u32>) {
    let spoken = generate_language(options);
    let (ngrams, probabilities) = spoken.ngrams(2);
    let language = LanguageModel::new(spoken.classes, 2, &ngrams, &probabilities).unwrap();
    let size = (spoken.rows.iter().map(|x| x * x).sum::<f64>() / spoken.rows.len() as f64).sqrt();
    let rows: Vec<f64> = spoken.rows.iter().map(|x| x / size).collect();
    let f = Sequences::new(spoken.features, rows.clone(), &spoken.lengths, language).unwrap();
    (f, spoken.labels)
}

fn descend<'p>(
    problem: impl Into<Objective<'p>>,
    start: &[f64],
    most: u64,
    tolerance: Option<f64>,
) -> Solution {
    let problem = problem.into();
    let choice = Choice { alpha_theta: Some(0.5), ..Choice::default() };
    let method = AnyMethod::named("lbfgs", &choice, problem, start).unwrap();
    let stop = Stop { max_outer: Some(most), tolerance, ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ())
}

fn accuracy(f: &Sequences, theta: &[f64], labels: &[u32]) -> f64 {
    let p = f.probabilities(theta);
    let classes = f.language().classes();
    let likeliest = |row: &[f64]| (0..classes).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    let right = p
        .chunks_exact(classes)
        .zip(labels)
        .filter(|(row, label)| likeliest(row) == **label as usize);
    right.count() as f64 / labels.len() as f64
}

fn search(problem: &Problem<Sequences, innermean::NegativeLog, Ridge>, starts: usize) -> Found {
    Search { starts, ..Search::default() }.run(problem).unwrap()
}

/// At least 0.95 of the accuracy of the same classifier fitted with labels; and no point that the
/// labels lead to is better.
#[test]
fn what_is_found_without_labels_is_as_good_as_with_them() {
    println!("seed  with labels  without  ratio   objective  from labels  seconds of search");
    for seed in 1..=2 {
        let (f, labels) = generated(&LanguageOptions { seed, ..LanguageOptions::default() });
        let zeros = vec![0.0; f.d()];
        let given: Vec<Option<u32>> = labels.iter().copied().map(Some).collect();
        let with_labels = f.labelled(&given, Ridge::from_weight(1e-6).unwrap()).unwrap();
        let with_labels = descend(&with_labels, &zeros, 60, None);
        let problem = f.clone().problem(Ridge::from_weight(1e-4).unwrap()).unwrap();
        let found = search(&problem, 24);
        let solution = descend(&problem, &found.theta, 300, Some(1e-6));
        let from_labels = descend(&problem, &with_labels.theta, 60, None);
        let [with, without] =
            [&with_labels.theta, &solution.theta].map(|theta| accuracy(&f, theta, &labels));
        println!(
            "{seed:>4}  {with:>11.4}  {without:>7.4}  {:.4}  {:>9.5}  {:>11.5}  {:.2}",
            without / with,
            solution.objective,
            from_labels.objective,
            found.seconds
        );
        assert!(solution.status.is_solved(), "seed {seed}: {:?}", solution.status);
        assert!(without >= 0.95 * with, "seed {seed}: {without} and {with}");
        assert!(solution.objective <= from_labels.objective + 1e-3, "seed {seed}");
    }
}

#[test]
fn the_search_is_the_same_on_any_number_of_threads_and_tells_what_it_tried() {
    let options = LanguageOptions { classes: 5, steps: 9000, ..LanguageOptions::default() };
    let problem = generated(&options).0.problem(Ridge::from_weight(1e-4).unwrap()).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| search(&problem, 5))
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(
        (&one.theta, one.objective, &one.tried),
        (&three.theta, three.objective, &three.tried)
    );
    assert_eq!(one.objective, problem.objective(&one.theta));
    let origins: Vec<Origin> = one.tried.iter().map(|tried| tried.origin).collect();
    assert_eq!(origins[..2], [Origin::Clusters, Origin::Random]);
    assert_eq!(
        (one.tried.len(), one.tried.iter().filter(|tried| tried.on_all.is_some()).count()),
        (5, 3)
    );
    assert!(one.part < 9000 && one.part > 3000 && !one.cut_short);
    let best = one.tried.iter().filter_map(|tried| tried.on_all).fold(f64::INFINITY, f64::min);
    assert_eq!(best, one.objective);
}

#[test]
fn time_and_interrupts_leave_one_start() {
    let options = LanguageOptions { classes: 5, steps: 9000, ..LanguageOptions::default() };
    let problem = generated(&options).0.problem(Ridge::from_weight(1e-4).unwrap()).unwrap();
    let asked = std::sync::atomic::AtomicBool::new(true);
    for search in [
        Search { starts: 1000, interrupt: Some(&asked), ..Search::default() },
        Search { starts: 1000, max_seconds: Some(1e-9), ..Search::default() },
    ] {
        let found = search.run(&problem).unwrap();
        assert!(found.cut_short && found.objective.is_finite());
        assert!(found.tried.iter().filter(|tried| tried.on_part.is_some()).count() < 10);
    }
    let error = Search::default().run(&problem).unwrap_err();
    assert_eq!(error.to_string(), "starts = 0, expected a whole number above 0");
}

/// The classifier with labels is multinomial logistic regression: its gradient is `mean_t (P_c -
/// 1[label = c]) x_t`.
#[test]
fn the_yardstick_is_multinomial_regression() {
    let (f, labels) =
        generated(&LanguageOptions { classes: 3, steps: 600, features: 2, ..Default::default() });
    let given: Vec<Option<u32>> =
        labels.iter().enumerate().map(|(t, label)| (t % 5 > 0).then_some(*label)).collect();
    let problem = f.labelled(&given, Ridge::from_weight(0.0).unwrap()).unwrap();
    let theta: Vec<f64> = (0..f.d()).map(|l| (1.0 + l as f64).sin()).collect();
    let p = f.probabilities(&theta);
    let loss = -given
        .iter()
        .enumerate()
        .filter_map(|(t, label)| label.map(|c| p[3 * t + c as usize].ln()))
        .sum::<f64>()
        / 480.0;
    assert!((problem.objective(&theta) - loss).abs() < 1e-12);
    let mut gradient = vec![0.0; f.d()];
    problem.gradient(&theta, &mut gradient);
    for l in 0..f.d() {
        let at = |step: f64| {
            let mut moved = theta.clone();
            moved[l] += step;
            problem.objective(&moved)
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((difference - gradient[l]).abs() < 1e-8, "{l}: {difference} {}", gradient[l]);
    }
    // Pairs and passes agree.
    let (mut value, mut means) = ([0.0], vec![0.0; 600]);
    problem.inner.means(&theta, &mut means).unwrap();
    let mut slow = vec![0.0; f.d()];
    let w: Vec<f64> = (0..600).map(|t| f64::from(t).cos()).collect();
    for t in 0..600 {
        problem.inner.value(&theta, t, 0, &mut value);
        assert!((value[0] - means[t]).abs() < 1e-14);
        problem.inner.add_jac_t(&theta, t, 0, &w[t..=t], 1.0 / 600.0, &mut slow);
    }
    let mut fast = vec![0.0; f.d()];
    problem.inner.add_weighted_jac_t(&theta, &w, &mut fast).unwrap();
    assert!(slow.iter().zip(&fast).all(|(a, b)| (a - b).abs() < 1e-13));
    let error = f.labelled(&[Some(0); 3], Ridge::from_weight(0.0).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "labels = 3, expected one for each of 600 steps");
    let error = f.labelled(&[Some(3); 600], Ridge::from_weight(0.0).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "labels[0] = 3, expected a class below 3");
}
