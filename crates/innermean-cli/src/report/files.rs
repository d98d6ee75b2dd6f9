//! The files that reports and pictures go to.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean_data::OutFile;

use super::Report;
use crate::plot::Figure;

/// Pages and pictures.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PictureFlags {
    /// Write a page about it to a file that any browser opens: answer, certificate, convergence,
    /// data, settings
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Write a picture of convergence to a file, for papers and slides: .svg or .png
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

/// Files whose paths have been checked.
#[derive(Debug, Default)]
pub(crate) struct OutputFiles {
    report: Option<(&'static str, OutFile)>,
    plot: Option<(OutFile, Form)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Svg,
    #[cfg(feature = "png")]
    Png,
}

impl Form {
    /// What the ending of a name asks for.
    fn of(path: &Path) -> Result<Form> {
        match ending(path).as_str() {
            "svg" => Ok(Form::Svg),
            #[cfg(feature = "png")]
            "png" => Ok(Form::Png),
            #[cfg(not(feature = "png"))]
            "png" => Err(without_png(path)),
            _ => bail!(
                "--plot {}: does not say by its ending how to draw it; expected .svg or .png",
                path.display()
            ),
        }
    }

    fn write(self, figure: &Figure, out: &mut impl Write) -> io::Result<()> {
        match self {
            Form::Svg => out.write_all(figure.svg().as_bytes()),
            #[cfg(feature = "png")]
            Form::Png => out.write_all(&figure.png()?),
        }
    }
}

impl PictureFlags {
    /// Flags and paths of what is written.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let report = self.report.as_deref().map(|path| ("--report", path));
        report.into_iter().chain(self.plot.as_deref().map(|path| ("--plot", path)))
    }

    /// Looks whether the files can be written; `inputs` must survive.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<OutputFiles> {
        OutputFiles::check("--report", self.report.as_deref(), self.plot.as_deref(), inputs)
    }
}

impl OutputFiles {
    /// Looks whether the files can be written; `flag` asked for the page, and `inputs` must
    /// survive.
    pub(crate) fn check(
        flag: &'static str,
        report: Option<&Path>,
        plot: Option<&Path>,
        inputs: &[&Path],
    ) -> Result<Self> {
        let open = |flag: &str, path: &Path| {
            OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"))
        };
        if let Some(path) = report
            && !["html", "htm"].contains(&ending(path).as_str())
        {
            bail!(
                "{flag} {}: a report is a page; expected a name that ends in .html",
                path.display()
            );
        }
        let plot = plot.map(|path| Ok::<_, anyhow::Error>((path, Form::of(path)?))).transpose()?;
        let plot = plot.map(|(path, form)| Ok::<_, anyhow::Error>((open("--plot", path)?, form)));
        Ok(OutputFiles {
            report: report
                .map(|path| Ok::<_, anyhow::Error>((flag, open(flag, path)?)))
                .transpose()?,
            plot: plot.transpose()?,
        })
    }

    /// Whether anything is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.report.is_none() && self.plot.is_none()
    }

    /// Writes what was asked for; if the one cannot be written, the other still is.
    pub(crate) fn write(&self, report: &Report<'_>) -> Result<()> {
        let written = match &self.report {
            Some((flag, file)) => {
                let page = report.page();
                file.write(|out| out.write_all(page.as_bytes()))
                    .map_err(|error| anyhow!("{flag} {error}"))
            }
            None => Ok(()),
        };
        if let Some((file, form)) = &self.plot {
            let figure = report.convergence.figure(&report.title);
            file.write(|out| form.write(&figure, out))
                .map_err(|error| anyhow!("--plot {error}"))?;
        }
        written
    }
}

/// What to do where a program cannot write PNG.
#[cfg(any(test, not(feature = "png")))]
fn without_png(path: &Path) -> anyhow::Error {
    anyhow!(
        "--plot {}: this program is built without PNG; expected a name that ends in .svg, or \
         cargo run --release --features png -- ...",
        path.display()
    )
}

/// In small letters.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_form_of_its_name() {
        assert_eq!(Form::of(Path::new("a.SVG")).expect("a form"), Form::Svg);
        assert!(
            Form::of(Path::new("a.jpg")).is_err_and(|error| error.to_string().contains("a.jpg"))
        );
        let said = without_png(Path::new("a.png")).to_string();
        assert!(said.contains("a.png") && said.contains("--features png"), "{said}");
    }
}
