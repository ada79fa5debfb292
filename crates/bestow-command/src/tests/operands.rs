//! Tests of the words that are paths, and of those that are not.

use crate::{
    Tier,
    classifier::Classifier,
    classify, programs,
    span::Span,
    values::{Access, Below, Named},
    word::Word,
};

/// A path that no example names.
const SECRET: &str = "/outside/secret.txt";

/// Returns true if the line names the path, as one that a program reads or may read.
fn names(line: &str) -> bool {
    let judged = Classifier::default().judge(line);
    let named: Vec<_> = judged.named.iter().cloned().collect();
    judged.named.is_cut()
        || judged.named.reads_what_nobody_can_tell()
        || named.iter().any(|one| matches!(one, Named::Path { access: Access::Read, text, .. } if text == SECRET))
}

/// Returns true if the path is a text, a pattern, a name or a set to one of the programs, and no path.
fn is_no_path(names: &[&str], line: &str) -> bool {
    let mut words = line.split(' ').map(|word| Word::literal(word, Span::default()));
    let first = words.next();
    let Some(program) = first.filter(|word| !matches!(word.text(), "busybox" | "toybox")).or_else(|| words.next())
    else {
        return false;
    };
    let rest: Vec<Word> = words.collect();
    let known = programs::known(program.text());
    let at = rest.iter().position(|word| word.text() == SECRET);
    let is_label = at.is_some_and(|at| crate::needs::labels_of(known, &rest).contains(&at));
    known.only_says || is_label || names.iter().all(|name| programs::known(name).only_says)
}

/// Puts a path at each place of each example of a form that only reads, and behind it. The line may not be safe without
/// naming the path: then a permission to read it would not be asked for.
#[test]
fn no_safe_form_reads_a_path_that_it_does_not_name() {
    let (mut silent, mut safe) = (Vec::new(), 0);
    for program in programs::all() {
        for example in program.reads.iter().flat_map(|row| row.matches) {
            let words: Vec<&str> = example.split(' ').collect();
            let quoted = example.contains(['\'', '"', '$', '`', '|', ';', '&', '<', '>', '(', '\\', '\n']);
            if quoted || words.is_empty() {
                continue;
            }
            for at in 1..=words.len() {
                let (before, behind) = words.split_at(at);
                let inserted = [before, &[SECRET], behind].concat().join(" ");
                let replaced = [before, &[SECRET], behind.get(1..).unwrap_or_default()].concat().join(" ");
                for line in [inserted, replaced] {
                    if classify(&line).tier != Tier::Safe || is_no_path(program.names, &line) {
                        continue;
                    }
                    safe += 1;
                    if !names(&line) {
                        silent.push(line);
                    }
                }
            }
        }
    }
    silent.sort();
    silent.dedup();
    assert!(silent.is_empty(), "{} of {safe}: {silent:#?}", silent.len());
    assert!(safe > 2_000, "{safe}");
}

/// Returns the words of the line that may be read as paths.
fn read(line: &str) -> Vec<String> {
    let judged = Classifier::default().judge(line);
    let text = |one: &Named| match one {
        Named::Path { text, .. } => Some(text.to_string()),
        Named::Program { .. } | Named::Network { .. } => None,
    };
    judged.named.iter().filter_map(text).collect()
}

#[test]
fn attached_values_of_options_are_paths() {
    for line in [
        "grep -f/outside/secret.txt x",
        "grep -nf/outside/secret.txt x",
        "grep --file=/outside/secret.txt x",
        "xargs -a /outside/secret.txt echo",
        "xargs -a/outside/secret.txt echo",
        "curl -d @/outside/secret.txt http://x.y",
        "sort --files0-from=/outside/secret.txt",
        "wc --files0-from=/outside/secret.txt",
        "cat -n /outside/secret.txt",
        "date -r /outside/secret.txt",
        "python3 -I -m json.tool /outside/secret.txt",
        "iconv -f utf8 /outside/secret.txt",
        "head -c 5 /outside/secret.txt",
        "tail -20f /outside/secret.txt",
        "diff -u /outside/secret.txt x",
        "timeout 5 cat -n /outside/secret.txt",
        "nice -n 5 wc -l /outside/secret.txt",
        "env LC_ALL=C od -c /outside/secret.txt",
    ] {
        assert!(names(line), "{line}: {:?}", read(line));
    }
}

#[test]
fn a_list_of_names_is_read_with_every_file_in_it() {
    let is_unknown = |line: &str| Classifier::default().judge(line).named.reads_what_nobody_can_tell();
    for line in [
        "wc --files0-from=-",
        "printf '/etc/x' | wc --files0-from=-",
        "sort --files0-from=list",
        "wc --files0-from list",
        "git hash-object --stdin-paths",
        "echo HEAD:.env | git cat-file --batch",
        "git cat-file --batch='%(objectname)'",
        "file -f list",
    ] {
        assert!(is_unknown(line), "{line}");
    }
    for line in ["wc -l f", "git hash-object --stdin", "git cat-file -p HEAD:f", "file f", "git cat-file --batch-check"]
    {
        assert!(!is_unknown(line), "{line}");
    }
}

#[test]
fn a_word_with_a_role_is_no_path() {
    for line in [
        "npm run build",
        "cargo build",
        "make build",
        "git commit -m build",
        "git commit -am build",
        "yarn build",
        "docker compose build",
        "docker build -t build",
        "npm test",
        "kubectl get build",
        "go build",
        "cargo test build",
        "git commit --message=build",
        "pnpm run build",
        "gh pr create --title build",
        "git checkout -b build",
        "git branch build",
        "git stash push -m build",
        "grep -rn build",
        "find . -name build",
        "rg build",
        "jq build",
        "timeout 60 npm run build",
        "NODE_ENV=x npm run build",
        "grep -e build src",
        "tr build x",
        "pip install build",
    ] {
        assert!(!read(line).iter().any(|word| word == "build"), "{line}: {:?}", read(line));
    }
    for line in ["find . -name .env", "grep .env .gitignore", "rg -n .env src", "jq .env f.json", "git grep .env"] {
        assert!(!read(line).iter().any(|word| word == ".env"), "{line}: {:?}", read(line));
    }
}

#[test]
fn a_word_without_a_proven_role_may_be_a_path() {
    for line in [
        "git checkout build",
        "git diff build",
        "git log build",
        "cat build",
        "npm --unknown run build",
        "ls build",
        "cargo run --manifest-path build",
        "make -f build",
        "git add build",
        "grep x build",
        "grep -e x build",
        "rg --files build",
        "docker build build",
        "git commit build",
        "unknown build",
        "npm run x -- build",
        "jq -f build",
        "git -C build status",
        "git commit -F build",
        "find build",
        "tar xf build",
    ] {
        assert!(read(line).iter().any(|word| word == "build"), "{line}: {:?}", read(line));
    }
    for line in
        ["cat .env", "grep -f .env x", "find .env", "grep x .env", "git commit -F .env", "rg -f .env", "npm run x/.env"]
    {
        assert!(read(line).iter().any(|word| word.ends_with(".env")), "{line}: {:?}", read(line));
    }
}

/// Returns true if the line names the directory in which it starts.
fn names_here(line: &str) -> bool {
    let judged = Classifier::default().judge(line);
    assert_eq!(judged.classification.tier, Tier::Safe, "{line}");
    judged.named.iter().any(|one| matches!(one, Named::Path { access: Access::Read, text, .. } if text == "."))
}

#[test]
fn a_program_that_reads_its_directory_without_a_word_names_it() {
    for line in [
        "ls",
        "ls -la",
        "ls -R",
        "tree",
        "tree -L 2",
        "du -sh",
        "eza -l",
        "fd x",
        "find",
        "rg x",
        "grep -r x",
        "git log --stat",
        "git status",
        "git show --stat",
        "git branch -v",
        "git blame f",
        "terraform show",
        "terraform validate",
        "ruff check",
        "cargo tree",
        "cargo metadata --no-deps",
        "go list ./...",
        "npm ls",
        "docker compose ps",
        "tokei",
        "mise ls",
        "svn status",
        "hg status",
        "busybox ls",
        "just --list",
        "timeout 5 ls",
        "cd src && ls .. ; ls",
        "actionlint",
        "uv pip list",
        "bundle version",
        "gh pr list",
    ] {
        assert!(names_here(line), "{line}: {:?}", read(line));
    }
    for line in [
        "ls /x",
        "tree /x",
        "du -sh /x",
        "cat x",
        "wc -l",
        "echo x",
        "docker ps",
        "ps aux",
        "df -h",
        "date",
        "git --version",
        "cargo --help",
        "grep x",
        "sort",
        "kubectl get pods",
        "ls -la /x /y",
        "uname -a",
        "npm --version",
    ] {
        assert!(!names_here(line), "{line}: {:?}", read(line));
    }
}

/// Programs of projects, packages and repositories work in their directory. A new record says whether it reads it.
#[test]
fn every_program_of_a_project_says_whether_it_reads_its_directory() {
    /// They read what is installed, or their operands.
    const ELSEWHERE: &[&str] = &[
        "apk",
        "apt",
        "apt-cache",
        "apt-config",
        "apt-file",
        "apt-get",
        "apt-mark",
        "brew",
        "cabal",
        "clang-format",
        "conda",
        "dnf",
        "dpkg",
        "dpkg-deb",
        "dpkg-query",
        "flatpak",
        "gem",
        "gradle",
        "hub",
        "incus",
        "lxc",
        "mamba",
        "microdnf",
        "micromamba",
        "multipass",
        "nix",
        "nix-env",
        "opam",
        "pacman",
        "pandoc",
        "paru",
        "pecl",
        "php",
        "pip",
        "pip3",
        "pipdeptree",
        "pipx",
        "pkg-config",
        "pkgconf",
        "port",
        "python",
        "python2",
        "python3",
        "rpm",
        "snap",
        "yay",
        "yum",
        "zypper",
    ];
    let works_in_projects =
        |place: &str| ["packages.toml", "projects.toml", "repositories.toml"].iter().any(|file| place.contains(file));
    let silent: Vec<_> = programs::all()
        .filter(|program| works_in_projects(program.place) && !program.reads.is_empty())
        .filter(|program| program.here.is_none() && program.reads.iter().all(|form| form.here.is_none()))
        .flat_map(|program| program.names)
        .collect();
    let unknown: Vec<_> = silent.iter().filter(|name| !ELSEWHERE.contains(name)).collect();
    assert!(unknown.is_empty(), "say `here` in the records of {unknown:?}");
}

/// Returns the paths that a line may read or write, with a mark at those of which it only reads the name.
fn paths(line: &str, wanted: Access) -> Vec<String> {
    let judged = Classifier::default().judge(line);
    let path = |named: &Named| match named {
        Named::Path { access, text, below, .. } if *access == wanted => {
            Some(if *below == Below::Names { format!("{text} by name") } else { text.to_string() })
        }
        Named::Path { .. } | Named::Program { .. } | Named::Network { .. } => None,
    };
    judged.named.iter().filter_map(path).collect()
}

#[test]
fn every_part_of_a_word_with_several_values_may_be_a_path() {
    for line in [
        "kubectl create cm x --from-file=k=/outside/secret.txt --dry-run=client -o yaml",
        "kubectl create cm x --from-file k=/outside/secret.txt --dry-run=client",
        "kubectl create cm x --from-file=a=src/main.rs,b=/outside/secret.txt --dry-run=client",
        "kubectl create secret generic x --from-env-file=/outside/secret.txt --dry-run=client -o yaml",
        "kubectl apply --dry-run=client -f src,/outside/secret.txt",
        "foo a,b,/outside/secret.txt",
        "foo --mount=type=bind,src=/outside/secret.txt,dst=/x",
        "foo --data=name=x,file@/outside/secret.txt",
        "foo -Fa=@/outside/secret.txt",
        "foo user=me,key@/outside/secret.txt,b",
    ] {
        assert!(names(line), "{line}");
    }
}

#[test]
fn a_word_with_very_many_parts_may_be_any_path() {
    let line = format!("foo {}", "a,".repeat(5000));
    let judged = Classifier::default().judge(&line);
    let is_all = |named: &Named| matches!(named, Named::Path { text, below: Below::Everything, .. } if text == "/");
    assert!(judged.named.iter().any(is_all) && judged.named.iter().count() < 300);
}

#[test]
fn a_directory_of_manifests_is_read_with_everything_below_it() {
    for line in [
        "kubectl create cm x --from-file=. --dry-run=client -o yaml",
        "kubectl create cm x --from-file=k=. --dry-run=client",
        "kubectl apply --dry-run=client -R -f .",
        "kubectl apply --dry-run=client -Rf .",
        "oc apply --dry-run=client --filename=a,.",
    ] {
        let judged = Classifier::default().judge(line);
        let is_tree =
            |named: &Named| matches!(named, Named::Path { text, below: Below::Everything, .. } if text == ".");
        assert!(judged.named.iter().any(is_tree), "{line}");
    }
}

#[test]
fn an_order_to_the_index_writes_no_file_and_reads_only_names() {
    for line in
        ["git check-ignore .env", "git check-ignore -v .env", "git rm --cached .env", "git rm -rq --cached .env"]
            .into_iter()
            .chain(["git restore --staged .env", "git restore -S .env", "git reset .env", "git reset -q HEAD .env"])
    {
        assert!(!paths(line, Access::Read).contains(&".env".to_owned()), "{line}");
        assert!(paths(line, Access::Read).contains(&".env by name".to_owned()), "{line}");
        assert!(paths(line, Access::Write).is_empty(), "{line}: {:?}", paths(line, Access::Write));
    }
    assert!(paths("git add agents.toml", Access::Write).is_empty());
    assert!(paths("git add agents.toml", Access::Read).contains(&"agents.toml".to_owned()));
    for line in [
        "git restore .env",
        "git restore --staged --worktree .env",
        "git restore -SW .env",
        "git restore --staged --work .env",
        "git rm .env",
        "git rm --cached --x .env",
        "git rm -- --cached .env",
        "git reset --hard .env",
        "git checkout .env",
        "git -c core.hooksPath=.env add x",
    ] {
        assert!(paths(line, Access::Write).iter().any(|path| path.contains(".env")), "{line}");
    }
}

#[test]
fn temporary_files_are_written_where_a_variable_says() {
    assert!(paths("TMPDIR=secrets mktemp", Access::Write).contains(&"secrets/tmp".to_owned()));
    assert!(paths("export TMPDIR=/secrets; sort f", Access::Write).contains(&"/secrets/tmp".to_owned()));
    let output = "docker build --output=type=local,dest=secrets .";
    assert!(paths(output, Access::Write).contains(&"secrets".to_owned()));
}
