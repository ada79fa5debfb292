//! `bestow classify`: the harm that a command or a tool call can do.

use std::{
    fmt::Write as _,
    io::{self, Read, Write},
};

use bestow::{
    PolicyFile,
    command::{Classification, Classifier, Part},
    text::Escaped,
};

use crate::{
    args::{ClassifyArgs, Question},
    exit::Exit,
    jsonl::{self, Line},
};

/// Answers one command, or the lines of standard input.
pub(crate) fn classify(args: &ClassifyArgs) -> Result<Exit, Exit> {
    let question = args.question()?;
    let classifier = classifier(args)?;
    Ok(match question {
        Question::Lines => answer_lines(&classifier, io::stdin().lock(), io::stdout().lock()),
        Question::Json(command) => {
            let answer = serde_json::to_string(&classifier.classify_bytes(command.as_encoded_bytes()));
            Exit::print(&(answer.map_err(Exit::failed)? + "\n"))
        }
        Question::Text(command) => Exit::print(&described(&classifier.classify_bytes(command.as_encoded_bytes()))),
    })
}

/// Returns a classifier with the rules of the policy file. A profile on the command line replaces that of the file.
fn classifier(args: &ClassifyArgs) -> Result<Classifier, Exit> {
    let (mut rules, tools) = match &args.config {
        Some(file) => {
            let settings = PolicyFile::new(file).load().map_err(Exit::failed)?.settings;
            (settings.commands, settings.tools)
        }
        None => Default::default(),
    };
    rules.profile = args.profile().unwrap_or(rules.profile);
    let classifier = Classifier::with_rules(&rules).map_err(Exit::failed)?.with_tools(tools);
    Ok(classifier.in_shell(args.shell.unwrap_or_default()))
}

fn answer_lines(classifier: &Classifier, questions: impl Read, answers: impl Write) -> Exit {
    jsonl::answer_lines(questions, answers, |line, answers| {
        let (Line::Whole(line) | Line::TooLong(line)) = line;
        answers.write_all(classifier.answer_line(line).as_bytes())
    })
}

/// Describes an answer for a person: the reason, each part, and the shape that a saved decision would have.
fn described(answer: &Classification) -> String {
    let mut text = format!("{}\n", Escaped(&answer.reason));
    for (index, part) in answer.parts.iter().enumerate() {
        let Part { tier, command, rule, span, .. } = part;
        let _ = writeln!(text, "  {}. {tier}: {}", index + 1, Escaped(command));
        let _ = writeln!(text, "     {} (bytes {}..{})", Escaped(rule), span.start, span.end);
    }
    if let Some(shape) = &answer.shape {
        let _ = writeln!(text, "an approval for `always` would cover: {shape}");
    }
    text
}
