//! The protocol of `bestow classify --jsonl`: one line in, one line out.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use serde_json::{Map, Value};

use crate::{classification::Classification, classifier::Classifier, tier::Tier, values::StrictJson};

/// The longest line that is read, in bytes. A real command fits, even with every letter escaped.
const LONGEST: usize = 1 << 20;

impl Classifier {
    /// Answers one line: `{"command":"…"}` or `{"toolName":"…","toolInput":{…}}`.
    ///
    /// The answer always has the form `{"tier":…,"reason":…,"parts":[…]}` without a line break. A malformed line
    /// is dangerous, and the reason says so. Malformed lines are those of another form, those that are not UTF-8, and
    /// those of more than a megabyte. A line that names a key twice is malformed too, since its readers may disagree
    /// about the key that counts.
    ///
    /// ```
    /// let answer = bestow_command::Classifier::default().answer_line(r#"{"command":"rm -rf /"}"#);
    /// assert!(answer.starts_with(r#"{"tier":"destructive","reason":"Destructive command: "#));
    /// ```
    pub fn answer_line(&self, line: impl AsRef<[u8]>) -> String {
        let line = line.as_ref();
        let question = if line.len() > LONGEST { Err(format!("longer than {LONGEST} bytes")) } else { question(line) };
        let answer = match question {
            Ok(question) => self.answer(&question),
            Err(why) => Classification::plain(Tier::Dangerous, &format!("the line is not a question: {why}")),
        };
        serde_json::to_string(&answer)
            .unwrap_or_else(|_| r#"{"tier":"dangerous","reason":"Dangerous command: no answer","parts":[]}"#.into())
    }

    /// Answers each line of `questions` as [`answer_line`](Self::answer_line) does, before it reads the next one. Of a
    /// line that is too long, no more than a megabyte is kept.
    ///
    /// # Errors
    ///
    /// Returns the failure to read a question or to write an answer.
    pub fn answer_lines(&self, questions: impl Read, answers: impl Write) -> io::Result<()> {
        let (mut questions, mut answers) = (BufReader::new(questions), BufWriter::new(answers));
        let mut line = Vec::new();
        while next_line(&mut questions, &mut line)? {
            answers.write_all(self.answer_line(&line).as_bytes())?;
            answers.write_all(b"\n")?;
            // The asker may wait for this answer before it asks more.
            if !questions.buffer().contains(&b'\n') {
                answers.flush()?;
            }
        }
        answers.flush()
    }

    fn answer(&self, question: &Map<String, Value>) -> Classification {
        match (question.get("command"), question.get("toolName")) {
            (Some(Value::String(command)), None) => self.classify(command),
            (None, Some(Value::String(name))) => {
                self.classify_tool(name, question.get("toolInput").unwrap_or(&Value::Null))
            }
            _ => Classification::plain(
                Tier::Dangerous,
                "the line is not a question: it holds neither a `command` nor a `toolName`, or both",
            ),
        }
    }
}

/// Reads the next line without its end. Returns false at the end of the input. Of a line that is too long, enough is
/// kept to tell that.
fn next_line(questions: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX).saturating_add(1);
    if questions.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LONGEST {
        questions.skip_until(b'\n')?;
    }
    Ok(true)
}

/// Returns the object in a line.
fn question(line: &[u8]) -> Result<Map<String, Value>, String> {
    match StrictJson::read(line).map_err(|why| why.to_string())?.0 {
        Value::Object(map) => Ok(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("not an object".to_owned())
        }
    }
}
