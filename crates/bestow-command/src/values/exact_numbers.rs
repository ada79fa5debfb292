//! Numbers of JSON that a 64-bit number does not hold.
//!
//! A reader that rounds a number reads two inputs as one. A person would then approve one of them, and the agent could
//! use the other.

use std::borrow::Cow;

/// Returns `json` with each number that 64 bits do not hold as a text of the same digits. Every other byte stays.
///
/// A number is kept if it is an integer from -2⁶³ to 2⁶⁴ - 1, or the shortest decimal notation of a 64-bit float.
pub fn with_exact_numbers(json: &[u8]) -> Cow<'_, [u8]> {
    let (mut shown, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = json.get(at) {
        let rest = json.get(at..).unwrap_or_default();
        let length = match byte {
            b'"' => length_of_string(rest),
            b'-' | b'0'..=b'9' => rest.iter().take_while(|byte| is_in_number(**byte)).count(),
            _ => 1,
        };
        let (start, end) = (at, at + length);
        at = end;
        let word = json.get(start..end).and_then(|word| str::from_utf8(word).ok()).filter(|_| *byte != b'"');
        if word.is_some_and(|word| length > 1 && is_rounded(word)) && !is_before_colon(json.get(end..)) {
            shown.extend_from_slice(json.get(from..start).unwrap_or_default());
            shown.push(b'"');
            shown.extend_from_slice(json.get(start..end).unwrap_or_default());
            shown.push(b'"');
            from = end;
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    shown.extend_from_slice(json.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Returns true for the rest of a text after a number at the place of a key. Such a text is no JSON.
fn is_before_colon(rest: Option<&[u8]>) -> bool {
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
}

fn is_in_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Returns the length of the string at the beginning of `json`, with its quotation marks.
fn length_of_string(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = json.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// Returns true for a number of JSON that a reader with 64 bits would change.
fn is_rounded(word: &str) -> bool {
    if word.parse::<i64>().is_ok() || word.parse::<u64>().is_ok() {
        return false;
    }
    let Some(parts) = Parts::of(word) else { return false };
    let kept = word.parse::<f64>().ok().map(|float| format!("{float:e}"));
    let kept = kept.as_deref().and_then(Parts::of).and_then(|parts| parts.value());
    kept.is_none() || parts.value() != kept
}

/// The parts of a number of JSON.
struct Parts<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
    exponent: &'t str,
}

impl Parts<'_> {
    /// Splits a number. Returns `None` for a text that is no number of JSON.
    fn of(word: &str) -> Option<Parts<'_>> {
        let (is_negative, rest) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
        let (rest, exponent) = match rest.split_once(['e', 'E']) {
            None => (rest, "0"),
            Some((rest, exponent)) => (rest, exponent.strip_prefix('+').unwrap_or(exponent)),
        };
        let (whole, fraction) = rest.split_once('.').map_or((rest, "0"), |(whole, fraction)| (whole, fraction));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = are_digits(whole)
            && (whole == "0" || !whole.starts_with('0'))
            && are_digits(fraction)
            && are_digits(exponent.strip_prefix('-').unwrap_or(exponent));
        is_number.then_some(Parts { is_negative, whole, fraction, exponent })
    }

    /// Returns the value: its digits without zeros at both ends, and the power of ten of the last one. Two numbers with
    /// equal values are equal. Returns `None` if the exponent is beyond every float.
    fn value(&self) -> Option<(bool, String, i64)> {
        let digits = [self.whole, self.fraction].concat();
        let digits = digits.trim_start_matches('0');
        let without_zeros = digits.trim_end_matches('0');
        if without_zeros.is_empty() {
            return Some((self.is_negative, String::new(), 0));
        }
        let zeros = i64::try_from(digits.len() - without_zeros.len()).ok()?;
        let exponent = self.exponent.parse::<i64>().ok()?.checked_add(zeros)?;
        let exponent = exponent.checked_sub(i64::try_from(self.fraction.len()).ok()?)?;
        Some((self.is_negative, without_zeros.to_owned(), exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::with_exact_numbers;
    use crate::StrictJson;

    fn shown(json: &str) -> String {
        String::from_utf8(with_exact_numbers(json.as_bytes()).into_owned()).unwrap()
    }

    fn read(json: &str) -> String {
        StrictJson::read(json.as_bytes()).unwrap().0.to_string()
    }

    #[test]
    fn a_number_that_would_be_rounded_keeps_its_digits() {
        for number in [
            "340282366920938463463374607431768211455",
            "18446744073709551616",
            "-9223372036854775809",
            "0.10000000000000000001",
            "9007199254740993.0",
            "1e400",
            "-1e-400",
            "1e99999999999999999999",
            "123456789012345678901234567890e-10",
        ] {
            let text = format!("{{\"a\":[{number},\"{number}\\\"\",1],\"{number}\":{number}}}");
            let expected = format!("{{\"a\":[\"{number}\",\"{number}\\\"\",1],\"{number}\":\"{number}\"}}");
            assert_eq!(shown(&text), expected);
            assert_eq!(shown(number), format!("\"{number}\""));
        }
    }

    #[test]
    fn a_number_that_is_held_stays_a_number() {
        for number in [
            "0",
            "-0",
            "7",
            "18446744073709551615",
            "-9223372036854775808",
            "1.5",
            "100.0",
            "1e2",
            "1E+2",
            "1e23",
            "100000000000000000000000",
            "0.30000000000000004",
            "5e-324",
            "1.7976931348623157e308",
            "0.0",
            "0e999",
        ] {
            assert_eq!(shown(number), number);
            assert!(serde_json::from_str::<serde_json::Value>(&shown(number)).unwrap().is_number(), "{number}");
        }
    }

    #[test]
    fn what_is_no_json_does_not_become_json() {
        for text in [
            "01234567890123456789012",
            "1.e400",
            "-",
            "--1e400",
            "1e",
            "+1e400",
            "1e400x",
            "\"1e400",
            "1-1e400",
            "{1e400 :1}",
        ] {
            assert!(StrictJson::read(text.as_bytes()).is_err(), "{text}: {}", shown(text));
        }
    }

    #[test]
    fn two_different_numbers_are_never_read_as_one() {
        // Each number differs from its neighbours in the last of many digits.
        let digits = "1234567890123456789012345678901234567890";
        let mut all = std::collections::BTreeMap::new();
        for length in 1..digits.len() {
            // A zero at the end of a fraction changes nothing.
            for last in 1..10 {
                for (before, after) in [("", ""), ("-", ""), ("0.", ""), ("-", "e-7"), ("", "e300")] {
                    let digits = digits.get(..length).unwrap();
                    let number = format!("{before}{digits}{last}{after}");
                    assert_eq!(all.insert(read(&number), number.clone()), None, "{number}");
                }
            }
        }
    }
}
