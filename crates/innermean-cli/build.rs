//! Tells the program the commit that it is built from, where there is one.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit =
        from_git().or_else(from_package).map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo:rustc-env=INNERMEAN_VERSION={}{commit}", env!("CARGO_PKG_VERSION"));
}

/// The short name of the commit of the work tree that this crate lies in.
fn from_git() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        String::from_utf8(output.stdout)
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    };
    // Not that of a repository into which the sources were unpacked.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // In the profile of the tests an older commit does no harm, and building the program anew after
    // each commit would.
    let watched: &[&str] = if std::env::var("PROFILE").is_ok_and(|p| p == "release") {
        &["HEAD", "logs/HEAD"]
    } else {
        &[]
    };
    for name in watched {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short", "HEAD"])
}

/// The same from the file that cargo adds to a package.
fn from_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').find(|word| word.len() == 40).map(|commit| commit[..7].to_owned())
}
