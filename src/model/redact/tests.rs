use super::redacted;

#[test]
fn what_has_the_form_of_a_secret_is_taken_out_and_its_hash_kept() {
    for (text, secret) in [
        ("push with ghp_0123456789abcdefghij please", "ghp_0123456789abcdefghij"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("curl -H 'Authorization: Bearer abcdef0123456789abcdef'", "abcdef0123456789abcdef"),
        ("PASSWORD=hunter22 ./run", "hunter22"),
        ("--password=hunter22", "hunter22"),
        ("--token 0123456789abcdef0123", "0123456789abcdef0123"),
        ("https://me:hunter2@example.org/x", "//me:hunter2@example.org/x"),
        ("\"sk-abcdefghijklmnopqrstuvwx\"", "sk-abcdefghijklmnopqrstuvwx"),
    ] {
        let told = redacted(text);
        assert!(!told.contains(secret) && told.contains("[secret, sha256 "), "{told}");
        let (before, after) = text.split_once(secret).unwrap();
        assert!(told.starts_with(before) && told.ends_with(after), "{told}");
        assert_eq!(told, redacted(text), "the same secret is told as the same");
        assert_eq!(redacted(&told), told, "once is enough");
    }
}

#[test]
fn other_words_stay_as_they_are() {
    for text in [
        "",
        "because it must",
        "to read the token count of the model",
        "sk-1 is a lake",
        "write /ws/token/list and secret: /etc/x",
        "https://example.org/a?b=c",
        "naïve ünïcode, tøken",
        "password reset page",
    ] {
        assert_eq!(&*redacted(text), text);
    }
}
