//! Durations as people write them: a number and a unit.

use std::time::Duration;

/// The units, from the longest name, so that `ms` is not read as `s`.
const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The longest duration, a year. A longer one is a mistake, or should be `always`.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// Parses a duration such as `5m`. Returns none if the text is not a whole number with a unit, or the duration is
/// longer than a year.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let (digits, millis) = UNITS.iter().find_map(|(unit, millis)| Some((text.strip_suffix(unit)?, millis)))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let duration = Duration::from_millis(digits.parse::<u64>().ok()?.checked_mul(*millis)?);
    (duration <= LONGEST).then_some(duration)
}
