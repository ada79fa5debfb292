//! What the words on the command line ask for.

use std::ffi::OsString;

use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser,
};

pub(crate) const HELP: &str = "\
usage: bestow path --jsonl

  path --jsonl
      Answers questions about paths, one JSON object for each line, in the same order:
        {\"op\": \"sanitize\" | \"resolve\" | \"open_read\" | \"open_write\", \"allowed\": [DIRECTORY...], \"path\": PATH}
        -> {\"verdict\": \"ok\" | \"deny\", \"real\"?: PATH, \"reason\"?: TEXT}
      `allowed` is taken as it is written. open_write really opens: the file is created, or emptied.
      A line that is no question is answered with `deny` and a reason.

  --help, --version

exit code:
   0  done; allowed
   1  error: there is no answer, and so no permission
   2  a person would have to be asked
   3  denied
  64  the command line makes no sense
";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Help,
    Version,
    /// `path --jsonl`
    Path,
}

impl Asked {
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, Error> {
        let mut parser = Parser::from_args(words);
        match parser.next()? {
            Some(Short('h') | Long("help")) => Ok(Asked::Help),
            Some(Short('V') | Long("version")) => Ok(Asked::Version),
            Some(Value(command)) if command == "path" => path(parser),
            Some(other) => Err(other.unexpected()),
            None => Err("what is to be done?".into()),
        }
    }
}

fn path(mut parser: Parser) -> Result<Asked, Error> {
    match parser.next()? {
        Some(Long("jsonl")) => nothing_more(parser, Asked::Path),
        Some(Short('h') | Long("help")) => Ok(Asked::Help),
        Some(other) => Err(other.unexpected()),
        None => Err("`path` needs `--jsonl`".into()),
    }
}

fn nothing_more(mut parser: Parser, asked: Asked) -> Result<Asked, Error> {
    match parser.next()? {
        None => Ok(asked),
        Some(more) => Err(more.unexpected()),
    }
}
