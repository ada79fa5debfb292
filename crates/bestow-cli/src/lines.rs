//! A line in, a line out, until there are no more.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use crate::end::End;

/// The longest line that can be a question. What is longer is answered, and not kept.
pub(crate) const LONGEST: usize = 1 << 20;

/// A line without its end; of one that is too long, its beginning, which is too long as well.
pub(crate) enum Line {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
}

/// Writes what `answer` says to each line of `questions`, before it waits for the next.
pub(crate) fn answer_lines(
    questions: impl Read,
    answers: impl Write,
    mut answer: impl FnMut(&Line, &mut dyn Write) -> io::Result<()>,
) -> End {
    let (mut questions, mut answers) = (BufReader::new(questions), BufWriter::new(answers));
    loop {
        let line = match next_line(&mut questions) {
            Ok(Some(line)) => line,
            Ok(None) => return answers.flush().map_or_else(|why| End::unheard(&why), |()| End::Done),
            Err(why) => {
                // What was answered already is heard, whatever became of the questions.
                let _ = answers.flush();
                return End::failed(format_args!("the questions cannot be read: {why}"));
            }
        };
        let must_wait = !questions.buffer().contains(&b'\n');
        let written = answer(&line, &mut answers).and_then(|()| answers.write_all(b"\n"));
        if let Err(why) = written.and_then(|()| if must_wait { answers.flush() } else { Ok(()) }) {
            return End::unheard(&why);
        }
    }
}

/// The next line, without keeping more of it than a question can have.
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
