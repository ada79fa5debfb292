//! Predicates on the superuser.

use crate::{place::Place, word::Word};

/// Returns true if the words name a command to run, or ask for a shell, as the superuser.
pub(crate) fn superuser_command(words: &[Word], _: &Place) -> bool {
    let runs = words.iter().any(|word| !word.text().starts_with('-')) || words.iter().any(|word| word.text() == "-s");
    let asks = |word: &Word| matches!(word.text(), "-L" | "-C" | "--version" | "--help" | "-h" | "-V");
    runs && !words.first().is_some_and(asks) && user_of(words, &["-u", "--user"]).is_none_or(|user| is_root(&user))
}

/// Returns true if the user becomes root: `su`, `su - root -c ls`, `runuser -u root ls`. Without a name, root is the
/// default.
pub(crate) fn root_user(words: &[Word], _: &Place) -> bool {
    let asks = words.iter().any(|word| matches!(word.text(), "--help" | "--version" | "-V" | "-h"));
    let named = user_of(words, &["-u", "--user"]).or_else(|| {
        let mut words = words.iter();
        // Options with a value. The value is not a user name.
        const VALUED: &str = "cCsgGwP";
        while let Some(word) = words.next() {
            match word.text().strip_prefix('-') {
                Some("" | "-") => {}
                Some(option) if option.starts_with('-') => {
                    let takes = ["-command", "-session-command", "-shell", "-group", "-supp-group"].contains(&option);
                    takes.then(|| words.next());
                }
                Some(option) => drop(option.ends_with(|c| VALUED.contains(c)).then(|| words.next())),
                // An unknown word may expand to no word.
                None => return (!word.is_wild()).then(|| word.text().to_string()),
            }
        }
        None
    });
    !words.is_empty() && !asks && named.is_none_or(|user| is_root(&user))
}

/// Returns the user that an option names, whether the value is joined to the option or not.
fn user_of(words: &[Word], options: &[&str]) -> Option<String> {
    let mut words = words.iter().map(Word::text);
    let named = words.find_map(|word| {
        options.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            Some(rest.strip_prefix('=').unwrap_or(rest).to_owned())
        })
    })?;
    Some(if named.is_empty() { words.next().unwrap_or_default().to_owned() } else { named })
}

fn is_root(user: &str) -> bool {
    matches!(user, "root" | "0" | "#0")
}
