use proptest::prelude::*;

use super::*;

fn seen(text: &str) -> Result<Vec<(String, u32)>, Odd> {
    let mut all = Vec::new();
    prefixes(7, text.as_bytes(), Depths::ALL, |prefix| {
        all.push((text.get(..prefix.len).unwrap().to_owned(), prefix.depth))
    })?;
    Ok(all)
}

#[test]
fn every_directory_above_a_path_is_shown_once_from_the_top() {
    let all = seen("/a/bcdefg/hijklmnopq/r").unwrap();
    let expected = [("/a", 1), ("/a/bcdefg", 2), ("/a/bcdefg/hijklmnopq", 3), ("/a/bcdefg/hijklmnopq/r", 4)];
    assert_eq!(all, expected.map(|(text, depth)| (text.to_owned(), depth)));
}

#[test]
fn what_is_not_folded_is_odd() {
    let odd = ["", "a", "/a/", "//", "//a", "/a//b", "/.", "/a/.", "/a/./b", "/..", "/a/..", "/a/../b", "/1234567//b"];
    for text in odd.into_iter().chain(["/a\u{1}", "/a\0b", "/1234567/../b", "/123456/..", "/12345/.", "/a\nb"]) {
        assert_eq!(seen(text), Err(Odd), "{text:?}");
    }
}

#[test]
fn hidden_files_and_dots_inside_names_are_not_odd() {
    for text in ["/.config/a", "/a/.b", "/a.b/c..d", "/1234567/.hidden", "/a/b."] {
        assert!(seen(text).is_ok(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn a_prefix_has_the_fingerprint_it_has_as_a_path_of_its_own(parts in prop::collection::vec("[a-z]{1,12}", 1..12)) {
        let path = parts.iter().fold(String::new(), |all, part| all + "/" + part);
        let mut all = Vec::new();
        prefixes(3, path.as_bytes(), Depths::ALL, |prefix| all.push(prefix)).unwrap();
        prop_assert_eq!(all.len(), parts.len());
        for prefix in all {
            prop_assert_eq!(fingerprint(3, &path.as_bytes()[..prefix.len]), Some(prefix));
        }
    }

    #[test]
    fn odd_is_said_exactly_when_folding_or_refusing_would_change_something(text in "[/.a\\t\u{1}é]{0,20}") {
        let folded = text.parse::<crate::model::SanitizedPath>().is_ok_and(|path| path.as_str() == text);
        let plain = folded && !text.contains(['\t', '\n']);
        let starts_with_two_dots = text.split('/').skip(1).any(|part| part.starts_with(".."));
        prop_assert_eq!(seen(&text).is_ok(), plain && !starts_with_two_dots);
    }
}
