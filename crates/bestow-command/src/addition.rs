//! Custom rules of a person: programs that only read, and commands that deserve a higher tier.
//!
//! Both kinds are checked against their own examples when they are created. Neither kind can lower a destructive tier:
//! the classifier searches for destruction before it proves anything, whatever a person has added.

use std::sync::Arc;

use crate::{
    custom_form::CustomForm,
    tier::Tier,
    values::{CommandRules, Raise},
    verdict::Verdict,
    word::Word,
};

/// Checked custom rules. Clones share their rows.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    safe: Arc<[CustomForm]>,
    raises: Arc<[Raise]>,
}

impl Additions {
    /// Returns true if no form of a program was declared safe.
    pub(crate) fn declare_nothing(&self) -> bool {
        self.safe.is_empty()
    }

    /// Builds the additions of `rules`, whose form was checked.
    pub(crate) fn of_valid(rules: &CommandRules) -> Self {
        let rows = rules.safe.iter().map(CustomForm::of);
        Additions { safe: rows.collect(), raises: rules.raises.iter().cloned().collect() }
    }

    /// Returns the additions without the read-only row at index `left_out`.
    pub(crate) fn without(&self, left_out: usize) -> Additions {
        let others = self.safe.iter().enumerate().filter(|(index, _)| *index != left_out);
        Additions { safe: others.map(|(_, row)| row.clone()).collect(), raises: Arc::clone(&self.raises) }
    }

    /// Returns the rule by which a command is read-only, if a matching row was added.
    pub(crate) fn proves(&self, name: &str, rest: &[Word]) -> Option<String> {
        let fits = |row: &&CustomForm| row.program == name && row.fits(rest);
        self.safe.iter().find(fits).map(|row| format!("`{}` was added as only reading in this form", row.program))
    }

    /// Returns true if some use of the program was raised to destructive.
    pub(crate) fn may_destroy(&self, name: &str) -> bool {
        self.raises.iter().any(|raise| raise.tier == Tier::Destructive && raise.program == name)
    }

    /// Returns the tier and rule of the highest raise that matches a command, if there is one.
    pub(crate) fn raise(&self, args: &[Word]) -> Option<Verdict> {
        let (program, rest) = args.split_first().filter(|_| !self.raises.is_empty())?;
        let name = crate::values::base_name(program.text());
        let fits = |raise: &&Raise| {
            raise.program == name && raise.words.iter().all(|word| rest.iter().any(|arg| arg.text() == *word))
        };
        let raise = self.raises.iter().filter(fits).max_by_key(|raise| raise.tier)?;
        let rule = format!("`{}` was raised by an added rule", raise.program);
        Some(Verdict { tier: raise.tier, rule: rule.into() })
    }
}
