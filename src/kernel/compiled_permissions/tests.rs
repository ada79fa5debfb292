use proptest::prelude::*;

use super::*;
use crate::model::{AgentId, Grant, GrantId, Hold, PinnedPermission};

fn grant(number: u64, permission: &str, scope: Scope, until: Option<u64>) -> Arc<CompactGrant> {
    compact(Grant {
        id: GrantId::new(number),
        to: "a".parse::<AgentId>().unwrap(),
        pinned: PinnedPermission::from(permission.parse::<Permission>().unwrap()),
        hold: Hold::Use,
        origin: Origin::Operator,
        reason: None,
        scope,
        run: None,
        since: Timestamp::from_millis(0),
        until: until.map(Timestamp::from_millis),
        depth: 0,
    })
}

fn compact(grant: Grant) -> Arc<CompactGrant> {
    Arc::new(CompactGrant::new(&grant, None))
}

fn ground(reads: Reads, protected: &[&str]) -> Arc<SharedLimits> {
    let protected: Vec<_> = protected.iter().map(|path| path.parse().unwrap()).collect();
    let protected = Protected::of(&crate::model::Floor::default(), &protected);
    Arc::new(SharedLimits::new(reads, &protected, 11))
}

fn at(millis: u64) -> impl Fn() -> Option<Timestamp> {
    move || Some(Timestamp::from_millis(millis))
}

#[test]
fn the_longest_lasting_of_several_grants_of_one_root_counts() {
    let held = [
        grant(1, "@write:/w", Scope::Always, Some(10)),
        grant(2, "@read:/w", Scope::Always, Some(30)),
        grant(3, "@write:/w", Scope::Once, None),
    ];
    let compiled = compile(&held, &ground(Reads::Granted, &[]));
    assert_eq!(check(&compiled, PermissionRef::write("/w/a"), at(9)), Check::Held);
    assert_eq!(check(&compiled, PermissionRef::write("/w/a"), at(10)), Check::HeldOnce);
    assert_eq!(check(&compiled, PermissionRef::read("/w/a"), at(29)), Check::Held);
    assert_eq!(check(&compiled, PermissionRef::read("/w/a"), || None), Check::NotHeld, "a clock that cannot tell");
}

#[test]
fn a_permission_without_an_end_does_not_ask_what_time_it_is() {
    let compiled = compile(&[grant(1, "@read:/w", Scope::Always, None)], &ground(Reads::Granted, &[]));
    assert_eq!(check(&compiled, PermissionRef::read("/w"), || panic!("asked")), Check::Held);
}

#[test]
fn the_root_of_the_file_system_covers_everything_but_what_is_protected() {
    let compiled = compile(&[grant(1, "@write:/", Scope::Always, None)], &ground(Reads::Granted, &["/etc/shadow"]));
    assert_eq!(check(&compiled, PermissionRef::write("/"), at(0)), Check::Held);
    assert_eq!(check(&compiled, PermissionRef::write("/srv/site"), at(0)), Check::Held);
    assert_eq!(check(&compiled, PermissionRef::read("/etc/shadow"), at(0)), Check::NotHeld);
    assert_eq!(check(&compiled, PermissionRef::read("/etc/shadows"), at(0)), Check::Held);
}

#[test]
fn a_file_reaches_a_protected_path_only_by_naming_exactly_it() {
    let from_file = |permission| {
        let place = crate::model::Place { file: "f".into(), line: 1 };
        compact(Grant { origin: Origin::Config(place), ..grant(1, permission, Scope::Always, None).to_grant() })
    };
    let ground = ground(Reads::Granted, &["/k"]);
    let exact = compile(&[from_file("@read:/k/a")], &ground);
    assert_eq!(check(&exact, PermissionRef::read("/k/a"), at(0)), Check::Held);
    assert_eq!(check(&exact, PermissionRef::write("/k/a"), at(0)), Check::NotHeld);
    assert_eq!(check(&exact, PermissionRef::read("/k/a/b"), at(0)), Check::NotHeld);
    let above = compile(&[from_file("@read:/")], &ground);
    assert_eq!(check(&above, PermissionRef::read("/k/a"), at(0)), Check::NotHeld);
}

#[test]
fn odd_and_hostile_texts_are_read_as_the_parser_reads_them() {
    let compiled = compile(&[grant(1, "@read:/w/..a", Scope::Always, None)], &ground(Reads::Granted, &[]));
    for held in ["/w/..a", "/w//..a/b", "/w/./..a/", "/w/..a/x\ny"] {
        assert_eq!(check(&compiled, PermissionRef::read(held), at(0)), Check::Held, "{held:?}");
    }
    for not in ["", "w/..a", "/w/..a/../../etc", "/w/..a\0", "/w/..a\u{1}", "/w/..ab", "/w"] {
        assert_eq!(check(&compiled, PermissionRef::read(not), at(0)), Check::NotHeld, "{not:?}");
    }
}

proptest! {
    #[test]
    fn extending_says_what_compiling_says(
        paths in prop::collection::btree_set("(/[ab]{1,2}){1,4}", 1..24),
        asked in "(/[ab]{1,2}){1,5}",
    ) {
        let ground = ground(Reads::Granted, &[]);
        let held: Vec<_> = paths.iter().zip(1..).map(|(path, number)| {
            let tag = if number % 2 == 0 { format!("@write:{path}") } else { format!("@read:{path}") };
            grant(number, &tag, Scope::Always, None)
        }).collect();
        let extended = held
            .iter()
            .fold(compile(&[], &ground), |compiled, grant| extend(&compiled, grant, &mut Vec::new()).unwrap());
        let compiled = compile(&held, &ground);
        for access in [Access::Read, Access::Write] {
            let expected = held
                .iter()
                .any(|grant| grant.pinned.permission.covers(&Permission::Path(access, asked.parse().unwrap())));
            for compiled in [&extended, &compiled] {
                prop_assert_eq!(check(compiled, PermissionRef::Path(access, &asked), at(0)).is_held(), expected);
            }
        }
    }

    #[test]
    fn revising_root_by_root_says_what_compiling_says(
        steps in prop::collection::vec(("(/[ab]{1,2}){1,3}", any::<bool>(), 0..4_u8), 1..80),
        asked in prop::collection::vec("(/[ab]{1,2}){1,4}", 8),
    ) {
        let ground = ground(Reads::Granted, &[]);
        let (mut held, mut revised, mut scratch) = (Vec::new(), compile(&[], &ground), Vec::new());
        for ((path, writes, kind), number) in steps.into_iter().zip(1..) {
            let tag = if writes { format!("@write:{path}") } else { format!("@read:{path}") };
            let permission: Permission = tag.parse().unwrap();
            let is_same = |grant: &Arc<CompactGrant>| grant.pinned.permission.path() == permission.path();
            let same = held.iter().position(is_same);
            match (kind, same) {
                (0 | 1, Some(place)) => drop(held.remove(place)),
                (2, _) => held.push(grant(number, &tag, Scope::Always, Some(5))),
                _ => held.push(grant(number, &tag, Scope::Always, None)),
            }
            revised = revise(&revised, &held, &permission, &mut scratch).unwrap_or_else(|| compile(&held, &ground));
            let compiled = compile(&held, &ground);
            let roots = held.iter().filter_map(|grant| grant.pinned.permission.path()).map(SanitizedPath::as_str);
            for asked in asked.iter().map(String::as_str).chain(roots) {
                for want in [PermissionRef::read(asked), PermissionRef::write(asked)] {
                    for moment in [0, 9] {
                        prop_assert_eq!(check(&revised, want, at(moment)), check(&compiled, want, at(moment)));
                    }
                }
            }
        }
    }

    #[test]
    fn no_text_makes_a_check_panic_or_say_yes_to_what_is_not_below_a_root(text in "\\PC{0,40}|[/.a\\x00-\\x20]{0,40}") {
        let compiled = compile(&[grant(1, "@write:/a", Scope::Always, None)], &ground(Reads::Granted, &[]));
        let parsed = text.parse::<SanitizedPath>();
        let expected = parsed.is_ok_and(|path| "/a".parse::<SanitizedPath>().unwrap().contains(&path));
        prop_assert_eq!(check(&compiled, PermissionRef::write(&text), at(0)).is_held(), expected);
    }
}

#[test]
fn a_block_is_not_extended_past_what_is_held_back_for_passing_on() {
    let only_to_pass_on =
        compact(Grant { hold: Hold::PassOn, ..grant(1, "@write:/w", Scope::Always, None).to_grant() });
    let back_from_another = compact(Grant {
        origin: Origin::Agent { from: "b".parse().unwrap() },
        hold: Hold::PassOn,
        ..grant(2, "@write:/w/a", Scope::Always, None).to_grant()
    });
    let ground = ground(Reads::Granted, &[]);
    let compiled = compile(&[Arc::clone(&only_to_pass_on)], &ground);
    assert!(extend(&compiled, &back_from_another, &mut Vec::new()).is_none());
    let compiled = compile(&[only_to_pass_on, back_from_another], &ground);
    assert_eq!(check(&compiled, PermissionRef::write("/w/a"), at(0)), Check::NotHeld);
}

#[test]
fn a_root_that_is_taken_away_leaves_no_text_behind_and_at_most_as_many_free_slots_as_taken_ones() {
    let ground = ground(Reads::Granted, &[]);
    let all: Vec<_> =
        (1..=40).map(|number| grant(number, &format!("@read:/w/{number}"), Scope::Always, None)).collect();
    let mut left = all.clone();
    let mut revised = compile(&all, &ground);
    while let Some(gone) = left.pop() {
        revised = revise(&revised, &left, &gone.pinned.permission, &mut Vec::new()).unwrap();
        let compiled = compile(&left, &ground);
        let texts = |block: &CompiledPermissions| block.slice.len() - index::table_len(block.header.header.shape);
        assert_eq!(texts(&revised), texts(&compiled));
        let (slots, needed) =
            (index::table_len(revised.header.header.shape), index::table_len(compiled.header.header.shape));
        assert!((needed..=2 * needed).contains(&slots), "{slots} instead of {needed}");
        assert!(!left.is_empty() || revised.header.header.shape == compiled.header.header.shape);
    }
}
