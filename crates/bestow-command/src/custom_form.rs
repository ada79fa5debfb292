//! A read-only form that a person has added. Its conditions are those of the built-in records.

use std::borrow::Cow;

use crate::{
    options::{List, Options, Reading},
    programs::Test,
    values::SafeAddition,
    word::Word,
};

/// A checked form.
#[derive(Clone, Debug)]
pub(crate) struct CustomForm {
    pub(crate) program: String,
    /// The alternatives of the subcommand. One without words stands for the program itself.
    subcommands: Vec<Vec<String>>,
    flags: String,
    operands: bool,
    requires: Vec<String>,
    refuses: String,
    first_operand: Vec<Cow<'static, str>>,
    operand_is: Vec<Cow<'static, str>>,
    operand_not: Vec<Cow<'static, str>>,
    value_not: Vec<Cow<'static, str>>,
    written_out: bool,
}

impl CustomForm {
    pub(crate) fn of(addition: &SafeAddition) -> CustomForm {
        let patterns = |texts: &[String]| texts.iter().cloned().map(Cow::Owned).collect();
        let words = |text: &String| text.split_ascii_whitespace().map(str::to_owned).collect();
        let mut subcommands: Vec<Vec<String>> = addition.subcommands.iter().map(words).collect();
        if !addition.subcommand.is_empty() || subcommands.is_empty() {
            subcommands.push(addition.subcommand.clone());
        }
        CustomForm {
            program: addition.program.clone(),
            subcommands,
            flags: addition.flags.join(" "),
            operands: addition.operands,
            requires: addition.requires.clone(),
            refuses: addition.refuses.join(" "),
            first_operand: patterns(&addition.first_operand),
            operand_is: patterns(&addition.operand_is),
            operand_not: patterns(&addition.operand_not),
            value_not: patterns(&addition.value_not),
            written_out: addition.written_out,
        }
    }

    /// Returns true if the form describes the words after the program.
    pub(crate) fn fits(&self, rest: &[Word]) -> bool {
        self.subcommands.iter().any(|subcommand| {
            let named = rest.len() >= subcommand.len()
                && subcommand.iter().zip(rest).all(|(wanted, arg)| arg.is_written() && arg.text() == wanted);
            named && self.describes(rest.get(subcommand.len()..).unwrap_or_default())
        })
    }

    /// Returns true if the form allows these options and operands.
    fn describes(&self, rest: &[Word]) -> bool {
        let reading = Reading { flags: List::of(&self.flags), stop_at_operand: false, inert: false };
        Options::read(rest, reading).is_ok_and(|options| {
            (self.operands || options.operands.is_empty()) && self.tests().all(|test| test.holds(&options))
        })
    }

    fn tests(&self) -> impl Iterator<Item = Test<'_>> {
        let lists = [
            (!self.refuses.is_empty()).then_some(Test::Refuses(&self.refuses)),
            (!self.first_operand.is_empty()).then_some(Test::FirstOperand(&self.first_operand)),
            (!self.operand_is.is_empty()).then_some(Test::OperandIs(&self.operand_is)),
            (!self.operand_not.is_empty()).then_some(Test::OperandNot(&self.operand_not)),
            (!self.value_not.is_empty()).then_some(Test::ValueNot(&self.value_not)),
            self.written_out.then_some(Test::WrittenOut),
        ];
        self.requires.iter().map(|group| Test::Requires(group)).chain(lists.into_iter().flatten())
    }
}

/// Returns a word of the addition that cannot stand at its place: an option without a dash, or a subcommand with one.
pub(crate) fn misplaced(addition: &SafeAddition) -> Option<&str> {
    let is_option = |flag: &&str| flag.starts_with('-') && flag.len() > 1 && !flag.contains(char::is_whitespace);
    let groups = addition.requires.iter().flat_map(|group| group.split(' '));
    let flags = addition.flags.iter().chain(&addition.refuses).map(String::as_str).chain(groups);
    let alternatives = addition.subcommands.iter().flat_map(|words| words.split(' '));
    let mut subcommands = addition.subcommand.iter().map(String::as_str).chain(alternatives);
    let mut flags = flags.filter(|flag| !is_option(flag));
    flags.next().or_else(|| subcommands.find(|word| word.starts_with('-') || word.is_empty()))
}
