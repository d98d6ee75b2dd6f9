//! Damaged input for a reader, as many cases as one likes: `-- TARGET --cases N --seed S`. `--case
//! K` shows one of them again, `--write FILE` keeps its input; `--program PATH` is the command
//! line, for the targets `flags`, `traces` and `resumes`. Exits with 1 if there is a finding.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use innermean_fuzz::{RESUMES, TARGETS, case, commands, corpus, fuzz_from, memory, run_case};

#[global_allocator]
static ALLOCATOR: memory::Watching = memory::Watching;

struct Flags {
    target: String,
    cases: u64,
    seed: u64,
    case: Option<u64>,
    write: Option<PathBuf>,
    program: PathBuf,
}

fn names() -> String {
    let names = TARGETS.iter().map(|target| target.name).chain(["flags", "traces", RESUMES]);
    names.collect::<Vec<_>>().join(", ")
}

fn flags() -> Result<Flags> {
    let mut words = std::env::args().skip(1);
    let target = words.next().with_context(|| format!("expected a target: {}", names()))?;
    let mut flags = Flags {
        target,
        cases: 100_000,
        seed: 1,
        case: None,
        write: None,
        program: "target/release/innermean".into(),
    };
    while let Some(flag) = words.next() {
        let Some(value) = words.next() else { bail!("{flag} needs a value") };
        let whole = || {
            value.parse::<u64>().with_context(|| format!("{flag} {value}: expected a whole number"))
        };
        match &*flag {
            "--cases" => flags.cases = whole()?,
            "--seed" => flags.seed = whole()?,
            "--case" => flags.case = Some(whole()?),
            "--write" => flags.write = Some(value.into()),
            "--program" => flags.program = value.into(),
            _ => bail!("{flag}: expected --cases, --seed, --case, --write or --program"),
        }
    }
    Ok(flags)
}

/// What runs a target.
type Runner<'a> = Box<dyn Fn(&[u8]) + 'a>;
/// Files, by their names.
type Corpus = Vec<(String, Vec<u8>)>;

/// What runs a target, and the files to begin with.
fn runner<'a>(name: &str, program: &'a Path) -> Result<(Runner<'a>, Corpus)> {
    if let Some(target) = TARGETS.iter().find(|target| target.name == name) {
        return Ok((Box::new(target.run), corpus(name)?));
    }
    let run: Runner<'a> = match name {
        "flags" => Box::new(move |data| commands::flags(program, data)),
        "traces" => Box::new(move |data| commands::traces(program, data)),
        RESUMES => {
            let resumes = commands::Resumes::new(program);
            let corpus = resumes.corpus();
            return Ok((Box::new(move |data| resumes.run(data)), corpus));
        }
        _ => bail!("{name}: expected one of {}", names()),
    };
    Ok((run, corpus(name)?))
}

fn main() -> Result<ExitCode> {
    let Flags { target, cases, seed, case: one, write, program } = flags()?;
    let program = std::path::absolute(program)?;
    let (run, corpus) = runner(&target, &program)?;
    if let Some(number) = one {
        let seeds: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| &**bytes).collect();
        let data = case(&target, &seeds, seed, number);
        if let Some(path) = write {
            std::fs::write(&path, &data).with_context(|| path.display().to_string())?;
        }
        println!("{}", data.escape_ascii());
        let finding = run_case(&run, &data, number);
        println!("{}", finding.as_deref().unwrap_or("nothing is wrong"));
        return Ok(if finding.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    // What panics is a finding, not news.
    std::panic::set_hook(Box::new(|_| {}));
    let findings = fuzz_from(&target, &corpus, &run, seed, cases);
    for finding in &findings {
        println!("{} --seed {seed} --case {}: {}", finding.target, finding.case, finding.what);
    }
    println!("{target}: {cases} cases of seed {seed}, {} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
