//! `bestow path --jsonl`: questions about paths.

use std::io::{self, Read, Write};

use bestow::fs::{Answer, Op, answer};
use serde::{Deserialize, Serialize};

use crate::{
    exit::Exit,
    jsonl::{self, LONGEST, Line},
};

/// One question. Other keys of the object are ignored.
#[derive(Deserialize)]
struct Question {
    op: Op,
    #[serde(default)]
    allowed: Vec<String>,
    path: String,
}

/// The answer to a line that is no question.
#[derive(Serialize)]
struct NoQuestion {
    verdict: &'static str,
    reason: String,
}

/// Answers the lines of `questions` on `answers`.
pub(crate) fn answer_lines(questions: impl Read, answers: impl Write) -> Exit {
    jsonl::answer_lines(questions, answers, write_answer)
}

fn write_answer(line: &Line, answers: &mut dyn Write) -> io::Result<()> {
    match answer_to(line) {
        Ok(answer) => serde_json::to_writer(answers, &answer)?,
        Err(reason) => serde_json::to_writer(answers, &NoQuestion { verdict: "deny", reason })?,
    }
    Ok(())
}

fn answer_to(line: &Line) -> Result<Answer, String> {
    let Line::Whole(line) = line else {
        return Err(format!("not a question: longer than {LONGEST} bytes"));
    };
    let question: Question = serde_json::from_slice(line).map_err(|why| format!("not a question: {why}"))?;
    Ok(answer(question.op, &question.allowed, &question.path))
}
