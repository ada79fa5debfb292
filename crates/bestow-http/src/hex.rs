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

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn every_byte_has_two_digits() {
        let all: Vec<u8> = (0..=255).collect();
        let expected: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex(&all), expected);
    }
}
