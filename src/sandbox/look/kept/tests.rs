use proptest::prelude::*;

use super::*;

/// Generates a tree in which each directory lies in an earlier one.
fn tree() -> impl Strategy<Value = Tree> {
    let kind = prop_oneof![Just(FileType::RegularFile), Just(FileType::Directory), Just(FileType::Symlink)];
    let name = || "[a-z\\.]{1,8}".prop_map(|name| OsString::from(format!("x{name}")));
    let known = proptest::option::of(any::<(u64, u64, (i64, i64))>());
    let found = (name(), kind, 1..8u8);
    let found = found.prop_map(|(name, kind, bits)| Found { name, kind, why: Why::from_bits(bits).unwrap() });
    let found = proptest::collection::vec(found, 0..3);
    let one = (known, any::<u16>(), any::<bool>(), found, name(), any::<proptest::sample::Index>());
    proptest::collection::vec(one, 1..40).prop_map(|all| {
        let mut nodes = vec![Node::default(), Node::default()];
        for (number, (known, count, is_repository, found, name, above)) in all.into_iter().enumerate() {
            let known = known.map(|(device, inode, changed)| Known { device, inode, changed });
            let entries = Entries { count: count.into(), is_repository, found, directories: Vec::new() };
            let place = if number == 0 { ROOT } else { nodes.len() };
            if place == ROOT {
                nodes[ROOT] = Node { known, entries };
                continue;
            }
            let choices: Vec<usize> = (0..place).filter(|at| *at != CROWD).collect();
            nodes[choices[above.index(choices.len())]].entries.directories.push(Below {
                name,
                at: place,
                is_kept: is_repository,
            });
            nodes.push(Node { known, entries });
        }
        Tree::of(nodes)
    })
}

/// Lists the directories by their paths of positions and names.
fn flat(tree: &Tree) -> Vec<String> {
    let (mut all, mut open) = (Vec::new(), vec![(String::new(), ROOT)]);
    while let Some((path, at)) = open.pop() {
        let Entries { count, is_repository, found, directories } = tree.entries(at);
        all.push(format!("{path}: {:?} {count} {is_repository} {found:?}", tree.known(at)));
        let below = directories.iter().enumerate();
        open.extend(below.map(|(number, below)| {
            (format!("{path}/{number}{}{}", below.is_kept, below.name.to_string_lossy()), below.at)
        }));
    }
    all
}

proptest! {
    #[test]
    fn what_is_written_is_read(tree in tree()) {
        let (bytes, count) = encoded(&tree);
        let read = decoded(&bytes).unwrap();
        prop_assert_eq!(flat(&read), flat(&tree));
        prop_assert_eq!(flat(&tree).len(), count);
    }

    #[test]
    fn what_is_not_whole_is_nothing(tree in tree(), cut in any::<proptest::sample::Index>()) {
        let (mut bytes, _) = encoded(&tree);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(decoded(&bytes).is_none());
    }

    #[test]
    fn whatever_lies_there_is_read_or_is_nothing(
        tree in tree(),
        changes in proptest::collection::vec(any::<(proptest::sample::Index, u8)>(), 0..8),
        bytes in any::<Vec<u8>>(),
    ) {
        if let Some(read) = decoded(&bytes) {
            prop_assert_eq!(decoded(&encoded(&read).0).map(|again| flat(&again)), Some(flat(&read)));
        }
        let (mut bytes, _) = encoded(&tree);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(read) = decoded(&bytes) {
            prop_assert_eq!(decoded(&encoded(&read).0).map(|again| flat(&again)), Some(flat(&read)));
        }
    }
}

#[test]
fn what_is_stored_is_loaded_for_the_same_root_and_names_and_for_no_other() {
    use crate::{
        kernel::ExecScope,
        model::{Permission, PermissionSet},
        sandbox::Profile,
    };
    let dir = tempfile::tempdir().unwrap();
    let root = |below: &str| -> SanitizedPath {
        std::fs::create_dir_all(dir.path().join(below)).unwrap();
        crate::fs::real(dir.path().join(below).to_str().unwrap()).unwrap().path().clone()
    };
    let (one, other) = (root("one"), root("other"));
    let profile = |names: &[&str]| {
        let write = Permission::write(one.clone());
        let mut caller = PermissionSet::empty(one.clone());
        caller.insert(write.clone());
        let names = names.iter().map(|name| name.parse().unwrap());
        Profile::guarding(&ExecScope::of(&caller, [&write]).unwrap(), [], names).unwrap()
    };
    let (plain, more) = (profile(&[]), profile(&["*.sops"]));
    let denying = plain.clone().denying([&"/**/*.secret".parse().unwrap()], []);
    let [plain, more, denying] = [&plain, &more, &denying].map(|profile| Names::of_written(profile).unwrap());
    let known = Some(Known { device: 1, inode: 2, changed: (3, 4) });
    let child = |number| Below { name: OsString::from(format!("d{number}")), at: number + 2, is_kept: false };
    let below = |count: usize| (0..count).map(child);
    let of = |count: usize| {
        let top = Node { known: None, entries: Entries { directories: below(count).collect(), ..Entries::default() } };
        let leaves = std::iter::repeat_n(Node { known, ..Node::default() }, count);
        Tree::of([top, Node::default()].into_iter().chain(leaves).collect())
    };
    store(&of(FEWEST - 2), &one, &plain).unwrap();
    assert_eq!(flat(&load(&one, &plain)), flat(&Tree::default()), "sooner read");
    store(&of(FEWEST), &one, &plain).unwrap();
    assert_eq!(flat(&load(&one, &plain)), flat(&of(FEWEST)));
    for (root, names) in [(&other, &plain), (&one, &more), (&one, &denying)] {
        assert_eq!(flat(&load(root, names)), flat(&Tree::default()));
    }
    let file = directory().unwrap().join(name(&header(&one, &plain)));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, bytes.get(..bytes.len() - 1).unwrap()).unwrap();
    assert_eq!(flat(&load(&one, &plain)), flat(&Tree::default()), "not whole");
    fs::remove_file(file).unwrap();
}
