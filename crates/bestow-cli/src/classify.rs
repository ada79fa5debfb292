//! `bestow classify`: how much harm a command or a tool call can do.

use std::{
    fmt::Write as _,
    io::{self, Read, Write},
};

use bestow::{
    Escaped, PolicyFile,
    command::{Classification, Classifier, Part},
};

use crate::{
    arguments::{Classifying, Form},
    end::End,
    lines::{self, Line},
};

/// Answers one command, or the lines of standard input.
pub(crate) fn classify(asked: &Classifying) -> End {
    let classifier = match classifier(asked) {
        Ok(classifier) => classifier,
        Err(end) => return end,
    };
    match &asked.form {
        Form::Lines => answer_lines(&classifier, io::stdin().lock(), io::stdout().lock()),
        Form::Json(command) => match serde_json::to_string(&classifier.classify_bytes(command.as_encoded_bytes())) {
            Ok(answer) => End::said(&(answer + "\n")),
            Err(why) => End::failed(why),
        },
        Form::Text(command) => End::said(&described(&classifier.classify_bytes(command.as_encoded_bytes()))),
    }
}

/// The rules of the file, if one is named; a profile on the command line wins.
fn classifier(asked: &Classifying) -> Result<Classifier, End> {
    let (mut rules, tools) = match &asked.config {
        Some(file) => {
            let settings = PolicyFile::new(file).load().map_err(End::failed)?.settings;
            (settings.commands, settings.tools)
        }
        None => Default::default(),
    };
    rules.profile = asked.profile.unwrap_or(rules.profile);
    Ok(Classifier::with_rules(&rules).map_err(End::failed)?.with_tools(tools))
}

fn answer_lines(classifier: &Classifier, questions: impl Read, answers: impl Write) -> End {
    lines::answer_lines(questions, answers, |line, answers| {
        let (Line::Whole(line) | Line::TooLong(line)) = line;
        answers.write_all(classifier.answer_line(line).as_bytes())
    })
}

/// The answer as a person reads it: the reason, each part, and what could be remembered.
fn described(answer: &Classification) -> String {
    let mut text = format!("{}\n", Escaped(&answer.reason));
    for (index, part) in answer.parts.iter().enumerate() {
        let Part { tier, command, rule, span, .. } = part;
        let _ = writeln!(text, "  {}. {tier}: {}", index + 1, Escaped(command));
        let _ = writeln!(text, "     {} (bytes {}..{})", Escaped(rule), span.start, span.end);
    }
    if let Some(shape) = &answer.shape {
        let _ = writeln!(text, "`always` would remember: {shape}");
    }
    text
}
