//! What has been measured, part by part: as JSON, from which the page is written.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::table::{self, Claim};
use super::{chart, dots};

/// All parts, in the order of the benchmark.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// The parts that have been run.
    pub parts: Vec<Part>,
}

/// One part of the benchmark.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// On what it ran, with versions and commit.
    pub machine: Value,
    /// What it claims.
    pub claims: Vec<Claim>,
    /// All that was measured.
    pub details: Vec<Detail>,
}

/// One contest or curve.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Detail {
    /// The heading.
    pub name: String,
    /// For people.
    pub table: String,
    /// For programs.
    pub data: Value,
}

impl Results {
    /// Those of an earlier run; none if there are none, or they are of another form.
    pub fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Takes a part in the place of the same part of an earlier run; `order` are the names of all.
    pub fn put(&mut self, part: Part, order: &[&str]) {
        self.parts.retain(|other| other.name != part.name);
        self.parts.push(part);
        self.parts.sort_by_key(|part| order.iter().position(|name| *name == part.name));
    }

    /// The table of all claims.
    pub fn claims(&self) -> String {
        table::claims(
            &self.parts.iter().flat_map(|part| part.claims.clone()).collect::<Vec<Claim>>(),
        )
    }

    /// The page: claims, then every contest and curve, then machines.
    pub fn page(&self) -> String {
        let mut page = format!("# Comparison with other software\n\n{}\n", self.claims());
        for detail in self.parts.iter().flat_map(|part| &part.details) {
            let _ = write!(page, "## {}\n\n{}\n", detail.name, detail.table);
        }
        page += "## Machine\n\n";
        let mut last = &Value::Null;
        for Part { name, machine, .. } in &self.parts {
            if machine != last {
                let _ = write!(page, "From {name} on:\n\n```json\n{machine:#}\n```\n\n");
            }
            last = machine;
        }
        page
    }

    /// Writes `bench.json`, `bench.md` and the pictures `bench.svg` and `bench-dots.svg`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("bench.json"), serde_json::to_string_pretty(self)? + "\n")?;
        fs::write(folder.join("bench.md"), self.page())?;
        fs::write(folder.join("bench.svg"), chart::chart(self))?;
        fs::write(folder.join("bench-dots.svg"), dots::dots(self))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_the_place_of_its_earlier_self() {
        let part = |name: &str, value: f64| Part {
            name: name.to_owned(),
            machine: Value::Null,
            claims: vec![Claim::at_most(name, "time / numpy", Some(value), Some(1.0))],
            details: Vec::new(),
        };
        let mut results = Results::default();
        let order = ["a", "b"];
        for (name, value) in [("b", 3.0), ("a", 2.0), ("b", 0.5)] {
            results.put(part(name, value), &order);
        }
        assert_eq!(results.parts.len(), 2);
        assert_eq!(
            (results.parts[0].name.as_str(), results.parts[1].claims[0].value),
            ("a", Some(0.5))
        );
        let text = serde_json::to_string(&results).expect("JSON");
        let back: Results = serde_json::from_str(&text).expect("the same");
        assert_eq!(back.page(), results.page());
        assert!(back.page().contains("**miss**") && back.page().contains("pass"));
    }
}
