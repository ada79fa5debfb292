//! The command `bestow`.

fn main() -> std::process::ExitCode {
    bestow_cli::main()
}
