//! The command line of bestow.

fn main() -> std::process::ExitCode {
    bestow_cli::main()
}
