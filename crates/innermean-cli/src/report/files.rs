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
    /// Write a page about it to a file that any browser opens: answer, certificate, convergence, data, settings
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

#[derive(Debug, Clone, Copy)]
enum Form {
    Svg,
    Png,
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
    /// Looks whether the files can be written; `flag` asked for the page, and `inputs` must survive.
    pub(crate) fn check(
        flag: &'static str,
        report: Option<&Path>,
        plot: Option<&Path>,
        inputs: &[&Path],
    ) -> Result<Self> {
        let open =
            |flag: &str, path: &Path| OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"));
        if let Some(path) = report
            && !["html", "htm"].contains(&ending(path).as_str())
        {
            bail!("{flag} {}: a report is a page; expected a name that ends in .html", path.display());
        }
        let form = plot.map(|path| match ending(path).as_str() {
            "svg" => Ok((path, Form::Svg)),
            "png" => Ok((path, Form::Png)),
            _ => bail!(
                "--plot {}: does not say by its ending how to draw it; expected .svg or .png",
                path.display()
            ),
        });
        let plot =
            form.transpose()?.map(|(path, form)| Ok::<_, anyhow::Error>((open("--plot", path)?, form)));
        Ok(OutputFiles {
            report: report.map(|path| Ok::<_, anyhow::Error>((flag, open(flag, path)?))).transpose()?,
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
                file.write(|out| out.write_all(page.as_bytes())).map_err(|error| anyhow!("{flag} {error}"))
            }
            None => Ok(()),
        };
        if let Some((file, form)) = &self.plot {
            let figure = report.convergence.figure(&report.title);
            file.write(|out| out.write_all(&picture(&figure, *form)?))
                .map_err(|error| anyhow!("--plot {error}"))?;
        }
        written
    }
}

fn picture(figure: &Figure, form: Form) -> io::Result<Vec<u8>> {
    match form {
        Form::Svg => Ok(figure.svg().into_bytes()),
        Form::Png => figure.png(),
    }
}

/// In small letters.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}
