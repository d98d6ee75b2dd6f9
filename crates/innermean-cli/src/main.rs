//! The program `innermean`; all of it is in the library.

fn main() -> std::process::ExitCode {
    innermean_cli::run()
}
