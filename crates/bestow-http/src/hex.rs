//! Hexadecimal digits.

/// Returns the bytes as hexadecimal digits, in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        digits.extend(
            [byte >> 4, byte & 0x0f].map(|digit| char::from(digit + if digit < 10 { b'0' } else { b'a' - 10 })),
        );
    }
    digits
}

/// Returns the bytes of `2 * N` hexadecimal digits in lower case.
pub(crate) fn bytes_of<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        *byte = value(high)? << 4 | value(low)?;
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, hex};

    #[test]
    fn every_byte_has_two_digits() {
        let all: Vec<u8> = (0..=255).collect();
        let expected: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex(&all), expected);
    }

    #[test]
    fn the_bytes_of_digits_are_those_that_they_were_made_of() {
        let bytes: [u8; 5] = [0x00, 0x0a, 0xf0, 0xff, 0x7e];
        assert_eq!(bytes_of(&hex(&bytes)), Some(bytes));
        for wrong in ["", "0", "000af0ff7", "000af0ff7e0", "000af0ff7E", "000af0ff7g", "000af0ff7\u{e4}"] {
            assert_eq!(bytes_of::<5>(wrong), None, "{wrong}");
        }
    }
}
