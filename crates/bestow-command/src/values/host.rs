//! The canonical form of a host name, for all of its spellings.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::borrow::Cow;

/// Returns the name or address of a host as a program understands `text`. The result has lower-case letters, no percent
/// encoding and no final dot. An address has its usual form. Returns none if the text is no host name.
pub fn canonical_host(text: &str) -> Option<String> {
    let decoded = percent_decoded(text);
    let host: String = decoded.chars().map(plain).collect::<String>().to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    let is_name = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c));
    if !is_name {
        return None;
    }
    if let Some(address) = ipv4(host) {
        return Some(address.to_string());
    }
    Some(match host.parse::<Ipv6Addr>() {
        Ok(address) => address.to_ipv4_mapped().map_or_else(|| address.to_string(), |mapped| mapped.to_string()),
        Err(_) => host.to_owned(),
    })
}

/// Decodes `%61` and similar sequences. Returns the text unchanged if the result is not valid UTF-8.
pub fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.split_at_checked(2).filter(|_| *byte == b'%');
        let code = digits.and_then(|(digits, behind)| Some((hex(digits)?, behind)));
        let (byte, behind) = code.unwrap_or((*byte, behind));
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16)).collect::<Option<Vec<_>>>()?;
    u8::try_from(digits.iter().fold(0, |code, digit| code * 16 + digit)).ok()
}

/// Returns the ASCII character that a resolver reads in place of a wide one.
fn plain(c: char) -> char {
    match c {
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

/// Parses an address of four parts or fewer, each in decimal, octal or hexadecimal digits. The last part fills the
/// remaining bytes.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts = host.split('.').map(number).collect::<Option<Vec<u32>>>()?;
    let (last, first) = parts.split_last().filter(|(_, first)| first.len() < 4)?;
    let left = 4 - u32::try_from(first.len()).ok()?;
    let fits = left == 4 || *last < 1_u32.checked_shl(8 * left)?;
    let above = first.iter().try_fold(0_u32, |above, part| Some(above << 8 | u32::from(u8::try_from(*part).ok()?)))?;
    let above = if left == 4 { 0 } else { above << (8 * left) };
    fits.then(|| Ipv4Addr::from(above | *last))
}

fn number(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return if digits.is_empty() { Some(0) } else { u32::from_str_radix(digits, 16).ok() };
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let radix = if text.len() > 1 && text.starts_with('0') { 8 } else { 10 };
    u32::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_a_host_is_one_name() {
        for (text, host) in [
            ("EVIL.com.", "evil.com"),
            ("%65vil%2ecom", "evil.com"),
            ("\u{ff45}vil\u{3002}com", "evil.com"),
            ("0x7f.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("127.000.000.001", "127.0.0.1"),
            ("::ffff:7f00:1", "127.0.0.1"),
            ("0:0:0:0:0:0:0:1", "::1"),
            ("08.1", "08.1"),
            ("256.1.1.1", "256.1.1.1"),
            ("1.2.3.4.5", "1.2.3.4.5"),
            ("x1.2", "x1.2"),
        ] {
            assert_eq!(canonical_host(text).as_deref(), Some(host), "{text}");
        }
        for text in ["", ".", "a b", "a%00b", "\u{e9}vil.com", "a/b"] {
            assert_eq!(canonical_host(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_address_is_the_same_in_all_its_forms(address: u32) {
            let [a, b, c, d] = address.to_be_bytes();
            let whole = Ipv4Addr::from(address).to_string();
            for form in [
                format!("{address}"),
                format!("0x{address:x}"),
                format!("0{address:o}"),
                format!("{a}.{}", u32::from_be_bytes([0, b, c, d])),
                format!("0x{a:X}.0{b:o}.{}", u32::from_be_bytes([0, 0, c, d])),
                format!("::ffff:{a}.{b}.{c}.{d}"),
            ] {
                prop_assert_eq!(canonical_host(&form), Some(whole.clone()), "{}", form);
            }
        }

        #[test]
        fn what_is_canonical_stays_as_it_is(text in "[a-z0-9.:%-]{0,20}") {
            if let Some(host) = canonical_host(&text) {
                prop_assert_eq!(canonical_host(&host), Some(host.clone()));
            }
        }
    }
}
