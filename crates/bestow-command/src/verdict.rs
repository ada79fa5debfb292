//! A tier with its reason.

use std::borrow::Cow;

use crate::tier::Tier;

/// A tier and the rule that decided it.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) tier: Tier,
    pub(crate) rule: Cow<'static, str>,
}

impl Verdict {
    pub(crate) fn safe(rule: impl Into<Cow<'static, str>>) -> Self {
        Verdict { tier: Tier::Safe, rule: rule.into() }
    }

    pub(crate) fn dangerous(rule: impl Into<Cow<'static, str>>) -> Self {
        Verdict { tier: Tier::Dangerous, rule: rule.into() }
    }

    pub(crate) fn destructive(rule: impl Into<Cow<'static, str>>) -> Self {
        Verdict { tier: Tier::Destructive, rule: rule.into() }
    }

    /// Returns the stricter verdict. If both are equally strict, it returns this one.
    pub(crate) fn or_stricter(self, other: Verdict) -> Verdict {
        if other.tier > self.tier { other } else { self }
    }
}
