//! The parts of the benchmark, each line of them at up to three sizes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::cases::Case;
use super::cases::bellman::BellmanCase;
use super::cases::groups::GroupsCase;
use super::cases::linear::{LinearCase, Loss};
use super::cases::portfolio::{PortfolioCase, PortfolioTask};
use super::contest::{Effort, Outcome, compete};
use super::growth::{self, CURVES};
use super::peer::Python;
use super::results::Detail;
use super::table::{self, Claim};
use super::{command, quoted};

/// The method of ours where a row does not say otherwise.
const OURS: &str = "auto";

/// A part of the benchmark: contests and claims, of which `--only` takes some.
pub struct Part {
    /// What `--only` calls it.
    pub name: &'static str,
    /// Measures it.
    pub run: fn(&mut Bench) -> Result<()>,
    /// Whether a short run leaves it out.
    pub long: bool,
}

/// All parts, in the order of the page.
pub const PARTS: &[Part] = &[
    Part { name: "portfolio", run: portfolio, long: false },
    Part { name: "long-only", run: long_only, long: false },
    Part { name: "kinks", run: kinks, long: false },
    Part { name: "steps", run: steps, long: false },
    Part { name: "linear", run: linear, long: false },
    Part { name: "elastic-net", run: elastic_net, long: false },
    Part { name: "lasso", run: lasso, long: false },
    Part { name: "groups", run: groups, long: false },
    Part { name: "few-large", run: few_large, long: false },
    Part { name: "mdp", run: mdp, long: false },
    Part { name: "command", run: whole_command, long: false },
    Part { name: "kernels", run: kernels, long: true },
    Part { name: "growth", run: growth, long: true },
];

/// How large a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Milliseconds.
    Small,
    /// In between.
    Middle,
    /// Arrays beyond the caches, or many unknowns.
    Large,
}

impl Size {
    /// All, from the smallest.
    pub const ALL: [Size; 3] = [Size::Small, Size::Middle, Size::Large];

    /// As `--size` calls it.
    pub fn name(self) -> &'static str {
        ["small", "middle", "large"][self as usize]
    }

    /// The number of this size, of those for small, middle and large.
    fn of<T: Copy>(self, numbers: [T; 3]) -> T {
        numbers[self as usize]
    }
}

/// What is measured, how thoroughly, and what came of it.
pub struct Bench {
    /// At which sizes.
    pub sizes: Vec<Size>,
    /// Whether large problems on which peers take minutes are left out.
    pub short: bool,
    /// Where peers are.
    pub python: Python,
    /// Where arrays are written for them.
    pub data: PathBuf,
    /// The kept results.
    pub results: PathBuf,
    /// How thoroughly.
    pub effort: Effort,
    /// Of the part that runs.
    pub claims: Vec<Claim>,
    /// The same.
    pub details: Vec<Detail>,
}

impl Bench {
    /// A contest, kept under a heading.
    fn contest(
        &mut self,
        (name, size): (&str, Size),
        case: &dyn Case,
        methods: &[&'static str],
        gap: f64,
    ) -> Result<Outcome> {
        let name = format!("{name}, {}", size.name());
        eprintln!("{name}: {}, relative gap {gap:e}", case.sizes());
        let folder = self.data.join(name.replace([' ', ','], "-"));
        let outcome = compete(case, methods, gap, &self.python, &folder, &self.effort)?;
        fs::remove_dir_all(&folder)?;
        self.detail(&name, table::outcome(&outcome), &outcome)?;
        Ok(outcome)
    }

    fn detail(&mut self, name: &str, table: String, data: &impl Serialize) -> Result<()> {
        let data = serde_json::to_value(data)?;
        self.details.push(Detail { name: name.to_owned(), table, data });
        Ok(())
    }

    /// The time of ours as part of that of the fastest peer.
    fn against_fastest(
        &mut self,
        line: (&str, Size),
        case: &dyn Case,
        gap: f64,
        target: f64,
    ) -> Result<()> {
        let outcome = self.contest(line, case, &[OURS], gap)?;
        let claim = Claim::time(line.0, outcome.ours(), outcome.fastest_peer(), Some(target));
        self.claims.push(claim.sized(line.1));
        Ok(())
    }

    /// Does something at each size that is asked for; of `long` problems a short run has no large
    /// ones.
    fn at_sizes(
        &mut self,
        long: bool,
        mut line: impl FnMut(&mut Self, Size) -> Result<()>,
    ) -> Result<()> {
        for size in self.sizes.clone() {
            if !(long && self.short && size == Size::Large) {
                line(self, size)?;
            }
        }
        Ok(())
    }
}

fn portfolio(bench: &mut Bench) -> Result<()> {
    let folder = Path::new("../shared/data/portfolio");
    bench.at_sizes(false, |bench, size| {
        let most = size.of([1, 6, 18]);
        let case = PortfolioCase::new(folder, most, PortfolioTask::Free)?;
        let outcome = bench.contest(("portfolio", size), &case, &[OURS], 1e-10)?;
        for (peer, target) in [("numpy cov + solve", Some(1.0)), ("numpy by hand", Some(1.0))] {
            let claim = Claim::time("portfolio", outcome.ours(), outcome.entrant(peer), target);
            bench.claims.push(claim.sized(size));
        }
        let case = PortfolioCase::new(folder, most, PortfolioTask::LongOnly)?;
        bench.against_fastest(("portfolio long-only", size), &case, 1e-10, 0.8)
    })
}

fn long_only(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(false, |bench, size| {
        let (days, assets) = size.of([(750, 150), (1500, 500), (3000, 1500)]);
        let case = PortfolioCase::generated(1, days, assets, PortfolioTask::LongOnly);
        bench.against_fastest(("long-only, many assets", size), &case, 1e-8, 0.8)
    })
}

fn kinks(bench: &mut Bench) -> Result<()> {
    let kinds = [("absolute deviation", PortfolioTask::Absolute), ("CVaR", PortfolioTask::Cvar)];
    bench.at_sizes(false, |bench, size| {
        let (days, assets) = size.of([(500, 20), (1500, 50), (5000, 100)]);
        for (name, task) in kinds {
            let case = PortfolioCase::generated(1, days, assets, task);
            bench.against_fastest((name, size), &case, 1e-6, 1.0)?;
        }
        Ok(())
    })
}

#[expect(clippy::unnecessary_wraps, reason = "as the other parts")]
fn steps(bench: &mut Bench) -> Result<()> {
    bench.claims.extend(quoted::grid(&bench.results));
    Ok(())
}

fn linear(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(true, |bench, size| {
        let losses = [("logistic", Loss::Logistic), ("squared hinge", Loss::SquaredHinge)];
        for (word, loss) in losses {
            let (n, d) = size.of([(2000, 20), (20_000, 100), (100_000, 100)]);
            let case = LinearCase::dense(n, d, loss, 1);
            bench.against_fastest((&format!("{word} dense"), size), &case, 1e-6, 1.0)?;
            let (n, d) = size.of([(2000, 500), (20_000, 5000), (200_000, 50_000)]);
            let case = LinearCase::sparse(n, d, 50, loss, 1);
            bench.against_fastest((&format!("{word} sparse"), size), &case, 1e-6, 1.0)?;
        }
        Ok(())
    })
}

fn elastic_net(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(false, |bench, size| {
        let (n, d) = size.of([(1000, 50), (10_000, 200), (50_000, 200)]);
        let case = LinearCase::elastic_net(n, d, 1);
        bench.against_fastest(("elastic net", size), &case, 1e-6, 1.0)
    })
}

fn lasso(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(false, |bench, size| {
        let n = size.of([2000, 6000, 20_000]);
        for part in [0.1, 0.01] {
            let case = LinearCase::lasso_sparse(n, n, 50, part, 1);
            bench.against_fastest((&format!("lasso sparse {part}"), size), &case, 1e-6, 1.0)?;
        }
        let (n, d) = size.of([(250, 1250), (700, 3500), (2000, 10_000)]);
        for part in [0.1, 0.02] {
            let case = LinearCase::lasso_dense(n, d, part, 1);
            bench.against_fastest((&format!("lasso dense {part}"), size), &case, 1e-6, 1.0)?;
        }
        Ok(())
    })
}

fn groups(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(true, |bench, size| {
        let (groups, rows, d) = size.of([(100, 50, 10), (1000, 100, 50), (10_000, 100, 50)]);
        let case = GroupsCase::new(groups, rows, d, false, 1);
        bench.against_fastest(("groups", size), &case, 1e-6, size.of([1.0, 0.33, 0.33]))
    })
}

fn few_large(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(true, |bench, size| {
        let case = GroupsCase::new(100, size.of([1000, 10_000, 100_000]), 20, true, 1);
        let name = "few large groups";
        let methods = [OURS, "svrpda1", "lbfgs"];
        let outcome = bench.contest((name, size), &case, &methods, 1e-8)?;
        let (auto, lbfgs) = (outcome.ours(), outcome.entrant("innermean lbfgs"));
        let svrpda1 = outcome.entrant("innermean svrpda1").unwrap_or(auto);
        let passes = svrpda1.ours.as_ref().map(|run| run.passes);
        let what = "SVRPDA-I, passes' worth of rows";
        bench.claims.push(Claim::at_most(name, what, passes, Some(8.0)).sized(size));
        for (title, ours) in [("auto", auto), ("SVRPDA-I", svrpda1)] {
            for (other, target) in [(lbfgs, 0.4), (outcome.fastest_peer(), 0.15)] {
                let claim = Claim::time(name, ours, other, Some(target)).sized(size);
                bench.claims.push(Claim { what: format!("{title}, {}", claim.what), ..claim });
            }
        }
        Ok(())
    })
}

fn mdp(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(false, |bench, size| {
        let case = BellmanCase::new(size.of([500, 2000, 10_000]), 10, 1);
        let outcome = bench.contest(("mdp", size), &case, &[OURS], 1e-8)?;
        let other = outcome.entrant("numpy normal equations");
        bench.claims.push(Claim::time("mdp", outcome.ours(), other, Some(1.0)).sized(size));
        Ok(())
    })
}

fn whole_command(bench: &mut Bench) -> Result<()> {
    bench.at_sizes(false, |bench, size| {
        let rows = size.of([3000, 30_000, 300_000]);
        eprintln!("whole command linear: {rows} x 100");
        let measured = command::linear(&bench.data, rows, 100, bench.effort.rounds)?;
        bench.claims.push(measured.claim().sized(size));
        bench.detail(
            &format!("linear from a file, {}", size.name()),
            measured.table(),
            &measured,
        )?;
        let (days, assets) = size.of([(750, 25), (2500, 100), (5000, 300)]);
        eprintln!("whole command portfolio: {days} x {assets}");
        let measured = command::portfolio(&bench.data, days, assets, bench.effort.rounds)?;
        bench.claims.push(measured.claim().sized(size));
        let name = format!("portfolio from a file, {}", size.name());
        bench.detail(&name, measured.table(), &measured)
    })
}

fn kernels(bench: &mut Bench) -> Result<()> {
    let (claims, text) = quoted::kernels()?;
    bench.claims.extend(claims);
    bench.detail("kernels", format!("```text\n{}\n```\n", text.trim_end()), &text)
}

fn growth(bench: &mut Bench) -> Result<()> {
    // Processes for each point.
    let repeats = if bench.sizes.contains(&Size::Large) { 5 } else { 1 };
    for curve in CURVES {
        eprintln!("growth: {}", curve.what);
        let grown = growth::measure(*curve, OURS, repeats)?;
        bench.claims.extend(grown.claims());
        bench.detail(&format!("growth in {}", curve.name), grown.table(), &grown)?;
    }
    Ok(())
}
