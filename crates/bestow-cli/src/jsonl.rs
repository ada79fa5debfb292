//! A filter: one line of answer for each line of input.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use crate::exit::Exit;

/// The longest question, in bytes. A longer line gets an answer, but is not kept in memory.
pub(crate) const LONGEST: usize = 1 << 20;

/// A line without its end. A line that is too long is cut, and what remains is still too long.
pub(crate) enum Line {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
}

/// Writes the answer to each line of `questions` before it waits for the next line.
pub(crate) fn answer_lines(
    questions: impl Read,
    answers: impl Write,
    mut answer: impl FnMut(&Line, &mut dyn Write) -> io::Result<()>,
) -> Exit {
    let (mut questions, mut answers) = (BufReader::new(questions), BufWriter::new(answers));
    loop {
        let line = match next_line(&mut questions) {
            Ok(Some(line)) => line,
            Ok(None) => return answers.flush().map_or_else(|why| Exit::output_failed(&why), |()| Exit::Done),
            Err(why) => {
                // The answers so far are valid, whatever happened to the input.
                let _ = answers.flush();
                return Exit::failed(format_args!("the questions cannot be read: {why}"));
            }
        };
        let must_wait = !questions.buffer().contains(&b'\n');
        let written = answer(&line, &mut answers).and_then(|()| answers.write_all(b"\n"));
        if let Err(why) = written.and_then(|()| if must_wait { answers.flush() } else { Ok(()) }) {
            return Exit::output_failed(&why);
        }
    }
}

/// Reads the next line, and keeps no more of it than a question may have.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX).saturating_add(1);
    if from.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LONGEST {
        from.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong(line)));
    }
    Ok(Some(Line::Whole(line)))
}
