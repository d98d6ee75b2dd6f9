//! What a reproduction says, as one HTML page and as Markdown with pictures beside it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::store::write;
use crate::output::grid::Grid;
use crate::plot::Figure;
use crate::report::escape;
use crate::report::page::{document, grid};

/// The whole.
pub(super) struct Page {
    pub(super) title: String,
    /// Where the data come from, and how much was done.
    pub(super) lead: String,
    pub(super) findings: Vec<Finding>,
    pub(super) sections: Vec<Section>,
}

/// What the evidence says about something that the paper says.
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    /// Neither: worth knowing.
    Note,
}

/// A part of the page.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

pub(super) enum Block {
    Text(String),
    Picture(Picture),
    Table(Grid),
}

/// A picture that is also a file.
pub(super) struct Picture {
    /// The name of its files without their ending.
    pub(super) stem: String,
    pub(super) figure: Figure,
    pub(super) caption: String,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "Holds.",
            Verdict::Fails => "Does not hold.",
            Verdict::Note => "Note.",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Note => "note",
        }
    }
}

impl Finding {
    /// One that holds or does not.
    pub(super) fn of(holds: bool, text: String) -> Self {
        Finding { verdict: if holds { Verdict::Holds } else { Verdict::Fails }, text }
    }

    pub(super) fn note(text: String) -> Self {
        Finding { verdict: Verdict::Note, text }
    }
}

impl Page {
    /// The page, the same as Markdown, and every picture as SVG and PNG.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let pictures = self.sections.iter().flat_map(|section| &section.blocks).filter_map(
            |block| match block {
                Block::Picture(picture) => Some(picture),
                Block::Text(_) | Block::Table(_) => None,
            },
        );
        for Picture { stem, figure, .. } in pictures {
            write(&folder.join(format!("{stem}.svg")), figure.svg().as_bytes())?;
            write(
                &folder.join(format!("{stem}.png")),
                &figure.png().context("a picture cannot be drawn")?,
            )?;
        }
        write(&folder.join("README.md"), self.markdown().as_bytes())?;
        write(&folder.join("index.html"), self.html().as_bytes())
    }

    fn html(&self) -> String {
        let mut out =
            String::from("<h2>What holds, and what does not</h2>\n<ul class=\"findings\">\n");
        for Finding { verdict, text } in &self.findings {
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "<li class=\"{}\"><strong>{}</strong> {}</li>",
                verdict.class(),
                verdict.word(),
                escape(text)
            );
        }
        out.push_str("</ul>\n");
        for Section { title, blocks } in &self.sections {
            let _ = writeln!(out, "<h2>{}</h2>", escape(title));
            for block in blocks {
                match block {
                    Block::Text(text) => {
                        let _ = writeln!(out, "<p>{}</p>", escape(text));
                    }
                    Block::Picture(Picture { figure, caption, .. }) => {
                        let _ = writeln!(
                            out,
                            "<div class=\"picture\">\n{}</div>\n<p class=\"soft\">{}</p>",
                            figure.svg(),
                            escape(caption)
                        );
                    }
                    Block::Table(table) => grid(&mut out, table),
                }
            }
        }
        document(&self.title, &self.lead, &out, None)
    }

    fn markdown(&self) -> String {
        let mut out =
            format!("# {}\n\n{}\n\n## What holds, and what does not\n\n", self.title, self.lead);
        for Finding { verdict, text } in &self.findings {
            let _ = writeln!(out, "- **{}** {text}", verdict.word());
        }
        for Section { title, blocks } in &self.sections {
            let _ = write!(out, "\n## {title}\n");
            for block in blocks {
                let _ = match block {
                    Block::Text(text) => write!(out, "\n{text}\n"),
                    Block::Picture(Picture { stem, caption, .. }) => {
                        write!(out, "\n![{caption}]({stem}.svg)\n\n{caption}\n")
                    }
                    Block::Table(table) => write!(out, "\n{}", table.markdown()),
                };
            }
        }
        out
    }
}
