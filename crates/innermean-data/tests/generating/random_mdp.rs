//! Generated decision processes: their bits, and that they are what was asked for.

use innermean_data::{Features, MdpOptions, Rewards, generate_mdp};

fn checksum(values: &[f64]) -> u64 {
    values
        .iter()
        .fold(0_u64, |sum, x| sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x.to_bits())
}

#[test]
fn bits_are_pinned() {
    let mdp = generate_mdp(&MdpOptions::default());
    let sums = [&mdp.transitions, &mdp.rewards, &mdp.features].map(|values| checksum(values));
    assert_eq!(
        sums,
        [0xd5ec_0a53_fd86_eff2, 0xd0aa_6f98_c6de_2a16, 0x05f1_4246_ca0f_fe39],
        "{sums:#x?}"
    );
}

#[test]
fn shapes_are_those_asked_for_and_rows_are_distributions() {
    let options = MdpOptions { states: 37, d: 4, ..MdpOptions::default() };
    let mdp = generate_mdp(&options);
    assert_eq!((mdp.states, mdp.d, mdp.discount), (37, 4, 0.9));
    assert_eq!(
        [&mdp.transitions, &mdp.rewards, &mdp.features].map(Vec::len),
        [37 * 37, 37 * 37, 37 * 4]
    );
    for row in mdp.transitions.chunks_exact(37) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14 && row.iter().all(|p| *p >= 0.0));
    }
    assert!(mdp.rewards.iter().chain(&mdp.features).all(|x| (0.0..1.0).contains(x)));
    assert_eq!(mdp.source, "generated: random MDP, 37 states, 4 features, seed 1");
    // Other rewards or features leave the rest alone.
    let other = generate_mdp(&MdpOptions {
        rewards: Rewards::PerState,
        features: Features::Gaussian,
        ..options
    });
    assert_eq!((other.rewards.len(), &other.transitions), (37, &mdp.transitions));
    assert_ne!(generate_mdp(&MdpOptions { seed: 2, ..options }).transitions, mdp.transitions);
    assert!(generate_mdp(&MdpOptions { states: 0, ..options }).features.is_empty());
}

#[test]
fn features_have_the_moments_of_their_kind() {
    // 40 000 draws: a mean deviates by 0.005 deviations, five of which are allowed.
    for (features, mean, variance) in [
        (Features::Uniform, 0.5, 1.0 / 12.0),
        (Features::Gaussian, 0.0, 1.0),
        (Features::MixedSign, 0.0, 1.0 / 3.0),
    ] {
        let options =
            MdpOptions { states: 200, d: 200, features, seed: 3, ..MdpOptions::default() };
        let psi = generate_mdp(&options).features;
        let n = psi.len() as f64;
        let m = psi.iter().sum::<f64>() / n;
        let v = psi.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n;
        assert!((m - mean).abs() < 0.025 * f64::sqrt(variance), "{features:?}: mean {m}");
        assert!((v / variance - 1.0).abs() < 0.05, "{features:?}: variance {v}");
    }
}

#[test]
fn a_walk_follows_the_probabilities() {
    let mdp = generate_mdp(&MdpOptions { states: 4, d: 1, ..MdpOptions::default() });
    let steps = 40_000;
    let walk = mdp.walk(steps, 5);
    assert_eq!(walk, mdp.walk(steps, 5));
    assert_ne!(walk.rewards, mdp.walk(steps, 6).rewards);
    let state =
        |feature: f64| mdp.features.iter().position(|&psi| psi == feature).expect("a state");
    let mut counts = [[0.0_f64; 4]; 4];
    for t in 0..steps {
        let (from, to) = (state(walk.features[t]), state(walk.next_features[t]));
        counts[from][to] += 1.0;
        assert_eq!(walk.rewards[t], mdp.rewards[from * 4 + to]);
        assert!(t == 0 || walk.features[t] == walk.next_features[t - 1], "one walk");
    }
    for (from, row) in counts.iter().enumerate() {
        let visits: f64 = row.iter().sum();
        for (to, count) in row.iter().enumerate() {
            let p = mdp.transitions[from * 4 + to];
            // Five standard deviations.
            assert!(
                (count / visits - p).abs() < 5.0 * (p * (1.0 - p) / visits).sqrt(),
                "{from} to {to}"
            );
        }
    }
}
