//! Tests with random texts.

use std::collections::BTreeMap;

use bestow::grant::Hold;
use proptest::prelude::*;

use super::Place;

/// Generates pieces of the format, so that random texts get past the first line.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "[engine]\n",
        "[defaults]\n",
        "[agents.a]\n",
        "[agents.b]\n",
        "[agents.",
        "kind = \"cron\"\n",
        "owner = \"you\"\n",
        "working_dir = \"w\"\n",
        "permissions = [",
        "grant_only = ",
        "\"@read:~/x\", ",
        "\"@write:/\", ",
        "]\n",
        "\"",
        "'''",
        "reads = ",
        "max_depth = ",
        "-1\n",
        "0xff\n",
        "1e9\n",
        "\"5m\"\n",
        "true\n",
        "{ a = 1 }\n",
        "\\u0000",
        "..",
        "\n",
        " = ",
        "protected = [\"~\"]\n",
        "\u{feff}",
        "é",
        "\u{202e}",
        "1979-05-27\n",
        "[[agents]]\n",
        "a.b.c = 1\n",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

/// The permissions of one agent, by tag.
type Tags = Vec<(String, bool)>;

fn agents() -> impl Strategy<Value = BTreeMap<String, Tags>> {
    let tag = prop_oneof![
        Just("@network".to_owned()),
        Just("@events".to_owned()),
        "/nowhere/[a-z]{1,3}(/[a-z .~é]{1,3}[a-z])?".prop_map(|path| format!("@read:{path}")),
        "/nowhere/[a-z]{1,3}(/[a-z]{1,3})?".prop_map(|path| format!("@write:{path}")),
    ];
    prop::collection::btree_map(
        "[a-z0-9][a-zA-Z0-9._:@-]{0,8}",
        prop::collection::vec((tag, any::<bool>()), 0..6),
        1..6,
    )
}

fn written(agents: &BTreeMap<String, Tags>) -> String {
    let list = |tags: &Tags, passed_on: bool| {
        let tags = tags.iter().filter(|(_, only)| *only == passed_on).map(|(tag, _)| format!("{tag:?}"));
        tags.collect::<Vec<_>>().join(", ")
    };
    let agent = |(id, tags): (&String, &Tags)| {
        format!(
            "[agents.{id:?}]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"/work\"\n\
             permissions = [{}]\ngrant_only = [{}]\n",
            list(tags, false),
            list(tags, true),
        )
    };
    agents.iter().map(agent).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(100),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let place = Place::new();
        place.write("policy/agents.toml", &bytes);
        prop_assert!(place.load().is_err());
    }

    #[test]
    fn no_text_of_its_own_pieces_makes_it_panic(pieces in prop::collection::vec(piece(), 0..40)) {
        let place = Place::with(&pieces.concat());
        let lines = pieces.concat().split('\n').count();
        if let Err(error) = place.load() {
            prop_assert!(!error.problems().is_empty());
            prop_assert!(error.to_string().lines().count() <= error.problems().len() + 1, "{}", error);
            for position in error.problems().iter().filter_map(|problem| problem.position) {
                prop_assert!((1..=lines).contains(&(position.line as usize)), "{}", error);
            }
        }
    }

    #[test]
    fn what_is_written_is_what_is_held(agents in agents()) {
        let policy = Place::with(&written(&agents)).load().unwrap();
        prop_assert_eq!(policy.agents.len(), agents.len());
        for (id, tags) in &agents {
            let mut expected: Vec<_> = tags.clone();
            expected.sort();
            expected.dedup();
            let held = policy.agents[id.as_str()].permissions.iter();
            let mut held: Vec<_> =
                held.map(|base| (base.pinned.permission.to_string(), base.hold == Hold::PassOn)).collect();
            held.sort();
            prop_assert_eq!(held, expected);
        }
    }

    #[test]
    fn every_cut_of_a_valid_file_is_refused_or_gives_no_more_than_the_whole(agents in agents(), cut in 0.0..1.0_f64) {
        let text = written(&agents);
        let wanted = (text.len() as f64 * cut) as usize;
        let end = (0..=wanted).rev().find(|end| text.is_char_boundary(*end)).unwrap();
        let whole = Place::with(&text).load().unwrap();
        if let Ok(part) = Place::with(&text[..end]).load() {
            for (id, agent) in &part.agents {
                for base in &agent.permissions {
                    let mut permissions = whole.agents[id].permissions.iter();
                    prop_assert!(permissions.any(|other| (&other.pinned, other.hold) == (&base.pinned, base.hold)));
                }
            }
        }
    }
}
