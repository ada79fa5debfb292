//! The number of cases of a property.

/// Returns the number of cases that a property tries: `usual`, times the number in `BESTOW_CASES`. A night tries more.
pub(crate) fn cases(usual: u32) -> u32 {
    let factor = std::env::var("BESTOW_CASES").ok().map(|text| text.parse::<u32>().expect("BESTOW_CASES is a number"));
    usual.saturating_mul(factor.unwrap_or(1))
}
