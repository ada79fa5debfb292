//! Durations as people write them: a number and a unit.

use std::time::Duration;

/// The units, from the longest name, so that `ms` is not read as `s`.
const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The longest duration with a unit, a year. A longer one is a mistake, or should be `always`.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// The error for a text that is not a duration. Its message is the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number and a unit (ms, s, m, h, d), as in `5m`, and at most `365d`")]
#[non_exhaustive]
pub struct InvalidDuration;

/// Parses a duration such as `5m`.
pub(crate) fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    with_unit(text).ok_or(InvalidDuration)
}

/// Parses a duration such as `5m`. A number without a unit is converted by `bare`, and has no limit.
///
/// # Errors
///
/// The text is neither a number nor a number with a unit, or is longer than a year with its unit.
pub fn parse_or_bare(text: &str, bare: fn(u64) -> Duration) -> Result<Duration, InvalidDuration> {
    digits(text).map(bare).or_else(|| with_unit(text)).ok_or(InvalidDuration)
}

fn with_unit(text: &str) -> Option<Duration> {
    let (number, millis) = UNITS.iter().find_map(|(unit, millis)| Some((text.strip_suffix(unit)?, millis)))?;
    let duration = Duration::from_millis(digits(number)?.checked_mul(*millis)?);
    (duration <= LONGEST).then_some(duration)
}

/// Parses digits. The parser of the standard library would also take a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_with_a_unit_or_a_number_alone_where_that_has_a_meaning() {
        for (text, millis) in
            [("5ms", 5), ("90s", 90_000), ("2m", 120_000), ("1h", 3_600_000), ("365d", 31_536_000_000)]
        {
            let expected = Ok(Duration::from_millis(millis));
            assert_eq!(
                (with_unit(text).ok_or(InvalidDuration), parse_or_bare(text, Duration::from_secs)),
                (expected, expected)
            );
        }
        for text in ["", "s", "+5s", "-5s", "+5", "-5", "1.5s", "5 s", "5S", "366d", "99999999999999999999d", "soon"] {
            assert_eq!(
                (with_unit(text), parse_or_bare(text, Duration::from_secs)),
                (None, Err(InvalidDuration)),
                "{text}"
            );
        }
        assert_eq!(with_unit("90"), None);
        assert_eq!(parse_or_bare("90", Duration::from_secs), Ok(Duration::from_secs(90)));
        assert_eq!(parse_or_bare("90", Duration::from_millis), Ok(Duration::from_millis(90)));
    }
}
