//! `bestow path --jsonl`: a line in, a line out, until there are no more.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use bestow::fs::{Answer, Op, answer};
use serde::{Deserialize, Serialize};

use crate::end::End;

/// A line may hold a path and many bases, each of 4096 characters. What is longer is no question.
const LONGEST: usize = 1 << 20;

/// One question. What else stands in the object is the asker's own business.
#[derive(Deserialize)]
struct Question {
    op: Op,
    #[serde(default)]
    allowed: Vec<String>,
    path: String,
}

/// The answer to what is no question.
#[derive(Serialize)]
struct NoQuestion {
    verdict: &'static str,
    reason: String,
}

/// Answers the lines of `questions` on `answers`, each before it waits for the next.
pub(crate) fn answer_lines(questions: impl Read, answers: impl Write) -> End {
    let (mut questions, mut answers) = (BufReader::new(questions), BufWriter::new(answers));
    loop {
        let line = match next_line(&mut questions) {
            Ok(Some(line)) => line,
            Ok(None) => return End::Done,
            Err(why) => return End::failed(format_args!("the questions cannot be read: {why}")),
        };
        let must_wait = !questions.buffer().contains(&b'\n');
        let written = write_answer(&mut answers, &line);
        if let Err(why) = written.and_then(|()| if must_wait { answers.flush() } else { Ok(()) }) {
            return End::unheard(&why);
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// The next line without its end, and without keeping more of it than a question can have.
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
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Whole(line)))
}

fn write_answer(answers: &mut impl Write, line: &Line) -> io::Result<()> {
    match answer_to(line) {
        Ok(answer) => serde_json::to_writer(&mut *answers, &answer)?,
        Err(reason) => serde_json::to_writer(&mut *answers, &NoQuestion { verdict: "deny", reason })?,
    }
    answers.write_all(b"\n")
}

fn answer_to(line: &Line) -> Result<Answer, String> {
    let Line::Whole(line) = line else {
        return Err(format!("not a question: longer than {LONGEST} bytes"));
    };
    let question: Question = serde_json::from_slice(line).map_err(|why| format!("not a question: {why}"))?;
    Ok(answer(question.op, &question.allowed, &question.path))
}
