//! Base64: arbitrary bytes as text (RFC 4648, section 4).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn letter(value: u32) -> char {
    let place = usize::try_from(value & 63).unwrap_or(0);
    char::from(LETTERS.get(place).copied().unwrap_or(b'='))
}

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, place| word << 8 | u32::from(chunk.get(place).copied().unwrap_or(0)));
        for place in 0..4 {
            text.push(if place > chunk.len() { '=' } else { letter(word >> (18 - 6 * place)) });
        }
    }
    text
}

/// Decodes `text`; `None` if it is not valid Base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - letters.len() > 2 {
        return None;
    }
    let (mut bytes, mut word, mut bits) = (Vec::with_capacity(letters.len() * 3 / 4), 0_u32, 0);
    for letter in letters.bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        (word, bits) = (word << 6 | u32::try_from(value).ok()?, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(word >> bits & 255).ok()?);
        }
        word &= (1 << bits) - 1;
    }
    (word == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_and_what_stands_for_nothing() {
        let rows = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in rows {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        for wrong in ["Z", "Zg", "Zg=", "Zh==", "====", "Z===", "Zm9v Zg==", "Zm-v"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
